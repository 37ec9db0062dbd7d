"""Labels in doubt: the rule of confident learning the slow way, and wrong labels put into data that are well known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris
from sklearn.metrics import average_precision_score

from smartcl import SmartClassifier
from smartcl.account.doubted import confidence, contradictions
from smartcl.learners.ensemble.left_out import left_out_probabilities


def with_wrong_labels(y: np.ndarray, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels of which a share is another class, and which ones."""
    rng = np.random.default_rng(seed)
    wrong = rng.random(len(y)) < share
    classes = int(y.max()) + 1
    return np.where(wrong, (y + rng.integers(1, classes, len(y))) % classes, y), wrong


def test_a_label_is_doubted_as_confident_learning_says() -> None:
    rng = np.random.default_rng(0)
    shares, y = rng.dirichlet([0.5, 0.5, 0.5], 400), rng.integers(0, 3, 400)
    usual = confidence(shares, y)
    found = contradictions(shares, y, usual)
    for row in range(400):
        others = [k for k in range(3) if k != y[row]]
        best = max(others, key=lambda k: shares[row, k])
        assert found.suggested[row] == best
        assert found.doubted[row] == (shares[row, best] >= np.mean(shares[y == best, best]) and shares[row, best] > 0.5)


@pytest.mark.parametrize("method", ["adaptive", "er"])
def test_wrong_labels_of_stored_samples_are_found(method: str) -> None:
    """Whatever learns: a network that has learned a wrong label is not asked about it."""
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(1).permutation(len(y))[:900]
    taught, wrong = with_wrong_labels(y[order], 0.15, seed=2)
    more: dict[str, Any] = {} if method == "adaptive" else {"iterations": 1, "hidden": (10,)}
    model = SmartClassifier("1MB", method=method, random_state=0, **more)
    names = np.array([f"digit {number}" for number in range(10)])
    model.partial_fit(X[order], names[taught], classes=names, ids=np.arange(900))
    everything = model.doubts(suspected=False)
    assert len(everything) == len(model.memory_)
    rows = everything.rows
    assert average_precision_score(wrong[rows], -np.arange(len(rows))) > 0.95
    doubts = model.doubts()
    hit = wrong[doubts.rows]
    assert hit.mean() > 0.85
    assert hit.sum() > 0.85 * wrong[rows].sum()
    assert (doubts.suggested[hit] == names[y[order][doubts.rows[hit]]]).mean() > 0.9
    assert (doubts.given == names[taught[doubts.rows]]).all()
    first = next(iter(doubts))
    assert first.probability > first.given_probability
    assert doubts.to_frame().shape == (len(doubts), 5)


def test_ridge_leaves_each_sample_out() -> None:
    """Beside the model that was fitted without the sample: the same data, one label changed, give the same answer."""
    X, y = load_iris(return_X_y=True)
    kept = np.flatnonzero(y < 2)
    answers = []
    for label in (0, 1):
        taught = y[kept].copy()
        taught[7] = label
        model = SmartClassifier("1MB", members="ridge", random_state=0)
        model.partial_fit(X[kept], taught, ids=np.arange(len(kept)))
        store = model.learner_.memory.store
        place = int(np.flatnonzero(store.extra["id"] == 7)[0])
        from smartcl.learners.ensemble.left_out import Stored, _ridge

        stored = Stored.of(model.learner_, np.arange(len(store)), newest=True)
        answers.append(_ridge(stored, np.random.default_rng(0))[0][place])
    assert np.allclose(answers[0], answers[1], atol=0.02)


def test_samples_of_before_a_change_are_judged_among_themselves() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(6000, 4)).astype(np.float32)
    y = (X[:, 0] > 0).astype(int)
    y[3000:] = 1 - y[3000:]
    taught, wrong = with_wrong_labels(y, 0.05, seed=4)
    model = SmartClassifier("1MB", random_state=0).partial_fit(X, taught, ids=np.arange(6000))
    assert [change.kind for change in model.learner_.changes] == ["changed"]
    doubts = model.doubts()
    assert wrong[doubts.rows].mean() > 0.8
    assert len(doubts) < 0.1 * len(model.memory_)


def test_there_may_be_nothing_to_doubt() -> None:
    model = SmartClassifier("10kB", random_state=0).partial_fit(np.eye(4), ["a"] * 4).flush()
    assert len(model.doubts()) == 0
    assert len(model.doubts(suspected=False)) == 4
    assert repr(model.doubts()) == "0 labels in doubt"
    assert left_out_probabilities(model.learner_, np.random.default_rng(0)).tolist() == [[1.0]] * 4
