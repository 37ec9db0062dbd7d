"""Bad input to ``observe``: a ``ValueError`` that names the argument, and a learner unchanged bit for bit."""

from __future__ import annotations

from typing import get_type_hints

import numpy as np
import pytest
import torch
from scipy import sparse

from helpers import SMALL, assert_same_state, small_batches, small_spec
from smartcl.data.batch import Batch
from smartcl.learners.learner import Learner
from smartcl.learners.method_settings import Scepticism
from smartcl.learners.methods import METHODS, build_learner
from smartcl.learners.recipe import Recipe
from smartcl.regularizers.group_lasso import GroupLasso
from smartcl.regularizers.ncc import NCC
from smartcl.selection.reservoir import Reservoir
from smartcl.settings import Flag, LevelCount, Name, Real, Whole, Widths, Word, setting

Y = torch.tensor([0, 1])


def with_value(value: float) -> torch.Tensor:
    x = torch.zeros(2, 20)
    x[1, 3] = value
    return x


BAD = {
    "nan": (with_value(float("nan")), Y, "x must be finite"),
    "infinity": (with_value(float("inf")), Y, "x must be finite"),
    "beyond float32": (with_value(1.0).double() * 1e300, Y, "x must fit single precision"),
    "sparse nan": (sparse.csr_array(with_value(float("nan")).numpy()), Y, "x must be finite"),
    "too wide": (torch.zeros(2, 21), Y, "x must have 20 features"),
    "too narrow": (torch.zeros(2, 3), Y, "x must have 20 features"),
    "one-dimensional": (torch.zeros(2), Y, "x must have 20 features"),
    "empty": (torch.zeros(0, 20), torch.zeros(0, dtype=torch.long), "x must hold at least one row"),
    "label too large": (torch.zeros(2, 20), torch.tensor([0, 2]), "y must lie in 0..1"),
    "label negative": (torch.zeros(2, 20), torch.tensor([0, -1]), "y must lie in 0..1"),
    "labels of floats": (torch.zeros(2, 20), torch.tensor([0.0, 1.0]), "y must hold integer"),
    "complex": (torch.zeros(2, 20, dtype=torch.complex64), Y, "x must hold real numbers"),
    "bool": (torch.zeros(2, 20, dtype=torch.bool), Y, "x must hold real numbers"),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("method", ["smart", "er"])
def test_bad_batches_are_refused_and_change_nothing(case, method):
    x, y, message = BAD[case]
    learner = build_learner(method, small_spec(), 900, **SMALL)
    learner.observe(small_batches()[0])
    before = learner.state_dict()
    with pytest.raises(ValueError, match=message):
        learner.observe(Batch(x, y))
    assert_same_state(learner.state_dict(), before)


def test_repeated_entries_of_a_sparse_row_are_summed_and_the_callers_array_is_left_alone():
    parts = (np.ones(4, np.float32), np.array([3, 3, 5, 1]), np.array([0, 2, 4]))
    messy = sparse.csr_array(parts, shape=(2, 20))
    learners = [build_learner("gss-greedy", small_spec(sparse_rows=True), 900, **SMALL) for _ in range(2)]
    for _ in range(3):
        learners[0].observe(Batch(messy, Y))
        learners[1].observe(Batch(sparse.csr_array(messy.toarray()), Y))
    assert_same_state(learners[0].state_dict(), learners[1].state_dict())
    assert messy.nnz == 4


def test_labels_and_ids_must_be_one_per_row():
    with pytest.raises(ValueError, match="y must be one label per row"):
        Batch(torch.zeros(2, 3), torch.tensor([0]))
    with pytest.raises(ValueError, match="ids must be one per row"):
        Batch(torch.zeros(2, 3), Y, ids=np.arange(3))


@pytest.mark.parametrize("memory", [-1, 0, "-5MB", "many", "0 samples", 2.5, True, None])
def test_impossible_budgets_are_refused(memory):
    with pytest.raises(ValueError, match="memory must be"):
        build_learner("smart", small_spec(), memory)


@pytest.mark.parametrize("method", ["smart", "er"])
def test_a_budget_smaller_than_one_sample_is_refused_at_the_first_batch(method):
    learner = build_learner(method, small_spec(), 8, **SMALL)
    with pytest.raises(ValueError, match="memory must hold at least one sample: it is 8 bytes"):
        learner.observe(small_batches()[0])


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("iterations", 0, "iterations must be a whole number from 1 to 1000000, got 0"),
        ("replay", -1, "replay must be a whole number from 0"),
        ("lr", 0.0, r"lr must be a number in \(0, 10\], got 0.0"),
        ("lr", 1e30, "lr must be a number in"),
        ("lr", "1e400", "lr must be a number in .*, got '1e400'"),
        ("lr", True, "lr must be a number in"),
        ("average", 1.0, r"average must be a number in \[0, 1\)"),
        ("smoothing", -0.1, "smoothing must be a number in"),
        ("distill", float("inf"), "distill must be a number in"),
        ("alpha", -1.0, r"alpha must be a number in \[0, 1e\+06\], got -1.0"),
        ("beta", 1e300, "beta must be a number in"),
        ("beta", float("nan"), "beta must be a number in .*, got nan"),
        ("patience", -5, "patience must be a whole number from 1 to 255, got -5"),
        ("patience", 256, "patience must be a whole number from 1 to 255"),
        ("hidden", (), "hidden must be whole numbers such as 400,400"),
        ("hidden", "400,x", "hidden must be whole numbers"),
        ("hidden", (400, 0), "hidden must be whole numbers"),
        ("hidden", (1,) * 101, "hidden must be whole numbers such as 400,400: up to 100"),
        ("hidden", (10**9, 10**9), r"hidden must fit the machine's .*: 20 features and layers of .* need about .* GB"),
        ("iterations", "2.5", "iterations must be a whole number"),
        ("trust", 1, "trust must be True or False, got 1"),
        ("trust", "yes", "trust must be True or False, got 'yes'"),
        ("form", 3, "form must be a name, got 3"),
        ("itertions", 3, "did you mean iterations"),
    ],
)
def test_parameters_are_checked_by_name(name, value, message):
    with pytest.raises(ValueError, match=message):
        build_learner("smart", small_spec(), 900, **{name: value})


def test_long_values_are_shown_short():
    for value, end in ((10**5000, "got a number of 16610 bits"), ("(" * 100_000, "...(((((((((((((((((((((((((((('")):
        with pytest.raises(ValueError, match="lr must be a number in") as refused:
            build_learner("smart", small_spec(), 900, lr=value)
        assert str(refused.value).endswith(end)
        assert len(str(refused.value)) < 100


KINDS = {
    float: Real,
    int: Whole,
    bool: Flag,
    str: Name,
    str | int: LevelCount,
    str | None: Word,
    tuple[int, ...]: Widths,
}


#: Types of a user's own code, which settings name for type checkers alone: they load torch.
CODE = dict.fromkeys(("ModuleSource", "MakeOptimizer", "Augment"), object)


@pytest.mark.parametrize("method", METHODS)
def test_every_setting_of_every_method_has_a_range_that_holds_its_default(method):
    """No setting goes unchecked: NaN, infinity and texts are refused for each that is a number."""
    kinds = type(METHODS[method].settings).kinds()
    for name, default in METHODS[method].parameters.items():
        hint, kind = get_type_hints(type(METHODS[method].settings), localns=CODE)[name], kinds[name]
        assert setting(name, default, kind) == default
        assert name == "members" or isinstance(kind, KINDS[hint])
        if not isinstance(kind, Name):
            nothing = [] if isinstance(kind, Word) else [None]
            texts = [] if name == "members" else ["nan", "", "1; 2"]  # which names there are, the ensemble says
            for wrong in (float("nan"), float("inf"), -1, -0.5, 1e30, 10**400, [[1]], *texts, *nothing):
                with pytest.raises(ValueError, match=f"{name} must be"):
                    METHODS[method].coerce({name: wrong})


def test_numpy_scalars_are_taken_as_pythons():
    given = {"hidden": (np.int64(8),), "lr": np.float32(0.5), "iterations": np.uint8(2), "trust": np.bool_(False)}
    taken = METHODS["smart"].coerce(given)
    assert taken == {"hidden": (8,), "lr": 0.5, "iterations": 2, "trust": False}
    assert [type(value) for value in taken.values()] == [tuple, float, int, bool]
    recipe = Recipe(**{name: value for name, value in given.items() if name != "trust"})
    assert (recipe.hidden, recipe.lr, recipe.iterations) == ((8,), 0.5, 2)


PARTS = {
    "recipe": (lambda: Recipe(lr=float("nan")), "lr must be a number in"),
    "scepticism": (lambda: Scepticism(distill=1e400), "distill must be a number in"),
    "penalty": (lambda: NCC(1e300), "strength must be a number in"),
    "threshold": (lambda: GroupLasso(0.1, threshold=float("nan")), "threshold must be a number in"),
    "patience": (
        lambda: Learner(small_spec(), 900, Recipe((8,)), Reservoir(), patience=-5),
        "patience must be a whole number from 1 to 255, got -5",
    ),
    "network": (lambda: Learner(small_spec(), 900, Recipe((10**9, 10**9)), Reservoir()), "hidden must fit"),
}


@pytest.mark.parametrize("part", PARTS)
def test_parts_of_a_learner_refuse_what_the_command_line_refuses(part):
    make, message = PARTS[part]
    with pytest.raises(ValueError, match=message):
        make()


def test_gdumb_needs_samples_in_a_step():
    with pytest.raises(ValueError, match="replay must be at least 1"):
        build_learner("gdumb", small_spec(), 900, replay=0)
