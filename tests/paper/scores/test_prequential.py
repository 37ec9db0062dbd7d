"""Prequential evaluation against the same thing written out row by row."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from smartcl.paper.scores.prequential import BATCH_ROWS, measures, prequential


class Commonest:
    """Names the labels in the order of how often it has seen them; counts what it was asked and told."""

    def __init__(self, classes):
        self.seen, self.calls = np.zeros(classes), []

    def learn(self, X, y):
        self.calls.append(("learn", X[:, 0].tolist()))
        self.seen += np.bincount(y, minlength=len(self.seen))

    def scores(self, X):
        self.calls.append(("predict", X[:, 0].tolist()))
        return np.tile(self.seen, (len(X), 1)) + X[:, :1] % 7 * np.eye(len(self.seen))[0]


def made_stream(rows, classes, seed=0):
    rng = np.random.default_rng(seed)
    return np.arange(rows, dtype=np.float32)[:, None], rng.choice(classes, rows, p=[0.5, 0.3, 0.2][:classes])


def test_each_batch_is_predicted_and_then_learned_and_the_first_is_only_learned():
    X, y = made_stream(3 * BATCH_ROWS + 7, 3)
    model = Commonest(3)
    result = prequential(model, X, y)
    cuts = [range(i, min(i + BATCH_ROWS, len(y))) for i in range(0, len(y), BATCH_ROWS)]
    expected = [("learn", list(cuts[0]))]
    for cut in cuts[1:]:
        expected += [("predict", list(cut)), ("learn", list(cut))]
    assert model.calls == expected

    right, pairs, seen = [], [], Counter(y[:BATCH_ROWS].tolist())
    for cut in cuts[1:]:
        count = 0
        for row in cut:
            votes = [seen[label] + (row % 7 if label == 0 else 0) for label in range(3)]
            said = votes.index(max(votes))
            pairs.append((said, int(y[row])))
            count += said == y[row]
        right.append(count)
        seen.update(y[cut.start : cut.stop].tolist())
    assert result["correct"] == right
    assert result["accuracy"] == pytest.approx(100 * sum(right) / (len(y) - BATCH_ROWS))
    agreed = sum(a == b for a, b in pairs) / len(pairs)
    by_chance = sum(
        sum(a == label for a, _ in pairs) * sum(b == label for _, b in pairs) / len(pairs) ** 2 for label in range(3)
    )
    assert result["kappa"] == pytest.approx((agreed - by_chance) / (1 - by_chance))
    assert result["auc"] is None
    assert result["rows"] == len(y)
    assert result["pickled_bytes"] > 8 * len(model.seen)


def test_two_classes_are_ranked_by_every_pair():
    rng = np.random.default_rng(1)
    y = rng.integers(2, size=120)
    scores = np.stack([np.zeros(120), np.round(rng.normal(size=120) + y, 1)], axis=1)
    wins = [
        (scores[i, 1] > scores[j, 1]) + 0.5 * (scores[i, 1] == scores[j, 1])
        for i in np.flatnonzero(y == 1)
        for j in np.flatnonzero(y == 0)
    ]
    found = measures(scores, y)
    assert found["auc"] == pytest.approx(np.mean(wins))
    assert 0 < found["average_precision"] < 1


def test_one_class_alone_has_no_kappa_and_no_auc():
    found = measures(np.array([[2.0, 1.0]] * 3), np.zeros(3, dtype=np.int64))
    assert (found["accuracy"], found["kappa"], found["auc"], found["average_precision"]) == (100.0, None, None, None)
