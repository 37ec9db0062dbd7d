"""Calibration of event probabilities by the outcomes (Platt 1999)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression

#: Forecasts this close to certainty are taken as this certain.
CERTAIN = 1e-6
#: The least number of outcomes of a kind that calibration is fitted to.
LEAST_OUTCOMES = 10


@dataclass(frozen=True)
class EventCalibration:
    """The logit of a probability, stretched and shifted; as it is unless fitted.

    >>> EventCalibration()(np.array([0.2])), EventCalibration(slope=0.0, shift=0.0)(np.array([0.2]))
    (array([0.2]), array([0.5]))
    """

    slope: float = 1.0
    shift: float = 0.0

    @classmethod
    def fit(cls, probabilities: NDArray[np.floating[Any]], outcomes: NDArray[np.int64]) -> EventCalibration:
        """The likeliest for these outcomes. A forecast without information becomes their share."""
        if min((outcomes == 1).sum(), (outcomes == 0).sum()) < LEAST_OUTCOMES:
            return cls()
        fitted = LogisticRegression().fit(_logits(probabilities)[:, None], outcomes)
        if fitted.coef_[0, 0] <= 0:
            return cls(0.0, float(logit(outcomes.mean())))
        return cls(float(fitted.coef_[0, 0]), float(fitted.intercept_[0]))

    def __call__(self, probabilities: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
        scaled: NDArray[np.float64] = expit(self.slope * _logits(probabilities) + self.shift)
        return scaled


def _logits(probabilities: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    logits: NDArray[np.float64] = logit(np.clip(probabilities.astype(np.float64), CERTAIN, 1 - CERTAIN))
    return logits
