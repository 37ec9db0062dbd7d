"""Scores of the probabilities that a learner gave the rows of a stream, each row before it was learned."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np

from smartcl.data.batch import Doubles, Ints
from smartcl.paper.scores.task_scores import Scores

#: Bins of equal width that the calibration error compares confidence and accuracy in.
BINS = 15
#: The log loss takes no probability as smaller: one class that was never seen would outweigh all other rows.
LEAST = 1e-6


def stream_scores(probabilities: Doubles, y: Ints) -> dict[str, float]:
    """All scores by name. Accuracies are in percent; there is an AUC for two classes only.

    >>> stream_scores(np.array([[0.9, 0.1], [0.4, 0.6], [0.7, 0.3]]), np.array([0, 1, 1]))
    {'accuracy': 66.66..., 'balanced_accuracy': 75.0, 'auc': 1.0, 'log_loss': 0.606..., 'calibration_error': 0.400...}
    """
    known = {name: value for name, value in asdict(Scores.of(probabilities, y)).items() if value is not None}
    return {**known, "log_loss": log_loss(probabilities, y), "calibration_error": calibration_error(probabilities, y)}


def log_loss(probabilities: Doubles, y: Ints) -> float:
    """The mean of minus the logarithm of the probability that the true class was given."""
    given = probabilities[np.arange(len(y)), y]
    return float(-np.log(np.maximum(given, LEAST)).mean())


def calibration_error(probabilities: Doubles, y: Ints, bins: int = BINS) -> float:
    """The expected calibration error: how far the confidence of answers is from how often they are right.

    Rows are put into ``bins`` bins of equal width by the probability of the class that is answered. The error is the
    distance between mean confidence and accuracy in a bin, in the mean over bins by their number of rows.

    >>> calibration_error(np.array([[0.8, 0.2], [0.8, 0.2]]), np.array([0, 1]))
    0.3000...
    """
    confidence = probabilities.max(axis=1)
    right = probabilities.argmax(axis=1) == y
    place = np.minimum((confidence * bins).astype(np.int64), bins - 1)
    return float(np.abs(np.bincount(place, weights=confidence - right, minlength=bins)).sum() / len(y))


def accuracy_by_tenth(probabilities: Doubles, y: Ints) -> list[float]:
    """The accuracy in percent in each tenth of the rows, in their order."""
    right = probabilities.argmax(axis=1) == y
    return [100.0 * float(part.mean()) for part in np.array_split(right, 10)]
