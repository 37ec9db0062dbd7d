"""Sums of a stream against explicit rows: ridge weights, forgetting, rows taken out, and leave-one-out by refits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_samples import blobs
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.model_selection import LeaveOneOut, cross_val_predict

from smartcl.learners.ensemble.sums import PACKED_FROM, Sums, leave_one_out
from smartcl.saving.saved import Saved, StateError

WIDE = PACKED_FROM + 6


def wide_rows(rng, rows):
    """Rows of which the first feature is 1, of as many features as packed sums have."""
    x = rng.normal(size=(rows, WIDE)).astype(np.float32)
    x[:, 0] = 1.0
    return x, rng.integers(0, 3, rows)


def explicit(x, y, weight, n_classes):
    """Second moments and products in double precision."""
    weighed = x.astype(np.float64) * np.asarray(weight, np.float64)[:, None]
    return weighed.T @ x.astype(np.float64), weighed.T @ np.eye(n_classes)[y]


def square(sums):
    """Second moments as a whole symmetric matrix."""
    upper = np.triu(sums.matrix())
    return upper + np.triu(upper, 1).T


@given(st.integers(0, 2**32 - 1), st.floats(0.01, 100), st.booleans())
def test_weights_are_those_of_ridge_regression(seed, penalty, weighted):
    """Of scikit-learn, whose intercept is not shrunk either."""
    rng = np.random.default_rng(seed)
    x, y = blobs(rng, 60, n_classes=3)
    weight = rng.uniform(0.2, 5, 60).astype(np.float32) if weighted else None
    sums = Sums.empty(6, 3, forgetting=1.0)
    for part in np.array_split(np.arange(60), 4):
        sums = sums.with_rows(x[part], y[part], None if weight is None else weight[part])
    theirs = Ridge(penalty).fit(x[:, 1:].astype(np.float64), np.eye(3)[y], sample_weight=weight)
    expected = np.vstack([theirs.intercept_, theirs.coef_.T])
    np.testing.assert_allclose(sums.weights(penalty), expected, atol=2e-5, rtol=1e-4)


def test_the_first_features_alone_are_a_regression_of_their_own():
    x, y = blobs(np.random.default_rng(0), 80)
    sums = Sums.empty(6, 2, forgetting=1.0).with_rows(x, y)
    fewer = Sums.empty(3, 2, forgetting=1.0).with_rows(x, y)
    np.testing.assert_allclose(sums.weights(1.0, width=3), fewer.weights(1.0), atol=1e-6)


@given(st.integers(0, 2**32 - 1))
def test_the_order_of_rows_and_how_they_are_cut_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    x, y = blobs(rng, 50)
    weight, order = rng.uniform(0.5, 2, 50).astype(np.float32), rng.permutation(50)
    whole = Sums.empty(6, 2, forgetting=1.0).with_rows(x, y, weight)
    parts = Sums.empty(6, 2, forgetting=1.0)
    for part in np.split(order, np.sort(rng.integers(0, 50, 3))):
        parts = parts.with_rows(x[part], y[part], weight[part])
    np.testing.assert_allclose(square(parts), square(whole), rtol=1e-6, atol=1e-5)
    np.testing.assert_allclose(parts.products, whole.products, rtol=1e-6, atol=1e-5)
    assert parts.rows == pytest.approx(whole.rows)


@pytest.mark.parametrize("width", [6, WIDE])
def test_forgetting_weighs_each_row_by_its_age(width):
    """A batch's rows count ``gamma`` to the power of the batches that came later, in parts of batches too."""
    rng, gamma, sums, weights, parts = np.random.default_rng(1), 0.9, Sums.empty(width, 3, 0.9), np.zeros(0), []
    for batches in (1.0, 0.5, 2.0, 1.0):
        x, y = wide_rows(rng, 30)
        x, weight = x[:, :width], rng.uniform(0.5, 2, 30).astype(np.float32)
        sums = sums.with_rows(x, y, weight, batches)
        weights = np.concatenate([weights * gamma**batches, weight])
        parts.append((x, y))
    x, y = (np.concatenate(each) for each in zip(*parts, strict=True))
    second, products = explicit(x, y, weights, 3)
    np.testing.assert_allclose(square(sums), second, rtol=1e-4, atol=1e-3)
    np.testing.assert_allclose(sums.products, products, rtol=1e-5, atol=1e-4)
    assert sums.rows == pytest.approx(weights.sum(), rel=1e-6)


@given(st.integers(0, 2**32 - 1))
def test_a_row_taken_out_leaves_the_sums_as_if_it_had_never_come(seed):
    rng = np.random.default_rng(seed)
    x, y = blobs(rng, 40)
    weight = rng.uniform(0.5, 4, 40).astype(np.float32)
    gone = rng.random(40) < 0.3
    sums = Sums.empty(6, 2, forgetting=1.0).with_rows(x, y, weight).with_rows(x[gone], y[gone], -weight[gone])
    never = Sums.empty(6, 2, forgetting=1.0).with_rows(x[~gone], y[~gone], weight[~gone])
    np.testing.assert_allclose(square(sums), square(never), atol=1e-4)
    np.testing.assert_allclose(sums.products, never.products, atol=1e-4)
    assert sums.rows == pytest.approx(never.rows, abs=1e-4)


def test_packed_sums_are_those_of_a_dense_matrix():
    """Single precision, with weights, without, and with rows of negative weight among the others."""
    rng, sums = np.random.default_rng(2), Sums.empty(WIDE, 3, forgetting=1.0)
    assert sums.second.dtype == np.float32
    assert sums.nbytes < 0.6 * WIDE * WIDE * 4 + sums.products.nbytes
    x, y = wide_rows(rng, 90)
    counts = rng.choice([0.0, 0.5, 3.0], 30)
    sums = sums.with_rows(x[:30], y[:30]).with_rows(x[30:60], y[30:60], np.ones(30, np.float32))
    signed = np.concatenate([counts, -np.ones(30)]).astype(np.float32)  # the second rows leave while the third come
    sums = sums.with_rows(np.concatenate([x[60:], x[30:60]]), np.concatenate([y[60:], y[30:60]]), signed)
    second, products = explicit(x, y, np.concatenate([np.ones(30), np.zeros(30), counts]), 3)
    np.testing.assert_allclose(square(sums), second, atol=2e-4)
    np.testing.assert_allclose(sums.products, products, atol=2e-4)
    assert sums.trace == pytest.approx(np.trace(second) - second[0, 0], rel=1e-5)
    regular = second + 100 * np.diag(np.arange(WIDE) > 0)
    np.testing.assert_allclose(sums.weights(100.0), np.linalg.solve(regular, products), atol=1e-3)
    np.testing.assert_allclose(sums.weights(100.0, 5), np.linalg.solve(regular[:5, :5], products[:5]), atol=1e-3)


def test_packed_sums_forget_when_only_rows_of_negative_weight_or_none_come():
    x, y = wide_rows(np.random.default_rng(3), 20)
    sums = Sums.empty(WIDE, 3, forgetting=0.5).with_rows(x, y)
    ones = np.ones(20, np.float32)
    for weight, left in ((-ones / 4, 0.25), (0 * ones, 0.5)):
        got = sums.with_rows(x, y, weight, batches=1.0)
        np.testing.assert_allclose(square(got), left * square(sums), atol=1e-3)
        np.testing.assert_allclose(got.products, left * sums.products, atol=1e-3)


def test_sums_that_are_no_second_moments_answer_nothing():
    """More was taken out than had come in: there is no such regression, and no NaN either."""
    x, y = blobs(np.random.default_rng(4), 30)
    sums = Sums.empty(6, 2, forgetting=1.0).with_rows(x, y).with_rows(x, y, np.full(30, -2, np.float32))
    np.testing.assert_array_equal(sums.weights(1.0), np.zeros((6, 2), np.float32))
    broken = Sums(np.full((6, 6), np.nan), np.zeros((6, 2)), 1.0, 1.0)
    np.testing.assert_array_equal(broken.weights(1.0), np.zeros((6, 2), np.float32))
    assert np.isfinite(Sums.empty(6, 2, 1.0).weights(1.0)).all()


def test_a_feature_twice_or_never_there_still_has_weights():
    """Singular second moments: the least penalty gives finite weights that answer as those of the feature once."""
    x, y = blobs(np.random.default_rng(5), 200)
    twice = np.hstack([x, x[:, 1:3], np.zeros((200, 1), np.float32)])
    doubled = Sums.empty(9, 2, 1.0).with_rows(twice, y).weights(1e-6)
    once = Sums.empty(6, 2, 1.0).with_rows(x, y).weights(1e-6)
    np.testing.assert_allclose(twice @ doubled, x @ once, atol=1e-3)


def test_later_classes_find_room():
    x, y = blobs(np.random.default_rng(6), 60, n_classes=3)
    first = y < 2
    early = Sums.empty(6, 2, 1.0).with_rows(x[first], y[first]).widened(3).with_rows(x[~first], y[~first])
    late = Sums.empty(6, 3, 1.0).with_rows(x, y)
    np.testing.assert_allclose(early.weights(1.0), late.weights(1.0), atol=1e-5)


@pytest.mark.parametrize("width", [6, WIDE])
def test_a_saved_state_reads_back_bit_for_bit_and_damage_is_refused(width):
    x, y = wide_rows(np.random.default_rng(7), 20)
    sums = Sums.empty(width, 3, 0.97).with_rows(x, y, batches=1.0)
    again = Sums.empty(width, 3, 0.97).loaded(Saved(sums.state_dict()))
    np.testing.assert_array_equal(again.weights(1.0), sums.weights(1.0))
    assert (again.rows, again.forgetting) == (sums.rows, 0.97)
    for damage in ({"rows": -1.0}, {"second": sums.second[:-1]}, {"products": np.full((width, 3), np.nan)}):
        with pytest.raises(StateError, match=next(iter(damage))):
            Sums.empty(width, 3, 0.97).loaded(Saved({**sums.state_dict(), **damage}))


@pytest.mark.parametrize(("rows", "width"), [(50, 6), (25, 40), (20, 21)])
def test_leave_one_out_is_as_many_refits(rows, width):
    """Of scikit-learn's classifier by ridge regression, each row left out once; more rows than features and fewer."""
    x, y = blobs(np.random.default_rng(8), rows, width, n_classes=3, spread=3.0)
    penalties = np.array([0.1, 10.0, 1000.0])
    expected = [
        float((cross_val_predict(RidgeClassifier(penalty), x[:, 1:].astype(float), y, cv=LeaveOneOut()) == y).mean())
        for penalty in penalties
    ]
    got = leave_one_out(x, y, 3, penalties)
    np.testing.assert_allclose(got, expected)
    assert len(set(got)) > 1


def test_leave_one_out_of_rows_that_are_all_alike():
    x = np.ones((20, 4), np.float32)
    shares = leave_one_out(x, np.repeat([0, 1], 10), 2, np.array([0.1, 10.0]))
    assert np.isfinite(shares).all()
