"""Recursive logistic regression against scikit-learn's, rows repeated and rows weighed, and a label that changes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_samples import blobs, past, samples
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from smartcl.data.spec import InputSpec
from smartcl.learners.ensemble.drift import CHANGED, NEW_TASK, Change
from smartcl.learners.ensemble.feature_maps import first_map
from smartcl.learners.ensemble.logistic import Filter, Logistic
from smartcl.learners.ensemble.settings import AFTER_JUMP, BATCH_ROWS, FORGETTING
from smartcl.saving.saved import Saved, StateError

NOTHING = past(np.zeros((0, 6), np.float32), [])


def member(width=6, n_classes=2):
    return Logistic(tuple(Filter.empty(width, n_classes) for _ in FORGETTING))


def taught(x, y, known=None, weight=None):
    known = known or member(x.shape[1], int(y.max()) + 1)
    for start in range(0, len(y), BATCH_ROWS):
        part = slice(start, start + BATCH_ROWS)
        known = known.learn(samples(x[part], y[part], None if weight is None else weight[part]), NOTHING)
    return known


def answers(known, x):
    """Probabilities ``[row, rate, class]``."""
    shares = np.exp(known.answers(samples(x, np.zeros(len(x))).rows, NOTHING)).astype(np.float64)
    return shares / shares.sum(axis=2, keepdims=True)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_on_a_stream_that_stays_the_same_it_answers_as_logistic_regression(n_classes):
    """The filter that forgets nothing, after 3,000 rows seen once each: log loss and answers on other rows."""
    rng = np.random.default_rng(0)
    x, y = blobs(rng, 3000, n_classes=n_classes)
    other, labels = blobs(rng, 2000, n_classes=n_classes)
    theirs = LogisticRegression(C=1.0).fit(x[:, 1:], y).predict_proba(other[:, 1:])
    mine = answers(taught(x, y), other)[:, 0]
    assert log_loss(labels, mine) < log_loss(labels, theirs) + 0.02
    assert np.abs(mine - theirs).mean() < 0.04


def test_one_step_is_a_newton_step():
    """From nothing, the answers are even: curvature and slope by loops."""
    x, y = blobs(np.random.default_rng(1), 30, n_classes=3)
    got = Filter.empty(6, 3).after(x, y, None, forgetting=1.0)
    curvature, slope = np.eye(6), np.zeros((6, 3))
    for row, label in zip(x.astype(np.float64), y, strict=True):
        curvature += 2 / 9 * np.outer(row, row)
        for each in range(3):
            slope[:, each] += row * ((label == each) - 1 / 3)
    np.testing.assert_allclose(got.weights, np.linalg.solve(curvature, slope), atol=1e-5)
    np.testing.assert_allclose(got.curvature, curvature - np.eye(6), rtol=1e-5, atol=1e-5)
    again = got.after(x, y, None, forgetting=0.5).curvature - 0.5 * got.curvature
    assert np.linalg.eigvalsh(again).min() > 0


@given(st.integers(0, 2**32 - 1), st.floats(0.5, 1.0))
def test_a_row_of_weight_three_is_the_row_three_times(seed, forgetting):
    x, y = blobs(np.random.default_rng(seed), 40, n_classes=3)
    known = Filter.empty(6, 3).after(*blobs(np.random.default_rng(seed + 1), 40, n_classes=3), None, 1.0)
    count = np.random.default_rng(seed).integers(0, 4, 40)
    weighed = known.after(x, y, count.astype(np.float32), forgetting)
    repeated = known.after(x.repeat(count, axis=0), y.repeat(count), None, forgetting)
    np.testing.assert_allclose(weighed.weights, repeated.weights, atol=1e-9)
    np.testing.assert_allclose(weighed.curvature, repeated.curvature, atol=1e-9)


def test_those_that_forget_follow_a_label_that_changes():
    """After 3,000 rows all labels turn: the filter that forgets is soon right again."""
    rng = np.random.default_rng(2)
    x, y = blobs(rng, 3600)
    known = taught(x[:3000], y[:3000])
    late, jumped = (taught(x[3000:3050], 1 - y[3000:3050], known=each) for each in (known, known.after_jump()))
    for known in (late, jumped):
        whole, short = (log_loss(1 - y[3050:], shares) for shares in answers(known, x[3050:]).swapaxes(0, 1))
        assert short < whole
        assert (answers(known, x[3050:])[:, 1].argmax(axis=1) == 1 - y[3050:]).mean() > 0.9
    np.testing.assert_array_equal(answers(late, x[3050:])[:, 0], answers(jumped, x[3050:])[:, 0])


def test_after_a_change_all_forget_and_after_a_new_task_none():
    x, y = blobs(np.random.default_rng(3), 300)
    known = taught(x, y)
    assert known.after_change(Change(1, NEW_TASK, 0.1, 4.0, 0.1), NOTHING) is known
    for before, after in zip(
        known.filters, known.after_change(Change(1, CHANGED, 0.1, 4.0, 1.0), NOTHING).filters, strict=True
    ):
        np.testing.assert_allclose(after.curvature, AFTER_JUMP * before.curvature)
        np.testing.assert_array_equal(after.weights, before.weights)


def test_separable_rows_and_rows_far_out_stay_finite():
    """Batches of rows that a plane separates, then rows 1e4 times as far out."""
    rng = np.random.default_rng(4)
    x = np.hstack([np.ones((50, 1)), rng.normal(size=(50, 5))]).astype(np.float32)
    known = Filter.empty(6, 2)
    for _ in range(300):
        known = known.after(x, (x[:, 1] > 0).astype(int), None, 0.97)
    assert (known.scores(x).argmax(axis=1) == (x[:, 1] > 0)).all()
    known = known.after(1e4 * x, (x[:, 1] < 0).astype(int), None, 0.97)
    assert np.isfinite(known.weights).all()


@pytest.mark.parametrize("size", [1.0, 1e10, 1e20])
def test_a_feature_twice_is_no_obstacle_however_much_rows_count(size):
    x, y = blobs(np.random.default_rng(4), 200)
    twice, weight = np.hstack([x, x[:, 1:3]]), np.full(200, size, np.float32)
    known = Filter.empty(8, 2)
    for _ in range(3):
        known = known.after(twice, y, weight, 1.0)
    theirs = LogisticRegression().fit(x[:, 1:], y).predict(x[:, 1:])
    assert (known.scores(twice).argmax(axis=1) == theirs).mean() > 0.95


def test_restarted_it_knows_these_samples_and_no_others():
    rng = np.random.default_rng(5)
    x, y = blobs(rng, 200)
    weight = rng.uniform(0.5, 2, 200).astype(np.float32)
    again = taught(-3 * x, y).restarted(samples(x, y, weight), NOTHING)
    np.testing.assert_array_equal(answers(again, x), answers(taught(x, y, weight=weight), x))


def test_it_goes_by_the_values_alone():
    spec = InputSpec(n_features=4, n_classes=2)
    features = first_map(spec, 0)
    x = np.random.default_rng(6).normal(size=(60, 4)).astype(np.float32)
    known = Logistic.of(spec, features).learn(samples(features(x), x[:, 0] > 0), NOTHING)
    assert known.filters[0].weights.shape == (5, 2)
    assert (answers(known, features(x))[:, 0].argmax(axis=1) == (x[:, 0] > 0)).mean() > 0.9


def test_a_class_that_comes_later_is_learned():
    x, y = blobs(np.random.default_rng(7), 900, n_classes=3, spread=0.5)
    two = y < 2
    known = taught(x[two][:300], y[two][:300]).widened(3, np.random.default_rng(0))
    known = taught(x, y, known=known)
    assert (answers(known, x)[:, 0].argmax(axis=1) == y).mean() > 0.8


def test_a_saved_state_reads_back_bit_for_bit_and_damage_is_refused():
    x, y = blobs(np.random.default_rng(8), 300)
    known = taught(x, y)
    again = member().loaded(Saved(known.state_dict()))
    np.testing.assert_array_equal(answers(taught(x, y, known=again), x), answers(taught(x, y, known=known), x))
    assert again.nbytes == known.nbytes
    with pytest.raises(StateError, match=f"filters must be {len(known.filters)}"):
        member().loaded(Saved({"filters": known.state_dict()["filters"][:-1]}))
    with pytest.raises(StateError, match="weights"):
        member(width=5).loaded(Saved(known.state_dict()))
