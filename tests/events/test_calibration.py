from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, logit

from smartcl.events.event_calibration import EventCalibration


def test_an_overconfident_forecast_is_brought_to_scale() -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(-1, 1, 4000)
    outcomes = (rng.random(4000) < expit(truth)).astype(np.int64)
    fitted = EventCalibration.fit(expit(3 * truth + 1), outcomes)

    def loss(line: np.ndarray) -> float:
        return float(np.mean(np.logaddexp(0, (1 - 2 * outcomes) * (line[0] * (3 * truth + 1) + line[1]))))

    best = minimize(loss, [1.0, 0.0]).x
    assert [fitted.slope, fitted.shift] == pytest.approx(best, abs=1e-2)
    assert [fitted.slope, fitted.shift] == pytest.approx([1 / 3, -1 / 3], abs=0.05)
    assert fitted(np.array([expit(1.0)])) == pytest.approx(expit(fitted.slope + fitted.shift))


def test_a_forecast_that_tells_the_contrary_becomes_the_share() -> None:
    outcomes = np.array([1] * 20 + [0] * 60)
    fitted = EventCalibration.fit(np.where(outcomes == 1, 0.2, 0.6), outcomes)
    assert fitted(np.array([0.01, 0.99])) == pytest.approx([0.25, 0.25])
    assert fitted == EventCalibration(0.0, pytest.approx(float(logit(0.25))))


def test_few_outcomes_change_nothing() -> None:
    assert EventCalibration.fit(np.full(50, 0.9), np.array([1] * 9 + [0] * 41)) == EventCalibration()


def test_certainty_stays_finite() -> None:
    assert np.isfinite(EventCalibration(2.0, 1.0)(np.array([0.0, 1.0], dtype=np.float32))).all()
