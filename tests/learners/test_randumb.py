"""RanDumb: against scikit-learn's shrinkage and distances to means, in any order, sparse, weighted."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.covariance import OAS
from sklearn.metrics.pairwise import rbf_kernel

from smartcl import SmartClassifier
from smartcl.data.batch import Batch
from smartcl.data.spec import InputSpec
from smartcl.learners.ensemble.feature_maps import FourierFeatures, HashedColumns
from smartcl.learners.ensemble.settings import NARROW
from smartcl.learners.methods import build_learner
from smartcl.learners.randumb import RanDumb


def blobs(count: int, n_features: int = 6, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, count)
    x = rng.normal(size=(count, n_features)) + 2 * np.eye(3, n_features)[y]
    return torch.from_numpy(x.astype(np.float32)), torch.from_numpy(y)


def learned(batches: list[Batch], features: int = 40, n_features: int = 6) -> RanDumb:
    learner = build_learner("randumb", InputSpec(n_features, 3), "1kB", features=features)
    assert isinstance(learner, RanDumb)
    for batch in batches:
        learner.observe(batch)
    return learner


def cut(x: torch.Tensor, y: torch.Tensor, size: int = 50) -> list[Batch]:
    return [Batch(x[i : i + size], y[i : i + size]) for i in range(0, len(y), size)]


def test_answers_go_by_the_nearest_mean_in_the_metric_of_scikit_learns_shrunk_covariance() -> None:
    x, y = blobs(400)
    learner = learned(cut(x, y))
    features = learner.map(learner.frame.scaled(x, learner.spec))[:, 1:].astype(np.float64)
    means = np.stack([features[y == label].mean(axis=0) for label in range(3)])
    covariance = OAS(assume_centered=True).fit(features - means[y]).covariance_
    distances = cdist(features, means, "mahalanobis", VI=np.linalg.inv(covariance))
    said = learner.predict_proba(x).numpy()
    expected = torch.from_numpy(-(distances**2) / 2).softmax(dim=1).numpy()
    np.testing.assert_allclose(said, expected, atol=2e-3)


def test_what_it_knows_does_not_depend_on_the_order_of_classes() -> None:
    x, y = blobs(300)
    mixed, first = cut(x, y), Batch(x[:50], y[:50])
    order = torch.argsort(y[50:], stable=True) + 50
    in_turn = [first, *cut(x[order], y[order])]
    said = [learned(batches).predict_proba(x).numpy() for batches in (mixed, in_turn)]
    np.testing.assert_allclose(*said, atol=1e-3)


def test_random_features_are_near_their_kernel() -> None:
    rows = blobs(30)[0].numpy()
    features = FourierFeatures(seed=1, n_columns=6, count=20_000).drawn(rows)(rows)[:, 1:] / np.sqrt(20_000)
    kernel = rbf_kernel(rows, gamma=NARROW / (6 * rows.var()))
    assert np.abs(features @ features.T - kernel).max() < 0.04


def test_a_class_that_has_not_come_has_no_probability() -> None:
    x, y = blobs(100)
    learner = learned(cut(x[y < 2], y[y < 2]))
    said = learner.predict_proba(x)
    assert (said[:, 2] == 0).all()
    assert float((said.argmax(dim=1) == y)[y < 2].float().mean()) > 0.8


def test_sparse_rows_of_many_columns_are_hashed() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 900)
    rows = sparse.random_array((900, 5000), density=0.002, rng=rng, format="lil")
    rows[np.arange(900), y] = 3.0
    rows = sparse.csr_array(rows)
    model = SmartClassifier("50kB", method="randumb", parameters={"features": 300}, random_state=0)
    model.partial_fit(rows[:800], y[:800])
    assert isinstance(model.learner_.map, HashedColumns)
    assert model.score(rows[800:], y[800:]) > 0.9


def test_the_state_is_of_one_size_and_no_sample_is_kept() -> None:
    x, y = blobs(600)
    learner = learned(cut(x[:50], y[:50]), features=100)
    before = sum(learner.bytes_by_part.values())
    for batch in cut(x[50:], y[50:]):
        learner.observe(batch)
    assert sum(learner.bytes_by_part.values()) == before
    assert learner.bytes_by_part["memory"] == len(learner.memory) == 0
    assert learner.bytes_by_part["sums"] == 4 * 101 * 102 // 2 + 8 * 101 * 3


def test_features_must_be_a_positive_number() -> None:
    with pytest.raises(ValueError, match="features must be a whole number from 1 to 50000, got 0"):
        build_learner("randumb", InputSpec(4, 2), "1kB", features=0)
