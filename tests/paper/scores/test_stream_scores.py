"""Scores of a stream's probabilities against scikit-learn, and against the formula written out row by row."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from smartcl.paper.scores.probability_scores import accuracy_by_tenth, calibration_error, log_loss, stream_scores


def made_answers(rows: int, classes: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    probabilities = rng.dirichlet(np.ones(classes), rows)
    y = np.array([rng.choice(classes, p=row**2 / (row**2).sum()) for row in probabilities])
    return probabilities, y


def slow_calibration_error(probabilities: np.ndarray, y: np.ndarray, bins: int) -> float:
    """Row by row: each bin has its lower edge and not its upper one, the last bin has both."""
    edges = np.arange(bins + 1) / bins
    error = 0.0
    for number in range(bins):
        inside = []
        for row, label in zip(probabilities, y, strict=True):
            answer = int(np.argmax(row))
            last = number == bins - 1 and row[answer] == 1.0
            if edges[number] <= row[answer] < edges[number + 1] or last:
                inside.append((row[answer], answer == label))
        if inside:
            confidence, right = np.mean([pair[0] for pair in inside]), np.mean([pair[1] for pair in inside])
            error += len(inside) / len(y) * abs(confidence - right)
    return error


@pytest.mark.parametrize("classes", [2, 5])
def test_scores_are_those_of_scikit_learn(classes):
    probabilities, y = made_answers(400, classes)
    found, said = stream_scores(probabilities, y), probabilities.argmax(axis=1)
    assert found["accuracy"] == pytest.approx(100 * metrics.accuracy_score(y, said))
    assert found["balanced_accuracy"] == pytest.approx(100 * metrics.balanced_accuracy_score(y, said))
    assert found["log_loss"] == pytest.approx(metrics.log_loss(y, probabilities, labels=range(classes)))
    assert ("auc" in found) == (classes == 2)
    if classes == 2:
        assert found["auc"] == pytest.approx(metrics.roc_auc_score(y, probabilities[:, 1]))


@given(st.integers(2, 6), st.integers(1, 20), st.integers(0, 1000))
def test_the_calibration_error_is_its_formula(classes, bins, seed):
    probabilities, y = made_answers(60, classes, seed)
    found = calibration_error(probabilities, y, bins)
    assert found == pytest.approx(slow_calibration_error(probabilities, y, bins), abs=1e-12)
    assert 0 <= found <= 1


def test_certain_answers_are_calibrated_as_far_as_they_are_right():
    certain = np.eye(3)[[0, 1, 2, 0]]
    assert calibration_error(certain, np.array([0, 1, 2, 0])) == 0
    assert calibration_error(certain, np.array([0, 1, 2, 1])) == pytest.approx(0.25)


def test_a_class_thought_impossible_costs_a_limited_loss():
    impossible = np.array([[1.0, 0.0]])
    assert log_loss(impossible, np.array([1])) == pytest.approx(np.log(1e6))
    assert log_loss(impossible, np.array([0])) == 0


def test_tenths_are_of_the_rows_in_their_order():
    y = np.repeat(np.arange(10) % 2, 7)
    assert accuracy_by_tenth(np.tile([0.4, 0.6], (70, 1)), y) == [0.0, 100.0] * 5
    probabilities, y = made_answers(203, 3)
    tenths = accuracy_by_tenth(probabilities, y)
    weights = [len(part) for part in np.array_split(y, 10)]
    assert np.average(tenths, weights=weights) == pytest.approx(stream_scores(probabilities, y)["accuracy"])
