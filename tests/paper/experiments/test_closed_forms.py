"""The rivals in closed form against scikit-learn's on a stream made up here."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from sklearn.neighbors import NearestCentroid

from smartcl.data.batch import Batch
from smartcl.data.spec import InputSpec
from smartcl.paper.datasets.task_stream import Task, TaskStream
from smartcl.paper.peers import closed_forms
from smartcl.paper.peers.closed_forms import FITS, rival_result
from smartcl.paper.peers.rivals import RIVALS


def rows(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Three classes with a covariance in common, unevenly many."""
    rng = np.random.default_rng(seed)
    y = rng.choice(3, p=[0.6, 0.3, 0.1], size=count)
    mixed = rng.normal(size=(count, 6)) @ np.random.default_rng(0).normal(size=(6, 6))
    return (mixed + 2 * np.eye(6)[y]).astype(np.float32), y


@pytest.mark.parametrize(
    ("name", "reference"),
    [("class-means", NearestCentroid()), ("shared-lda", LinearDiscriminantAnalysis(solver="lsqr"))],
)
def test_means_and_lda_are_scikit_learns(name: str, reference: object) -> None:
    (x, y), (test, _) = rows(400, 1), rows(300, 2)
    scorer = FITS[name](x, y, 3, 0, {"shrinkage": 1e-9})
    assert np.array_equal(scorer(test).argmax(axis=1), reference.fit(x, y).predict(test))  # type: ignore[attr-defined]


def test_ranpac_is_ridge_on_its_features_with_the_penalty_of_held_out_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(closed_forms, "RIDGES", (3.0,))
    (x, y), (test, _) = rows(400, 1), rows(300, 2)
    scorer = FITS["ranpac"](x, y, 3, 7, {"features": 20, "held_out": 0.2})
    projection = np.random.default_rng([7, 0]).standard_normal((6, 20), dtype=np.float32)
    model = Ridge(alpha=3.0, fit_intercept=False).fit(np.maximum(x @ projection, 0), np.eye(3)[y])
    assert np.allclose(scorer(test), model.predict(np.maximum(test @ projection, 0)), atol=1e-3)


@pytest.mark.parametrize("name", RIVALS)
def test_every_rival_is_tested_task_by_task_whatever_the_order(name: str) -> None:
    x, y = rows(600, 3)
    test_x, test_y = rows(300, 4)

    def task(members: list[int]) -> Task:
        here, there = np.isin(y, members), np.isin(test_y, members)
        batches = [
            Batch(torch.from_numpy(a), torch.from_numpy(b))
            for a, b in ((x[here], y[here]), (test_x[there], test_y[there]))
        ]
        return Task(*batches, true_y=batches[0].y, origin=batches[0].y)

    settings = {**RIVALS[name].settings, **({"features": 50} if name == "ranpac" else {})}
    results = [
        rival_result(name, settings, TaskStream("made", InputSpec(6, 3), tuple(map(task, order)), 50, seed=0))
        for order in ([[0, 1], [2]], [[2], [0, 1]])
    ]
    assert results[0]["accuracy"] > 40  # a third by chance; classes are uneven, tasks count alike
    if name in ("class-means", "shared-lda"):
        assert results[0]["accuracy"] == pytest.approx(results[1]["accuracy"], abs=0.5)
