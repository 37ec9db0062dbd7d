"""The account beside scikit-learn's metrics and the slow way."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics

from smartcl import SmartClassifier
from smartcl.account.account import BINS, MOST_WINDOWS, Account
from smartcl.account.named_scores import NamedScores
from smartcl.account.tally import bin_of
from smartcl.saving.saved import Saved, StateError


def a_stream(rows: int, classes: int, seed: int, rare: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Labels, and probabilities that say something of them."""
    rng = np.random.default_rng(seed)
    prior = np.array([1.0, *[rare] * (classes - 1)])
    y = rng.choice(classes, rows, p=prior / prior.sum())
    scores = rng.normal(size=(rows, classes)) + np.log(prior) + 1.5 * np.eye(classes)[y]
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    return y, shares / shares.sum(axis=1, keepdims=True)


def counted(y: np.ndarray, shares: np.ndarray, batch: int = 50) -> Account:
    account = Account.none(shares.shape[1])
    for start in range(0, len(y), batch):
        part = slice(start, start + batch)
        account = account.after(y[part], shares[part] if start else None)
    return account


@pytest.mark.parametrize(("classes", "rare"), [(2, 1.0), (2, 0.01), (5, 0.3)])
def test_scores_are_those_of_scikit_learn(classes: int, rare: float) -> None:
    y, shares = a_stream(20_000, classes, seed=classes, rare=rare)
    scores = counted(y, shares).total.scores()
    y, shares = y[50:], shares[50:]
    said = shares.argmax(axis=1)
    assert scores.rows == len(y)
    assert scores.accuracy == pytest.approx(metrics.accuracy_score(y, said))
    assert scores.balanced_accuracy == pytest.approx(metrics.balanced_accuracy_score(y, said))
    assert scores.log_loss == pytest.approx(metrics.log_loss(y, shares))
    truth = np.eye(classes)[y]
    assert scores.brier == pytest.approx(((shares - truth) ** 2).sum(axis=1).mean())
    names = range(classes) if classes > 2 else [1]
    auc = np.mean([metrics.roc_auc_score(truth[:, k], shares[:, k]) for k in names])
    precision = np.mean([metrics.average_precision_score(truth[:, k], shares[:, k]) for k in names])
    assert scores.auc == pytest.approx(auc, abs=1e-3)
    assert scores.average_precision == pytest.approx(precision, abs=4e-3)
    # of the bins themselves, the two agree to the last digit
    binned = bin_of(shares, BINS)
    assert scores.auc == pytest.approx(np.mean([metrics.roc_auc_score(truth[:, k], binned[:, k]) for k in names]))
    assert scores.average_precision == pytest.approx(
        np.mean([metrics.average_precision_score(truth[:, k], binned[:, k]) for k in names])
    )
    sure, right, error = shares.max(axis=1), said == y, 0.0
    for low in np.arange(10) / 10:
        there = (sure >= low) & ((sure < low + 0.1) | (low == 0.9))
        error += abs(sure[there].sum() - right[there].sum()) / len(y)
    assert scores.calibration_error == pytest.approx(error)


def test_the_simplest_rules_know_what_the_model_knows() -> None:
    y, shares = a_stream(3_000, 3, seed=1)
    for batch in (1, 50):
        commonest = last = 0
        for start in range(batch, len(y), batch):
            known = y[:start]
            commonest += int((y[start : start + batch] == np.bincount(known, minlength=3).argmax()).sum())
            last += int((y[start : start + batch] == known[-1]).sum())
        scores = counted(y, shares, batch).total.scores()
        assert scores.commonest == pytest.approx(commonest / (len(y) - batch))
        assert scores.last == pytest.approx(last / (len(y) - batch))


def test_windows_add_up_and_do_not_grow() -> None:
    y, shares = a_stream(30_000, 2, seed=2)
    short, long = counted(y[:10_000], shares[:10_000]), counted(y, shares)
    for account in (short, long):
        assert MOST_WINDOWS / 2 <= len(account.windows) <= MOST_WINDOWS
        rows = [window.n for window in account.windows]
        assert sum(rows) == account.total.n
        assert sum(window.hits.sum() for window in account.windows) == account.total.hits.sum()
    assert long.nbytes <= short.nbytes * MOST_WINDOWS / len(short.windows)
    late = long.last_tenth
    there = slice(len(y) - late.n, None)
    assert 0.07 * len(y) < late.n < 0.14 * len(y)
    right = shares[there].argmax(axis=1) == y[there]
    assert late.scores().accuracy == pytest.approx(right.mean())
    assert late.scores().auc == pytest.approx(metrics.roc_auc_score(y[there], shares[there, 1]), abs=5e-3)


def test_a_class_that_comes_later_had_no_probability_before() -> None:
    y, shares = a_stream(4_000, 3, seed=3)
    y[:2_000] %= 2
    shares[:2_000, :2] += shares[:2_000, 2:] / 2
    shares[:2_000, 2] = 0
    account = counted(y[:2_000], shares[:2_000, :2]).widened(3)
    for start in range(2_000, 4_000, 50):
        part = slice(start, start + 50)
        account = account.after(y[part], shares[part])
    scores = account.total.scores()
    truth = np.eye(3)[y[50:]]
    expected = np.mean([metrics.roc_auc_score(truth[:, k], shares[50:, k]) for k in range(3)])
    assert scores.auc == pytest.approx(expected, abs=1e-3)
    assert account.confusion.sum() == len(y) - 50
    assert account.confusion.tolist() == metrics.confusion_matrix(y[50:], shares[50:].argmax(axis=1)).tolist()


def test_with_very_many_classes_nothing_is_ranked() -> None:
    account = Account.none(3).after(np.array([0, 1, 2]), None).widened(200)
    account = account.after(np.array([150]), np.full((1, 200), 1 / 200))
    assert account.total.scores().auc is None
    assert not account.confusion.size
    assert account.nbytes < 100_000


def test_a_saved_account_goes_on_as_it_was() -> None:
    y, shares = a_stream(1_000, 2, seed=4)
    whole = counted(y, shares)
    half = counted(y[:500], shares[:500])
    half = Account.from_state(Saved(half.state_dict()), 2)
    for start in range(500, 1_000, 50):
        part = slice(start, start + 50)
        half = half.after(y[part], shares[part])
    names = ["a", "b"]
    assert NamedScores(half, names).as_dict() == NamedScores(whole, names).as_dict()
    damaged = whole.state_dict()
    damaged["known"] = -whole.known
    with pytest.raises(StateError, match="known must not be negative"):
        Account.from_state(Saved(damaged), 2)


def test_a_person_is_told_what_the_accuracy_hides() -> None:
    rng = np.random.default_rng(5)
    y = (rng.random(5_000) < 0.1).astype(int)
    worse = np.where(rng.random(5_000) < 0.8, 0.9, 0.1)
    assert "below that of always saying the commonest label ('no')" in " ".join(
        NamedScores(counted(y, np.stack([worse, 1 - worse], axis=1)), ["no", "yes"]).warnings()
    )
    y = rng.integers(0, 2, 5_000)
    sure = np.where(np.arange(5_000) < 4_000, np.where(y == 1, 0.9, 0.1), rng.random(5_000))
    told = " ".join(NamedScores(counted(y, np.stack([1 - sure, sure], axis=1)), ["no", "yes"]).warnings())
    assert "the last tenth is far below all rows" in told
    runs = np.repeat(rng.integers(0, 2, 50), 100)
    dull = np.where(rng.random(5_000) < 0.7, runs, 1 - runs) * 0.8 + 0.1
    told = " ".join(NamedScores(counted(runs, np.stack([1 - dull, dull], axis=1), 1), ["no", "yes"]).warnings())
    assert "repeating the last known label" in told


@pytest.mark.parametrize("cut", [1, 6, 50, 400])
def test_the_estimator_counts_every_row_once_however_calls_cut_them(cut: int) -> None:
    rng = np.random.default_rng(6)
    X = rng.normal(size=(330, 3))
    y = np.repeat(rng.integers(0, 2, 33), 10)
    model = SmartClassifier("20kB", members="ridge", random_state=0)
    for start in range(0, 330, cut):
        model.partial_fit(X[start : start + cut], y[start : start + cut], classes=[0, 1] if not start else None)
    model.flush()
    account = model.scores_.account
    assert account.known.tolist() == np.bincount(y).tolist()
    assert account.rows == 330
    if cut == 1:  # each label was known before the next row
        assert model.scores_.rows == 330
        assert model.scores_.last == pytest.approx(np.mean(y[1:] == y[:-1]), abs=0.01)
        assert model.scores_.accuracy > 0.8  # the learner knows it too
    else:
        assert model.scores_.rows == 280
        known = [y[start - 1] for start in range(50, 330, 50) for _ in range(min(50, 330 - start))]
        assert model.scores_.last == pytest.approx(np.mean(y[50:] == known))


def test_a_call_that_fails_is_not_counted() -> None:
    X, y = np.random.default_rng(7).normal(size=(200, 3)), np.arange(200) % 2
    model = SmartClassifier("20kB", members="ridge", random_state=0).partial_fit(X[:100], y[:100])
    before = model.scores_.as_dict()
    X[150, 1] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        model.partial_fit(X[100:], y[100:])
    assert model.scores_.as_dict() == before
