"""A stream made of tasks with test sets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch

    from smartcl.data.batch import Batch, Ints
    from smartcl.data.spec import InputSpec

# one random stream per purpose, apart from the small task numbers that a TaskStream draws its orders from
MISPLACE, HOLD_OUT, SAMPLE, CORRUPT = (0x5EED0000 + purpose for purpose in range(4))


@dataclass(frozen=True)
class Task:
    """One task of a benchmark: what is learned from, and what is tested on.

    ``train.y`` may be corrupted; ``true_y`` and ``origin`` (the task an example really belongs to) are kept
    aside for analysis and never reach a learner. Where ``train`` was drawn so that its classes are equally many,
    ``class_counts`` says how many samples of each there were to draw from.
    """

    train: Batch
    test: Batch
    true_y: torch.Tensor
    origin: torch.Tensor
    class_counts: tuple[int, ...] | None = None


@dataclass(frozen=True)
class TaskStream:
    """Tasks one after the other, cut into batches: iterate to learn, read ``tasks`` to test.

    Each epoch visits a task's samples in an order drawn from ``seed``. Batches carry the task's number and
    each sample's position in the stream as ``ids``. Features and tasks have names where the data give them, and
    ``source`` says which data these really are where a name can stand for more than one.
    """

    name: str
    spec: InputSpec
    tasks: tuple[Task, ...]
    batch_size: int
    seed: int
    epochs: int = 1
    feature_names: tuple[str, ...] | None = None
    task_names: tuple[str, ...] | None = None
    source: str = ""

    def __post_init__(self) -> None:
        if self.feature_names is not None and len(self.feature_names) != self.n_features:
            raise ValueError(f"one name per feature: {self.n_features} features, {len(self.feature_names)} names")
        if self.task_names is not None and len(self.task_names) != len(self.tasks):
            raise ValueError(f"one name per task: {len(self.tasks)} tasks, {len(self.task_names)} names")

    @property
    def n_features(self) -> int:
        return self.spec.n_features

    @property
    def n_classes(self) -> int:
        return self.spec.n_classes

    def __len__(self) -> int:
        """The number of batches."""
        return self.epochs * sum(-(-len(task.train) // self.batch_size) for task in self.tasks)

    def __iter__(self) -> Iterator[Batch]:
        for number in range(len(self.tasks)):
            yield from self.batches_of(number)

    def batches_of(self, number: int) -> Iterator[Batch]:
        """The batches of one task, all its epochs."""
        rng = np.random.default_rng([self.seed, number])
        train = self.task_batch(number)
        for _ in range(self.epochs):
            order: Ints = rng.permutation(len(train))
            for start in range(0, len(train), self.batch_size):
                yield train.take(order[start : start + self.batch_size])

    def task_batch(self, number: int) -> Batch:
        """All training samples of a task as one batch, with its number and the samples' ids."""
        first = sum(len(task.train) for task in self.tasks[:number])
        train = self.tasks[number].train
        return replace(train, task=number, ids=np.arange(first, first + len(train), dtype=np.int64))
