"""Testing a learner on the tasks of a stream."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smartcl.events.scores import auc, balanced_accuracy
from smartcl.learners.learner import Learner
from smartcl.paper.datasets.task_stream import Task


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
        return cls(100.0 * float((guess == truth).mean()), balanced_accuracy(guess, truth), auc(probabilities, truth))


def score(learner: Learner, tasks: Sequence[Task]) -> list[Scores]:
    """The learner's scores on each task's test set."""
    return [Scores.of(learner.predict_proba(task.test.x).numpy(), task.test.y.numpy()) for task in tasks]


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
