"""Bad input to ``observe``: a ``ValueError`` that names the argument, and a learner unchanged bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import sparse

from helpers import SMALL, assert_same_state, small_batches, small_spec
from smartcl.learners.methods import build_learner
from smartcl.streams.batch import Batch

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
        ("iterations", 0, "iterations must be at least 1"),
        ("replay", -1, "replay must be at least 0"),
        ("lr", 0.0, "lr must be positive"),
        ("average", 1.0, "average must lie in"),
        ("smoothing", -0.1, "smoothing must lie in"),
        ("alpha", -1.0, "must not be negative"),
        ("hidden", (), "hidden must name"),
        ("hidden", "400,x", "hidden must be whole numbers"),
        ("iterations", "2.5", "iterations must be a whole number"),
        ("itertions", 3, "did you mean iterations"),
    ],
)
def test_parameters_are_checked_by_name(name, value, message):
    with pytest.raises(ValueError, match=message):
        build_learner("smart", small_spec(), 900, **{name: value})
