"""A long stretch of one class, then rows of both: the default learner tells them apart at once."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import balanced_accuracy_score

from smartcl import SmartClassifier

CENTRES = np.array([[-3.0, -3.0], [3.0, 3.0]])


def test_500_mixed_rows_after_10_000_of_one_class_are_enough() -> None:
    rng = np.random.default_rng(0)

    def rows(y: np.ndarray) -> np.ndarray:
        return np.hstack([rng.normal(size=(len(y), 2)) + CENTRES[y], rng.normal(size=(len(y), 8))])

    model = SmartClassifier("100kB", random_state=0)
    for y in (np.zeros(10_000, dtype=int), rng.integers(2, size=500)):
        model.partial_fit(rows(y), y, classes=[0, 1])
    y = rng.integers(2, size=2000)
    assert balanced_accuracy_score(y, model.predict(rows(y))) > 0.9
