"""Rows as members read them: each form is made once, and a part of the rows takes along what was made."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import sparse

from smartcl.learners.ensemble.member import LEAST, Recent, log_shares, log_softmax
from smartcl.learners.ensemble.rows import Samples, View

X = np.random.default_rng(0).normal(size=(8, 3)).astype(np.float32)


def counted(x):
    """A view, and how often each of its forms was made."""
    made = {"prepared": 0, "values": 0, "features": 0}

    def once(name, change):
        def make(rows):
            made[name] += 1
            return change(rows)

        return make

    def scale(rows):
        return 2 * (rows.numpy() if isinstance(rows, torch.Tensor) else rows)

    return View(x, once("prepared", lambda r: r), once("values", scale), once("features", lambda v: v + 1)), made


def test_each_form_is_made_once_and_taken_along():
    rows, made = counted(torch.from_numpy(X))
    index = np.array([5, 0, 5])
    for _ in range(2):
        np.testing.assert_array_equal(rows.features, 2 * X + 1)
        np.testing.assert_array_equal(rows.values, 2 * X)
        part = rows.taken(index)
        np.testing.assert_array_equal(part.features, (2 * X + 1)[index])
        np.testing.assert_array_equal(part.values, 2 * X[index])
        np.testing.assert_array_equal(part.raw, X[index])
    assert made == {"prepared": 0, "values": 1, "features": 1}
    assert len(rows.prepared) == len(rows) == 8


def test_a_part_taken_first_makes_its_own():
    rows, made = counted(torch.from_numpy(X))
    np.testing.assert_array_equal(rows.taken(np.array([1])).features, 2 * X[1:2] + 1)
    assert made["features"] == 1
    assert len(rows.features) == 8


def test_sparse_rows_stay_sparse():
    rows, _ = counted(sparse.csr_array(X))
    part = rows.taken(np.array([2, 7]))
    np.testing.assert_array_equal(part.raw.toarray(), X[[2, 7]])
    np.testing.assert_array_equal(part.values.toarray(), 2 * X[[2, 7]])


def test_samples_are_taken_with_labels_and_weights():
    rows, _ = counted(torch.from_numpy(X))
    y, weight = np.arange(8), np.linspace(1, 2, 8, dtype=np.float32)
    some = Samples(rows, y, weight).taken(np.array([3, 1]))
    assert (some.y.tolist(), len(some)) == ([3, 1], 2)
    np.testing.assert_array_equal(some.weight, weight[[3, 1]])
    assert Samples(rows, y).taken(np.array([3])).weight is None


@pytest.mark.parametrize("weight", [None, np.linspace(1, 2, 8, dtype=np.float32)])
def test_the_newest_of_the_recent_and_some_of_them(weight):
    recent = Recent(X, 2 * X, np.arange(8), weight)
    assert recent.last(3).y.tolist() == [5, 6, 7]
    assert recent.last(20).y.tolist() == list(range(8))
    assert recent.last(0).y.tolist() == []
    drawn = [recent.some(3, np.random.default_rng(seed)) for seed in range(400)]
    counts = np.bincount(np.concatenate([each.y for each in drawn]), minlength=8)
    assert np.abs(counts - 150).max() < 50
    for each in drawn[:5]:
        assert len(set(each.y)) == 3
        np.testing.assert_array_equal(each.values, 2 * X[each.y])
        assert weight is None or np.array_equal(each.weight, weight[each.y])


def test_logarithms_of_shares_and_scores():
    shares = np.array([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]], np.float32)
    got = np.exp(log_shares(shares))
    np.testing.assert_allclose(got.sum(axis=1), 1, rtol=1e-6)
    assert got.min() >= LEAST / 1.03
    scores = np.array([[[1e4, 0.0], [-1e4, -1e4]]], np.float32)
    np.testing.assert_allclose(np.exp(log_softmax(scores)), [[[1, 0], [0.5, 0.5]]])
