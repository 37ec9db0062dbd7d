"""Experts for the very next row: a batch is answered as if row by row; the regression is weighted least squares."""

from __future__ import annotations

import numpy as np
import pytest

from smartcl.learners.ensemble.member import Recent
from smartcl.learners.ensemble.next_row import LEFT, NEAR_ROWS, Known, NextRow, RecentSums, nearest, with_constant
from smartcl.learners.ensemble.rows import Samples, View


def stream(rows, columns=3, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, columns)).astype(np.float32)
    pooled = rng.dirichlet(np.ones(n_classes), rows)
    return x, rng.integers(n_classes, size=rows), rng.uniform(0.5, 2, rows).astype(np.float32), pooled


@pytest.mark.parametrize("before", [0, 1, 7, 80])
def test_a_batch_is_answered_as_row_by_row(before):
    x, y, weight, pooled = stream(before + 60)
    nothing = Known(x[:0], y[:0], RecentSums.empty(3, 3).solved())
    known = nothing.and_then(x[:before], y[:before], weight[:before]) if before else nothing
    new = slice(before, None)
    at_once = known.answers_in_turn(pooled[new], x[new], y[new], weight[new])
    for at in range(before, before + 60):
        alone = known.answers(pooled[[at]], x[[at]])
        np.testing.assert_allclose(at_once[at - before], alone[0], rtol=1e-4, atol=1e-5)
        known = known.and_then(x[[at]], y[[at]], weight[[at]])
    assert len(known.y) == min(before + 60, NEAR_ROWS)


def test_sums_give_weighted_ridge_regression():
    x, y, weight, _ = stream(400)
    sums = RecentSums.empty(3, 3)
    for start in range(0, 400, 50):
        part = slice(start, start + 50)
        sums = sums.after(with_constant(x[part]), y[part], weight[part])
    counts = weight * LEFT ** np.arange(399, -1, -1)
    rows = with_constant(x)
    expected = np.linalg.solve(rows.T @ (counts[:, None] * rows) + np.eye(4), rows.T @ (counts[:, None] * np.eye(3)[y]))
    np.testing.assert_allclose(sums.solved().weights, expected, rtol=1e-9)


def test_a_column_that_stays_constant_overflows_nothing():
    x, y, weight, _ = stream(50)
    x[:, 0] = 5.0
    sums = RecentSums.empty(3, 3)
    for _ in range(4000):
        sums = sums.after(with_constant(x), y, weight)
    assert np.abs(sums.solved().inverse).max() < 2


def test_nearest_by_hand():
    distances = np.array([[4.0, 1.0, np.inf, 0.5], [np.inf] * 4], np.float32)
    shares = nearest(distances, np.array([0, 1, 2, 2]), 2, 3)
    votes = 1 / (np.array([1.0, 0.5]) + 0.1 * 0.75)
    np.testing.assert_allclose(shares, [[0, *(votes / votes.sum())], [1 / 3] * 3], rtol=1e-6)


def test_more_classes_leave_what_is_known():
    x, y, *_ = stream(60, n_classes=2)
    known = Known(x[:0], y[:0], RecentSums.empty(3, 2).solved()).and_then(x, y, None)
    wider = known.widened(4)
    old, new = known.regression.scores(with_constant(x)), wider.regression.scores(with_constant(x))
    np.testing.assert_array_equal(new[:, :2], old)
    assert not new[:, 2:].any()
    assert NextRow.none(3, 2).widened(4).sums.products.shape == (4, 4)


@pytest.mark.parametrize("knows", [True, False])
def test_the_pool_is_asked_where_it_adds(knows):
    x, y, weight, pooled = stream(600, n_classes=2)
    told = np.where(np.eye(2)[y] > 0, 0.9, 0.1) if knows else pooled
    rows, nothing = NextRow.none(3, 2), Recent(x[:0], x[:0], y[:0])
    for start in range(0, 600, 50):
        part = slice(start, start + 50)
        new = Samples(View(x[part], lambda rows: rows, lambda rows: rows, lambda rows: rows), y[part], weight[part])
        rows = rows.after(told[part], new, nothing)
    assert rows.asks_pool == knows


def test_rows_of_very_unequal_weights_are_answered_in_turn():
    x, y, _, pooled = stream(120)
    weight = np.where(np.arange(120) % 2, 1e30, 1e-30).astype(np.float32)
    x[60:] = x[:60]
    known = Known(x[:0], y[:0], RecentSums.empty(3, 3).solved())
    assert np.isfinite(known.answers_in_turn(pooled, x, y, weight)).all()
