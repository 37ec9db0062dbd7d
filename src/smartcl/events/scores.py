"""Scores of event forecasts, beside forecasts that need no learning."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from smartcl.data.batch import Doubles, Ints
from smartcl.events.counts import UNKNOWN


@dataclass(frozen=True)
class ForecastScores:
    """Scores of forecasts whose outcomes are known; ``None`` where all outcomes are alike.

    ``balanced_accuracy`` (percent) is that of warning wherever the probability is above ``usual``, the share of events
    that was known that day: the threshold that serves this score best if probabilities are true.

    >>> half = np.full(4, 0.5)
    >>> ForecastScores.of(np.array([0.9, 0.6, 0.4, 0.1]), half, np.array([1, 0, 0, 0]))
    ForecastScores(forecasts=4, events=1, auc=1.0, balanced_accuracy=83.3..., brier=0.135)
    >>> ForecastScores.of(half, half, np.zeros(4, dtype=np.int64)).auc is None
    True
    """

    forecasts: int
    events: int
    auc: float | None
    balanced_accuracy: float | None
    brier: float

    @classmethod
    def of(cls, probability: Doubles, usual: Doubles, labels: Ints) -> ForecastScores:
        """The scores of forecasts of any shape; those of ``UNKNOWN`` outcome are left out."""
        tested = labels != UNKNOWN
        probability, usual, labels = probability[tested], usual[tested], labels[tested]
        both = 0 < labels.sum() < len(labels)
        return cls(
            len(labels),
            int(labels.sum()),
            auc(np.stack([1 - probability, probability], axis=1), labels) if both else None,
            balanced_accuracy((probability > usual).astype(np.int64), labels) if both else None,
            float(np.mean((probability - labels) ** 2)),
        )


def scores_by_place(probability: Doubles, usual: Doubles, labels: Ints) -> list[ForecastScores]:
    """The scores of each place, a column of ``[day, place]``."""
    return [ForecastScores.of(*columns) for columns in zip(probability.T, usual.T, labels.T, strict=True)]


def auc_within_places(scores: list[ForecastScores]) -> float | None:
    """The mean AUC of the places that have one: what is known beyond which place has many events."""
    areas = [each.auc for each in scores if each.auc is not None]
    return fmean(areas) if areas else None


def balanced_accuracy(guess: NDArray[np.int64], truth: NDArray[np.int64]) -> float:
    """The mean recall, in percent, of the classes that are there to test."""
    return 100.0 * fmean(float((guess[truth == label] == label).mean()) for label in np.unique(truth))


def auc(probabilities: NDArray[np.floating[Any]], truth: NDArray[np.int64]) -> float | None:
    """The area under the ROC curve of class 1 against class 0: 0.5 with one class to test, None with more than two."""
    if probabilities.shape[1] != 2:
        return None
    if len(np.unique(truth)) < 2:
        return 0.5
    return float(roc_auc_score(truth, probabilities[:, 1]))
