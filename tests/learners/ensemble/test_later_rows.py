"""Rows far from the newest labels are answered by weights of their own: what follows the newest rows counts less."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from smartcl.data.batch import Batch
from smartcl.data.spec import InputSpec
from smartcl.learners.ensemble.ensemble import Ensemble
from smartcl.learners.methods import METHODS

#: Two values and, of the newest labels, how far their mean is from a half.
SPEC = InputSpec(3, 2, learned=True, momentary=(2,))


def stream(rows: int, seed: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """The first value tells a little; most is told by a level that stays for 300 rows, and so by the newest labels."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, 3)).astype(np.float32)
    level = np.where(np.arange(rows) // 300 % 2, -3.0, 3.0)
    y = (rng.random(rows) < 1 / (1 + np.exp(-x[:, 0] - level))).astype(np.int64)
    for row in range(rows):
        newest = y[max(0, row // 50 * 50 - 50) : row // 50 * 50]
        x[row, 2] = newest.mean() - 0.5 + 1e-3 if len(newest) else 0.0
    return x, y


def learned(spec: InputSpec, rows: int = 3000) -> Ensemble:
    x, y = stream(rows, seed=0)
    learner = METHODS["adaptive"].learner(spec, "200kB", 0, members=("ridge", "logistic", "neighbours"))
    assert isinstance(learner, Ensemble)
    for first in range(0, rows, 50):
        part = slice(first, first + 50)
        learner.observe(Batch(torch.from_numpy(x[part]), torch.from_numpy(y[part])))
    return learner


def log_loss(learner: Ensemble, x: NDArray[np.float32], y: NDArray[np.int64]) -> float:
    shares = learner.predict_proba(torch.from_numpy(x)).numpy()[np.arange(len(y)), y]
    return float(-np.log(shares).mean())


def test_later_rows_are_answered_by_what_lasts() -> None:
    x, y = stream(3000, seed=1)
    x[:, 2] = 0  # nothing is known of the newest labels
    lasting, following = learned(SPEC), learned(replace(SPEC, momentary=()))
    # half of the rows have the other level: who answers by the newest rows is far worse than who says a half, log 2
    assert log_loss(following, x, y) > np.log(2) + 0.15
    assert log_loss(lasting, x, y) < np.log(2) + 0.05


def test_rows_of_both_kinds_get_the_answers_that_they_get_alone() -> None:
    learner, (x, _) = learned(SPEC, 1000), stream(60, seed=2)
    x[::2, 2] = 0
    both = learner.predict_proba(torch.from_numpy(x)).numpy()
    for rows in (slice(0, None, 2), slice(1, None, 2)):
        np.testing.assert_allclose(learner.predict_proba(torch.from_numpy(x[rows])).numpy(), both[rows], atol=1e-6)
    again = METHODS["adaptive"].learner(SPEC, "200kB", 0, members=("ridge", "logistic", "neighbours"))
    again.load_state_dict(learner.state_dict())
    np.testing.assert_array_equal(again.predict_proba(torch.from_numpy(x)).numpy(), both)
