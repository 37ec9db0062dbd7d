"""What every selector, regulariser and method promises, checked on all there are: a new one is covered at once."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from types import ModuleType

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import smartcl.regularizers
import smartcl.selection
from contract import assert_keeps_the_contract
from helpers import small_batches, small_spec
from smartcl.data.batch import Batch
from smartcl.data.spec import InputSpec
from smartcl.learners.learner import Learner
from smartcl.learners.methods import METHODS, build_learner
from smartcl.learners.recipe import Recipe
from smartcl.memory.pool import Pool, Selector
from smartcl.network.gradients import Trace, trace
from smartcl.network.mlp import MLP
from smartcl.regularizers.regularizer import QuadraticPenalty, Regularizer
from smartcl.selection.k_centers import KCenters
from smartcl.selection.reservoir import Everything, Reservoir


def classes_in(package: ModuleType) -> Iterator[type]:
    """The classes defined in the modules of a package."""
    for found in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        module = importlib.import_module(found.name)
        yield from (c for c in vars(module).values() if isinstance(c, type) and c.__module__ == module.__name__)


SELECTORS = [c for c in classes_in(smartcl.selection) if hasattr(c, "select") and c not in (Selector, KCenters)]
PENALTIES = [
    c
    for c in classes_in(smartcl.regularizers)
    if issubclass(c, Regularizer) and c not in (Regularizer, QuadraticPenalty)
]
UNBOUNDED = ("joint", "joint-smart")
BOUNDED = [name for name in METHODS if name not in UNBOUNDED]
QUICK = {"hidden": (12,), "lr": 1e-2, "iterations": 3, "epochs": 3, "replay": 10, "features": 30}


def quick(method: str, spec: InputSpec, memory: str | int, seed: int = 0, **more: object) -> Learner:
    """A method with settings small enough for a test, as far as it has them."""
    known = METHODS[method].parameters
    settings = {name: value for name, value in {**QUICK, **more}.items() if name in known}
    if not known.get("replay", 1):
        del settings["replay"]
    return build_learner(method, spec, memory, seed, **settings)


def test_there_is_something_to_check() -> None:
    assert len(SELECTORS) >= 9
    assert len(PENALTIES) >= 7
    assert len(METHODS) >= 21


# --- methods -----------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("first_layer", ["dense", "sparse", "table"])
def test_budget_determinism_reload_and_interrupt(
    method: str, first_layer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if first_layer == "table":
        monkeypatch.setattr("smartcl.network.mlp.ROW_TABLE_WEIGHTS", 0)
    assert_keeps_the_contract(lambda spec, memory, seed: quick(method, spec, memory, seed), first_layer != "dense")


@pytest.mark.parametrize("method", BOUNDED)
@given(memory=st.integers(150, 3000), rows=st.integers(1, 25), count=st.integers(1, 4))
@settings(max_examples=8)
def test_the_budget_holds_whatever_it_is(method: str, memory: int, rows: int, count: int) -> None:
    learner = quick(method, small_spec(), memory)
    for batch in small_batches(count, rows):
        learner.observe(batch)
        assert learner.memory.store.nbytes <= memory
    learner.end_task(small_batches(1, rows)[0])
    assert learner.memory.store.nbytes <= memory


@pytest.mark.parametrize("method", METHODS)
def test_sparse_and_dense_input_give_the_same_result(method: str) -> None:
    results = []
    for sparse_rows in (False, True):
        learner = quick(method, small_spec(sparse_rows), "40 samples", whole=True, dropout=0.0)
        for number, batch in enumerate(small_batches(sparse_rows=sparse_rows)):
            learner.observe(batch)
            if number == 2:
                learner.end_task(batch)
        results.append(learner.predict_proba(small_batches(seed=5)[0].x))
    torch.testing.assert_close(*results, atol=1e-5, rtol=0)


@pytest.mark.parametrize("method", METHODS)
def test_one_class_batches(method: str) -> None:
    learner = quick(method, small_spec(), 900)
    for number, batch in enumerate(small_batches(4)):
        learner.observe(Batch(batch.x, torch.full((len(batch),), number % 2), batch.task))
    assert_probabilities(learner)


@pytest.mark.parametrize("method", METHODS)
def test_a_batch_larger_than_the_memory(method: str) -> None:
    learner = quick(method, small_spec(), 400)
    for batch in small_batches(3, 60):
        learner.observe(batch)
    assert_probabilities(learner)


@pytest.mark.parametrize("method", METHODS)
def test_a_memory_of_one_sample(method: str) -> None:
    learner = quick(method, small_spec(), 135)
    for batch in small_batches(4):
        learner.observe(batch)
    assert_probabilities(learner)
    assert method in UNBOUNDED or len(learner.memory) <= 4


@pytest.mark.parametrize("method", METHODS)
def test_duplicated_samples(method: str) -> None:
    learner, batch = quick(method, small_spec(), 900), small_batches(1)[0]
    same = batch.take(np.zeros(10, dtype=np.int64))
    for task in (0, 0, 1, 1):
        learner.observe(Batch(same.x, same.y, task))
    assert_probabilities(learner)


@pytest.mark.parametrize("method", METHODS)
def test_constant_features(method: str) -> None:
    learner = quick(method, small_spec(), 900)
    for batch in small_batches(4):
        learner.observe(Batch(torch.ones(len(batch), 20), batch.y, batch.task))
    learner.observe(Batch(torch.zeros(5, 20), torch.tensor([0, 1, 0, 1, 1]), task=1))
    assert_probabilities(learner)


@pytest.mark.parametrize("method", [name for name in METHODS if METHODS[name].task_aware])
def test_task_aware_methods_refuse_batches_without_a_task(method: str) -> None:
    learner, batch = quick(method, small_spec(), 900), small_batches(1)[0]
    with pytest.raises(ValueError, match="task must be given"):
        learner.check(Batch(batch.x, batch.y))


def assert_probabilities(learner: Learner) -> None:
    probabilities = learner.predict_proba(small_batches(seed=9)[0].x)
    assert torch.isfinite(probabilities).all()
    torch.testing.assert_close(probabilities.sum(dim=1), torch.ones(10))


# --- selectors ---------------------------------------------------------------


class Geometry:
    """A small network's view of given samples, of a learner that distrusts their labels."""

    distrust, spared = 1.0, 0

    def __init__(self, x: torch.Tensor, y: torch.Tensor) -> None:
        self.x, self.y = x, y
        self.network = MLP(InputSpec(x.shape[1], 2), (6,), np.random.default_rng(0))

    def trace(self, index: np.ndarray) -> Trace:
        return trace(self.network, self.x[index], self.y[index])

    def features(self, index: np.ndarray, layer: str) -> torch.Tensor:
        with torch.no_grad():
            return self.network.features(self.x[index], layer)


def pool_of(x: torch.Tensor, y: torch.Tensor, n_memory: int, sizes: np.ndarray) -> Pool:
    scores = np.linspace(0.1, 0.9, len(y)).astype(np.float32)
    tasks = {"task": (np.arange(len(y)) % 3).astype(np.uint16)}
    return Pool(sizes, y.numpy(), scores, n_memory, Geometry(x, y), tasks)


KINDS = {
    "random": lambda rng, n: (torch.from_numpy(rng.normal(size=(n, 5)).astype(np.float32)), rng.integers(0, 2, n)),
    "one class": lambda rng, n: (torch.from_numpy(rng.normal(size=(n, 5)).astype(np.float32)), np.zeros(n, int)),
    "duplicates": lambda rng, n: (torch.ones(n, 5), np.ones(n, int)),
    "all zero": lambda rng, n: (torch.zeros(n, 5), rng.integers(0, 2, n)),
}


@pytest.mark.parametrize("selector", SELECTORS, ids=lambda c: c.__name__)
@pytest.mark.parametrize("kind", KINDS)
@given(
    seed=st.integers(0, 1000),
    old=st.integers(0, 20),
    new=st.integers(1, 20),
    room=st.integers(0, 300),
    equal=st.booleans(),
)
@settings(max_examples=12)
def test_a_selection_fits_and_is_the_same_per_seed(
    selector: type, kind: str, seed: int, old: int, new: int, room: int, equal: bool
) -> None:
    rng = np.random.default_rng(seed)
    x, y = KINDS[kind](rng, old + new)
    sizes = np.full(old + new, 10) if equal else rng.integers(1, 20, old + new)
    pool = pool_of(x, torch.from_numpy(np.asarray(y)), old, sizes)
    chosen, again = (selector().select(pool, room, np.random.default_rng(seed)) for _ in range(2))
    np.testing.assert_array_equal(chosen.keep, again.keep)
    np.testing.assert_array_equal(chosen.scores, again.scores)
    assert (np.diff(chosen.keep) > 0).all()
    assert len(chosen.scores) == len(chosen.keep)
    assert np.isfinite(chosen.scores).all()
    assert selector is Everything or sizes[chosen.keep].sum() <= room


# --- regularisers ------------------------------------------------------------


@pytest.mark.parametrize("penalty", PENALTIES, ids=lambda c: c.__name__)
@pytest.mark.parametrize("consolidate", ["batch", "task"])
def test_zero_strength_is_absence(penalty: type, consolidate: str) -> None:
    recipe = Recipe((12,), 1e-2, iterations=3, replay=5, consolidate=consolidate)
    bare, with_it = (Learner(small_spec(), 900, recipe, Reservoir(), parts) for parts in ((), (penalty(0.0),)))
    for learner in (bare, with_it):
        learn_two_tasks(learner)
    for mine, theirs in zip(bare.model.network.parameters(), with_it.model.network.parameters(), strict=True):
        assert torch.equal(mine, theirs)


@pytest.mark.parametrize("penalty", PENALTIES, ids=lambda c: c.__name__)
@pytest.mark.parametrize("consolidate", ["batch", "task"])
@pytest.mark.parametrize("replay", [0, 5])
def test_penalties_work_with_and_without_memory(penalty: type, consolidate: str, replay: int) -> None:
    recipe = Recipe((12,), 1e-2, iterations=3, replay=replay, consolidate=consolidate)
    learner = Learner(small_spec(), 900, recipe, Reservoir(), (penalty(0.1),))
    learn_two_tasks(learner)
    value = learner.model.regularizers[0].penalty(learner.model.network).detach()
    assert torch.isfinite(value)
    assert float(value) >= 0
    assert_probabilities(learner)


@pytest.mark.parametrize("penalty", PENALTIES, ids=lambda c: c.__name__)
def test_negative_strengths_are_refused(penalty: type) -> None:
    with pytest.raises(ValueError, match="strength must be a number in"):
        penalty(-1.0)


def learn_two_tasks(learner: Learner) -> None:
    batches = small_batches()
    for number, batch in enumerate(batches):
        learner.observe(batch)
        if number == 2:
            whole = torch.cat([b.x for b in batches[:3] if not isinstance(b.x, sparse.csr_array)])
            learner.end_task(Batch(whole, torch.cat([b.y for b in batches[:3]]), task=0))
