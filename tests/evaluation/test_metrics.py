"""Metrics against their definitions written out, and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from helpers import SMALL, small_batches, small_spec
from smartcl.evaluation.evaluate import auc, balanced_accuracy
from smartcl.evaluation.metrics import average_accuracy, backward_transfer, forgetting, forward_transfer
from smartcl.learners.methods import build_learner
from smartcl.streams.batch import Batch

matrices = st.integers(2, 6).flatmap(lambda n: arrays(np.float64, (n, n), elements=st.floats(0, 100)))


@given(matrices)
def test_matrix_metrics_by_loops(matrix):
    n = len(matrix)
    falls = [max(matrix[i][j] for i in range(n - 1)) - matrix[n - 1][j] for j in range(n - 1)]
    moves = [matrix[n - 1][j] - matrix[j][j] for j in range(n - 1)]
    ahead = [matrix[j - 1][j] - 50 for j in range(1, n)]
    assert forgetting(matrix) == pytest.approx(sum(falls) / (n - 1))
    assert backward_transfer(matrix) == pytest.approx(sum(moves) / (n - 1))
    assert forward_transfer(matrix, 50) == pytest.approx(sum(ahead) / (n - 1))
    assert average_accuracy(matrix) == pytest.approx(sum(matrix[-1]) / n)


def test_one_task_has_nothing_to_forget():
    assert forgetting(np.array([[80.0]])) == backward_transfer(np.array([[80.0]])) == 0.0


def test_balanced_accuracy_and_auc_by_hand():
    learner = build_learner("er", small_spec(), 900, **SMALL)
    for batch in small_batches():
        learner.observe(batch)
    batch = small_batches(1, 40, seed=9)[0]
    scores, truth = learner.predict_proba(batch.x)[:, 1], batch.y
    guess = learner.predict_proba(batch.x).argmax(dim=1)
    recalls = [float((guess[truth == label] == label).double().mean()) for label in (0, 1)]
    assert balanced_accuracy(learner, batch) == pytest.approx(100 * np.mean(recalls))
    positive, negative = scores[truth == 1], scores[truth == 0]
    pairs = (positive[:, None] > negative).double() + 0.5 * (positive[:, None] == negative).double()
    assert auc(learner, batch) == pytest.approx(float(pairs.mean()))
    assert auc(learner, Batch(batch.x, torch.zeros(40, dtype=torch.long))) == 0.5
