"""Metrics against their definitions written out, and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from smartcl.paper.scores.task_scores import Scores, backward_transfer, forgetting

matrices = st.integers(2, 6).flatmap(lambda n: arrays(np.float64, (n, n), elements=st.floats(0, 100)))


@given(matrices)
def test_matrix_metrics_by_loops(matrix):
    n = len(matrix)
    falls = [max(matrix[i][j] for i in range(n - 1)) - matrix[n - 1][j] for j in range(n - 1)]
    moves = [matrix[n - 1][j] - matrix[j][j] for j in range(n - 1)]
    assert forgetting(matrix) == pytest.approx(sum(falls) / (n - 1))
    assert backward_transfer(matrix) == pytest.approx(sum(moves) / (n - 1))


def test_one_task_has_nothing_to_forget():
    assert forgetting(np.array([[80.0]])) == backward_transfer(np.array([[80.0]])) == 0.0


@given(arrays(np.float64, (12, 2), elements=st.floats(0, 1)), arrays(np.int64, 12, elements=st.integers(0, 1)))
def test_scores_by_loops_over_pairs(probabilities, truth):
    scores = Scores.of(probabilities, truth)
    guess = np.array([0 if row[0] >= row[1] else 1 for row in probabilities])
    assert scores.accuracy == pytest.approx(100 * np.mean(guess == truth))
    recalls = [np.mean(guess[truth == label] == label) for label in set(truth)]
    assert scores.balanced_accuracy == pytest.approx(100 * np.mean(recalls))
    positive, negative = probabilities[truth == 1, 1], probabilities[truth == 0, 1]
    wins = [1.0 if p > n else 0.5 if p == n else 0.0 for p in positive for n in negative]
    assert scores.auc == pytest.approx(np.mean(wins) if wins else 0.5)


def test_three_classes_have_no_auc():
    assert Scores.of(np.eye(3), np.arange(3)) == Scores(100.0, 100.0, None)
