from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, brier_score_loss, roc_auc_score

from smartcl.events.counts import UNKNOWN
from smartcl.events.scores import ForecastScores, auc_within_places, scores_by_place


def test_scores_are_those_of_scikit_learn_on_known_outcomes() -> None:
    rng = np.random.default_rng(0)
    probability, usual = rng.random((50, 3)), rng.uniform(0.2, 0.6, (50, 3))
    labels = rng.choice([0, 1, UNKNOWN], (50, 3), p=[0.6, 0.3, 0.1])
    labels[:, 2] = np.minimum(labels[:, 2], 0)
    overall = ForecastScores.of(probability, usual, labels)
    known = labels != UNKNOWN
    p, y, warned = probability[known], labels[known], (probability > usual)[known]
    assert (overall.forecasts, overall.events) == (known.sum(), (labels == 1).sum())
    assert overall.auc == pytest.approx(roc_auc_score(y, p))
    assert overall.brier == pytest.approx(brier_score_loss(y, p))
    assert overall.balanced_accuracy == pytest.approx(100 * balanced_accuracy_score(y, warned))
    places = scores_by_place(probability, usual, labels)
    assert [each.events for each in places] == [(column == 1).sum() for column in labels.T]
    assert places[2].auc is None
    assert places[2].balanced_accuracy is None
    mine = [roc_auc_score(labels[known[:, i], i], probability[known[:, i], i]) for i in (0, 1)]
    assert auc_within_places(places) == pytest.approx(np.mean(mine))
    assert auc_within_places(places[2:]) is None
