"""Testing a learner on the tasks of a stream, and what is made of the tests.

In an accuracy matrix ``A``, ``A[i, j]`` is the accuracy on task ``j`` after learning task ``i``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from smartcl.events.scores import auc, balanced_accuracy
from smartcl.learners.stream_learner import StreamLearner
from smartcl.paper.datasets.task_stream import Task

Matrix = NDArray[np.float64]
AnyScore = TypeVar("AnyScore")


@dataclass(frozen=True)
class Scores:
    """How good probabilities are on one test set: percent right, mean recall of the classes in percent, and AUC.

    >>> Scores.of(np.array([[0.9, 0.1], [0.4, 0.6], [0.7, 0.3]]), np.array([0, 1, 1]))
    Scores(accuracy=66.66..., balanced_accuracy=75.0, auc=1.0)
    """

    accuracy: float
    balanced_accuracy: float
    auc: float | None

    @classmethod
    def of(cls, probabilities: NDArray[np.floating[Any]], truth: NDArray[np.int64]) -> Scores:
        guess = probabilities.argmax(axis=1)
        return cls(accuracy(probabilities, truth), balanced_accuracy(guess, truth), auc(probabilities, truth))


def accuracy(probabilities: NDArray[np.floating[Any]], truth: NDArray[np.int64]) -> float:
    """Percent right."""
    return 100.0 * float((probabilities.argmax(axis=1) == truth).mean())


def tested(learner: StreamLearner, tasks: Sequence[Task], by: Callable[..., AnyScore]) -> list[AnyScore]:
    """What this score says of the learner on each task's test set.

    A run asks for the ``accuracy`` after each task and for all ``Scores`` at its end: with forty tasks the areas under
    the curves would take a tenth of it.
    """
    return [by(learner.predict_proba(task.test.x).numpy(), task.test.y.numpy()) for task in tasks]


def means(scores: Sequence[Scores]) -> dict[str, float | None]:
    """Each score's mean over tasks.

    >>> means([Scores(50.0, 50.0, 0.5), Scores(100.0, 90.0, 1.0)])
    {'accuracy': 75.0, 'balanced_accuracy': 70.0, 'auc': 0.75}
    """
    areas = [each.auc for each in scores if each.auc is not None]
    return {
        "accuracy": fmean(each.accuracy for each in scores),
        "balanced_accuracy": fmean(each.balanced_accuracy for each in scores),
        "auc": fmean(areas) if areas else None,
    }


def summary(scores: Sequence[Scores]) -> dict[str, Any]:
    """Each score's mean over tasks, and its values task by task.

    >>> summary([Scores(50.0, 50.0, 0.5), Scores(100.0, 90.0, 1.0)])["auc_per_task"]
    [0.5, 1.0]
    """
    return {
        **means(scores),
        "accuracy_per_task": [each.accuracy for each in scores],
        "balanced_accuracy_per_task": [each.balanced_accuracy for each in scores],
        "auc_per_task": [each.auc for each in scores],
    }


def forgetting(matrix: Matrix) -> float:
    """How far each earlier task fell from its best accuracy, on average (Chaudhry et al. 2018).

    >>> forgetting(np.array([[90.0, 50.0], [80.0, 100.0]]))
    10.0
    """
    if len(matrix) < 2:
        return 0.0
    return float((matrix[:-1].max(axis=0) - matrix[-1])[:-1].mean())


def backward_transfer(matrix: Matrix) -> float:
    """What later tasks did to the accuracy each task had when it was learned (Lopez-Paz & Ranzato 2017).

    >>> backward_transfer(np.array([[90.0, 50.0], [80.0, 100.0]]))
    -10.0
    """
    if len(matrix) < 2:
        return 0.0
    return float((matrix[-1] - matrix.diagonal())[:-1].mean())
