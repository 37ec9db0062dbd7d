"""Calibration against scikit-learn's isotonic regression, and on answers that are made up to be too sure."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.isotonic import IsotonicRegression

from smartcl.learners.ensemble.calibration import Calibration
from smartcl.learners.ensemble.settings import LONG_ROWS, LOOK_ROWS
from smartcl.saving.saved import Saved, StateError


def overconfident(seed, rows=2000, n_classes=3, sharpened=3.0):
    """True shares of classes, labels drawn from them, and answers that are the shares sharpened."""
    rng = np.random.default_rng(seed)
    true = rng.dirichlet(np.ones(n_classes), rows)
    y = np.array([rng.choice(n_classes, p=each) for each in true])
    said = true**sharpened
    return true, said / said.sum(axis=1, keepdims=True), y


def ece(shares, y):
    """Expected calibration error of the first choice, in fifteen bins of equal width."""
    sure, right = shares.max(axis=1), shares.argmax(axis=1) == y
    place = np.minimum((sure * 15).astype(int), 14)
    return sum(abs(sure[place == b].sum() - right[place == b].sum()) for b in range(15)) / len(y)


def alike(y):
    return np.ones(len(y), np.float32)


@pytest.mark.parametrize("sharpened", [0.3, 1.0, 3.0, 8.0])
def test_probabilities_come_true_on_other_rows(sharpened):
    _, said, y = overconfident(0, sharpened=sharpened)
    _, others, labels = overconfident(1, sharpened=sharpened)
    got = Calibration.none().after(said, y, alike(y)).applied(others)
    assert ece(got, labels) < 0.04
    if sharpened != 1.0:
        assert ece(got, labels) < 0.4 * ece(others, labels)


def test_the_curve_is_isotonic_regression_but_for_its_bins():
    _, said, y = overconfident(2, n_classes=2)
    calibration = Calibration.none().after(said, y, alike(y))
    theirs = IsotonicRegression(out_of_bounds="clip").fit(said.max(axis=1), said.argmax(axis=1) == y)
    grid = np.linspace(0.55, 0.99, 40)
    got = calibration.applied(np.stack([grid, 1 - grid], axis=1))[:, 0]
    assert (np.diff(got) >= -1e-9).all()
    assert np.abs(got - np.maximum(theirs.predict(grid), 0.5)).mean() < 0.04


def test_a_row_of_weight_three_is_the_row_three_times():
    """But for where bins end: both curves agree on average."""
    rng = np.random.default_rng(3)
    _, said, y = overconfident(3, rows=600, n_classes=2)
    right = said.argmax(axis=1) == y
    weight = np.where(right, 1, 3)  # mistakes count three times
    some = np.arange(600).repeat(weight)
    weighed = Calibration.none().after(said, y, weight.astype(np.float32))
    repeated = Calibration.none().after(said[some], y[some], alike(some))
    grid = rng.uniform(0.6, 0.95, 50)
    rows = np.stack([grid, 1 - grid], axis=1)
    plain = Calibration.none().after(said, y, alike(y)).applied(rows)
    assert np.abs(weighed.applied(rows) - repeated.applied(rows)).mean() < 0.03
    assert (weighed.applied(rows)[:, 0] <= plain[:, 0] + 1e-9).mean() > 0.9


probabilities = arrays(np.float64, (6, 4), elements=st.floats(0, 1)).map(
    lambda rows: (rows + 1e-6) / (rows + 1e-6).sum(axis=1, keepdims=True)
)


@given(probabilities, st.integers(0, 5), st.floats(0.2, 20))
def test_the_order_of_classes_stays_as_it_is(rows, seed, sharpened):
    """Whatever the curve says, answers are shares, no class overtakes another, and the first choice stays first."""
    _, said, y = overconfident(seed, rows=400, n_classes=4, sharpened=sharpened)
    got = Calibration.none().after(said, y, alike(y)).applied(rows)
    np.testing.assert_allclose(got.sum(axis=1), 1, atol=1e-9)
    assert (got >= 0).all()
    for before, after in zip(rows, got, strict=True):
        order = np.argsort(before, kind="stable")
        gaps = np.diff(before[order]) > 1e-7
        assert (np.diff(after[order])[gaps] >= -1e-12).all()
        assert after[before.argmax()] == after.max()


def test_an_answer_that_is_wholly_sure_is_corrected_too():
    _, said, y = overconfident(4)
    got = Calibration.none().after(said, y, alike(y)).applied(np.array([[1.0, 0.0, 0.0], [1 / 3, 1 / 3, 1 / 3]]))
    assert np.isfinite(got).all()
    np.testing.assert_allclose(got.sum(axis=1), 1)


def test_few_answers_correct_nothing():
    _, said, y = overconfident(5, rows=LOOK_ROWS - 1)
    calibration = Calibration.none().after(said, y, alike(y))
    np.testing.assert_array_equal(calibration.applied(said), said)
    assert calibration.least_errors == 0.0


def test_only_the_newest_answers_count():
    _, said, y = overconfident(6, rows=LONG_ROWS)
    old = Calibration.none().after(said, (said.argmax(axis=1) + 1) % 3, alike(y))
    both = old.after(said[:-100], y[:-100], alike(y[:-100]))
    assert len(both.sure) == LONG_ROWS
    assert both.nbytes == 3 * 8 * LONG_ROWS
    assert both.right.mean() > 10 * old.right.mean()
    half = old.weaker(0.01).after(said[:500], y[:500], alike(y[:500]))
    assert half.applied(said).max() > old.after(said[:500], y[:500], alike(y[:500])).applied(said).max()


@pytest.mark.parametrize("noise", [0.0, 0.1, 0.3])
def test_errors_among_the_surest_answers_are_the_share_of_wrong_labels(noise):
    """Two classes that are easily told apart, and labels of which some are turned."""
    rng = np.random.default_rng(7)
    y, sure = rng.integers(0, 2, 2000), rng.uniform(0.9, 1.0, 2000)
    said = np.where(np.eye(2)[y] > 0, sure[:, None], 1 - sure[:, None])
    labels = np.where(rng.random(2000) < noise, 1 - y, y)
    assert Calibration.none().after(said, labels, alike(y)).least_errors == pytest.approx(noise, abs=0.08)


def test_a_saved_state_reads_back_and_damage_is_refused():
    _, said, y = overconfident(8)
    calibration = Calibration.none().after(said, y, alike(y))
    again = Calibration.from_state(Saved(calibration.state_dict()))
    np.testing.assert_array_equal(again.applied(said), calibration.applied(said))
    with pytest.raises(StateError, match="right"):
        Calibration.from_state(Saved({**calibration.state_dict(), "right": np.zeros(3)}))


def test_the_first_choice_stays_the_first_in_single_precision_too():
    """Answers are given in single precision, where the two likeliest classes must not become equal."""
    rng = np.random.default_rng(0)
    sure = Calibration(np.full(1000, 0.95), np.zeros(1000), np.ones(1000))  # it was sure and never right
    shares = rng.dirichlet(np.full(5, 0.3), size=2000)
    second = np.sort(shares, axis=1)[:, -2]
    assert (second > 0.2).any()
    np.testing.assert_array_equal(sure.applied(shares).astype(np.float32).argmax(axis=1), shares.argmax(axis=1))
