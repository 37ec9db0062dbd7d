"""Reference forecasts: the majority, the base rate of each place, offline logistic regression."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from smartcl.data.batch import Doubles, Ints, Rows
from smartcl.data.spec import InputSpec
from smartcl.network.inputs import SparseInput, prepare
from smartcl.paper.datasets.task_stream import Task, TaskStream
from smartcl.paper.scores.task_scores import Scores

#: The default of 1e-4 stops short: the last digit of the scores would depend on the solver.
TOLERANCE, STEPS = 1e-6, 10_000


def majority(stream: TaskStream) -> list[Scores]:
    """The one class commonest on the training days of all places, always."""
    counts = np.sum([class_counts(task, stream.n_classes) for task in stream.tasks], axis=0)
    always = np.eye(stream.n_classes)[counts.argmax()]
    return [constant_scores(always, task) for task in stream.tasks]


def base_rate(stream: TaskStream) -> list[Scores]:
    """In each place, the share of every class on its training days as a probability that never changes."""
    counts = [class_counts(task, stream.n_classes) for task in stream.tasks]
    return [constant_scores(of / of.sum(), task) for of, task in zip(counts, stream.tasks, strict=True)]


def logistic_regression(stream: TaskStream) -> list[Scores]:
    """One model for all tasks, trained offline on all the samples that a learner sees, with the labels it sees.

    The penalty is scikit-learn's own (C = 1), not tuned to any stream.
    """
    # scikit-learn takes seconds to import, and only this line needs it here
    from sklearn.linear_model import LogisticRegression

    rows = [features(task.train.x, stream.spec) for task in stream.tasks]
    together = sparse.vstack(rows) if stream.spec.sparse else np.concatenate(rows)
    labels = np.concatenate([task.train.y.numpy() for task in stream.tasks])
    model = LogisticRegression(solver="newton-cg", tol=TOLERANCE, max_iter=STEPS).fit(together, labels)
    tests = []
    for task in stream.tasks:
        probabilities = np.zeros((len(task.test), stream.n_classes))
        probabilities[:, model.classes_] = model.predict_proba(features(task.test.x, stream.spec))
        tests.append(Scores.of(probabilities, task.test.y.numpy()))
    return tests


#: Every reference line by its name in a result.
REFERENCES: dict[str, Callable[[TaskStream], list[Scores]]] = {
    "majority": majority,
    "base_rate": base_rate,
    "logistic_regression": logistic_regression,
}


def class_counts(task: Task, n_classes: int) -> Ints:
    """How many training samples of each class there were before any were drawn to balance the classes."""
    if task.class_counts is not None:
        return np.array(task.class_counts)
    return np.bincount(task.train.y.numpy(), minlength=n_classes)


def constant_scores(probabilities: Doubles, task: Task) -> Scores:
    """The scores of the same probabilities for every test sample."""
    return Scores.of(np.tile(probabilities, (len(task.test), 1)), task.test.y.numpy())


def features(x: Rows, spec: InputSpec) -> Any:
    """Rows as the network sees them, in the form that scikit-learn takes."""
    rows = prepare(x, spec)
    return (rows.to_scipy() if isinstance(rows, SparseInput) else np.asarray(rows)).astype(np.float64)
