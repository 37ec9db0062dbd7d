"""Testing a learner on the tasks of a stream."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from smartcl.learners.learner import Learner
from smartcl.streams.batch import Batch
from smartcl.streams.stream import Task


def accuracies(learner: Learner, tasks: Sequence[Task]) -> list[float]:
    """Percent of each task's test samples that are predicted right."""
    return [100.0 * float((predicted(learner, task.test) == task.test.y.numpy()).mean()) for task in tasks]


def predicted(learner: Learner, batch: Batch) -> NDArray[np.int64]:
    """The most likely class of each sample."""
    labels: NDArray[np.int64] = learner.predict_proba(batch.x).argmax(dim=1).numpy()
    return labels


def balanced_accuracy(learner: Learner, batch: Batch) -> float:
    """The mean of the classes' recalls, in percent."""
    return 100.0 * float(balanced_accuracy_score(batch.y.numpy(), predicted(learner, batch)))


def auc(learner: Learner, batch: Batch) -> float:
    """The area under the ROC curve of class 1 against class 0; 0.5 where only one class is there to test."""
    truth = batch.y.numpy()
    if len(np.unique(truth)) < 2:
        return 0.5
    return float(roc_auc_score(truth, learner.predict_proba(batch.x)[:, 1].numpy()))
