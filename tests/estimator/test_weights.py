"""Weights of samples and classes: against leaving rows out, against scikit-learn's formula, saved and loaded."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.metrics import recall_score
from sklearn.utils.class_weight import compute_class_weight

from smartcl import SmartClassifier
from smartcl.extend import METHODS as REGISTERED
from smartcl.learners.class_counts import ClassCounts
from smartcl.learners.methods import find_method
from smartcl.learners.weights import class_weights

SMALL = {"memory": "3kB", "hidden": (16,), "lr": 1e-2, "iterations": 4, "random_state": 0}
EVERY = [name for name in REGISTERED if not find_method(name).task_aware]
METHODS = ["smart", "er", "er-ace", "der++", "gdumb", "ewc", "smart-paper", "joint"]


def model(method: str = "smart", **how) -> SmartClassifier:
    settings = {**SMALL, "memory": 10**9} if method.startswith("joint") else dict(SMALL)
    if method == "gdumb":
        del settings["iterations"]
    if method == "randumb":
        settings = {"memory": "3kB", "random_state": 0, "parameters": {"features": 100}}
    return SmartClassifier(method=method, **{**settings, **how})


def rows(n: int, seed: int = 0, rare: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < rare).astype(int)
    return (rng.normal(size=(n, 6)) + 0.8 * y[:, None]).astype(np.float32), y


@pytest.mark.parametrize("method", METHODS)
def test_rows_of_weight_0_are_rows_that_are_not_there(method: str) -> None:
    X, y = rows(60)
    left_out = np.arange(60) % 3 == 0
    weight = np.where(left_out, 0.0, 1.0)
    wrong = np.where(left_out, 1 - y, y)
    weighted = model(method, batch_size=100).partial_fit(X, wrong, sample_weight=weight)
    without = model(method, batch_size=100).partial_fit(X[~left_out], y[~left_out], sample_weight=np.ones(40))
    np.testing.assert_array_equal(weighted.predict_proba(X), without.predict_proba(X))


@pytest.mark.parametrize("method", EVERY)
def test_a_common_factor_changes_nothing_and_another_weight_does(method: str) -> None:
    X, y = rows(120)
    weight = np.random.default_rng(1).uniform(0.5, 2, 120)
    once, four_times, evenly = (
        model(method).partial_fit(X, y, sample_weight=w).predict_proba(X) for w in (weight, 4 * weight, np.ones(120))
    )
    np.testing.assert_array_equal(once, four_times)
    assert np.abs(once - evenly).max() > 1e-4


@pytest.mark.parametrize("member", ["ridge", "logistic", "neighbours", "trees", "network", "robust network"])
def test_a_weight_reaches_each_member(member: str) -> None:
    """Rows whose labels go by nothing, of which those of class 1 count a hundred times: alone, it then says 1."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 5)).astype(np.float32), np.arange(400) % 2
    weight = np.where(y == 1, 100.0, 1.0)
    said = [
        SmartClassifier("50kB", members=[member], random_state=0).partial_fit(X, y, sample_weight=w).predict(X).mean()
        for w in (weight, weight[::-1])
    ]
    assert said[0] > 0.9
    assert said[1] < 0.1


@pytest.mark.parametrize("method", ["smart", "er"])
def test_equal_weights_are_no_weights(method: str) -> None:
    X, y = rows(150)
    plain = model(method, memory=10**6).partial_fit(X, y)
    weighed = model(method, memory=10**6, class_weight={0: 3.0, 1: 3.0}).partial_fit(
        X, y, sample_weight=np.full(150, 7)
    )
    np.testing.assert_allclose(plain.predict_proba(X), weighed.predict_proba(X), atol=1e-4)


def test_balanced_is_what_scikit_learn_computes() -> None:
    y = np.array([0] * 12 + [1] * 3 + [3] * 5)
    counts = ClassCounts.none(4).add(y[:7]).add(y[7:])
    expected = compute_class_weight("balanced", classes=np.array([0, 1, 3]), y=y)
    got = class_weights("balanced", counts)
    assert got is not None
    np.testing.assert_allclose(got[[0, 1, 3]], expected, rtol=1e-6)
    assert got[2] == 1


@pytest.mark.parametrize("method", ["smart", "er", "gdumb"])
def test_balanced_raises_the_recall_of_a_rare_class(method: str) -> None:
    X, y = rows(800, seed=3, rare=0.06)
    X_test, y_test = rows(2000, seed=4, rare=0.06)
    recalls = [
        recall_score(y_test, model(method, class_weight=how).partial_fit(X, y).predict(X_test))
        for how in (None, "balanced", {1: 16.0})
    ]
    assert recalls[1] > recalls[0] + 0.1
    assert recalls[2] > recalls[0] + 0.1


def test_weights_are_replayed_with_their_samples() -> None:
    """What is stored beside a sample is the weight it came with, and it is charged."""
    X, y = rows(200)
    weight = (1 + np.arange(200) / 100).astype(np.float32)
    learned = model().partial_fit(X, y, sample_weight=weight)
    store = learned.memory_.store
    assert store.nbytes <= 3000
    came_with = {row.tobytes(): w for row, w in zip(X, weight, strict=True)}
    held = store.gather(np.arange(len(store))).x
    assert isinstance(held, torch.Tensor)
    assert [came_with[row.numpy().tobytes()] for row in held] == store.extra["weight"].tolist()
    assert model().partial_fit(X, y).memory_.store.extra.keys() == {"score"}


@pytest.mark.parametrize("how", [{"class_weight": "balanced"}, {"class_weight": {"b": 4.0}}, {}])
def test_saved_cloned_and_pickled_it_goes_on_alike(how, tmp_path) -> None:
    X, y = rows(160)
    labels = np.array(["a", "b"])[y]
    weight = np.random.default_rng(2).uniform(0.5, 2, 160)
    first = model(**how).partial_fit(X[:80], labels[:80], sample_weight=weight[:80])
    assert clone(first).get_params()["class_weight"] == first.class_weight
    first.save(tmp_path / "model")
    others = [SmartClassifier.load(tmp_path / "model"), pickle.loads(pickle.dumps(first))]
    for each in (first, *others):
        assert each.class_weight == how.get("class_weight")
        each.partial_fit(X[80:], labels[80:], sample_weight=weight[80:])
    for other in others:
        np.testing.assert_array_equal(first.predict_proba(X), other.predict_proba(X))


def test_a_class_named_beforehand_has_its_weight_when_it_comes() -> None:
    X, y = rows(100)
    learned = model(class_weight={2: 9.0}).partial_fit(X, y)
    assert learned.learner_.class_weight == (1.0, 1.0)
    learned.partial_fit(X[:10], np.full(10, 2))
    assert learned.learner_.class_weight == (1.0, 1.0, 9.0)


BAD_WEIGHTS = {
    "one too few": np.ones(29),
    "negative": -np.ones(30),
    "nan": np.full(30, np.nan),
    "too large": np.full(30, 1e9),
    "text": np.full(30, "1"),
    "a column": np.ones((30, 1)),
}


@pytest.mark.parametrize("case", BAD_WEIGHTS)
def test_bad_sample_weights_are_refused_and_change_nothing(case: str) -> None:
    X, y = rows(60)
    learned = model().partial_fit(X[:30], y[:30], sample_weight=np.ones(30))
    before = learned.predict_proba(X)
    with pytest.raises(ValueError, match=r"^sample_weight must be"):
        learned.partial_fit(X[30:], y[30:], sample_weight=BAD_WEIGHTS[case])
    np.testing.assert_array_equal(before, learned.predict_proba(X))


@pytest.mark.parametrize("bad", ["even", 3.0, {0: 0.0}, {0: -1}, {0: "1"}, {0: np.inf}, {0: True}])
def test_bad_class_weights_are_refused(bad) -> None:
    X, y = rows(30)
    with pytest.raises(ValueError, match="class_weight must be"):
        model(class_weight=bad).partial_fit(X, y)


def test_weights_come_from_the_first_batch_on_or_never() -> None:
    X, y = rows(60)
    learned = model().partial_fit(X[:30], y[:30])
    with pytest.raises(ValueError, match="weight must be given from the first batch"):
        learned.partial_fit(X[30:], y[30:], sample_weight=np.ones(30))
    model().partial_fit(X[:30], y[:30], sample_weight=np.ones(30)).partial_fit(X[30:], y[30:])
