"""Dense rows of floats, such as embeddings are: MNIST by a fixed random projection, two new digits in each task."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from smartcl.data.batch import Batch, Rows
from smartcl.data.spec import InputSpec
from smartcl.paper.datasets.corruption import NoiseModel
from smartcl.paper.datasets.digit_pairs import check_seed, mnist_or_digits, pair_tasks
from smartcl.paper.datasets.digits import N_DIGITS
from smartcl.paper.datasets.protocols import DISJOINT, MNIST, SMALL, DigitProtocol
from smartcl.paper.datasets.task_stream import Task, TaskStream

#: The floats of a row.
WIDTH = 64


def projected_mnist(
    seed: int = 0,
    noise: NoiseModel | str | None = None,
    data_dir: Path | str | None = None,
    protocol: DigitProtocol = DISJOINT,
) -> TaskStream:
    """The images of ``disjoint_mnist`` as 64 floats each, and ten classes, of which each task brings two."""
    check_seed(seed)
    images = mnist_or_digits(data_dir)
    directions = np.random.default_rng(0).normal(size=(images.train_x.shape[1], WIDTH))
    seen = images.train_x @ directions
    mean, deviation = seen.mean(axis=0), seen.std(axis=0)

    def projected(x: Rows) -> torch.Tensor:
        rows: NDArray[np.float64] = (np.asarray(x) @ directions - mean) / deviation
        return torch.from_numpy(rows.astype(np.float32))

    def task_of(number: int, task: Task) -> Task:
        train = Batch(projected(task.train.x), digits(task.train.y, number))
        test = Batch(projected(task.test.x), digits(task.test.y, number))
        return replace(task, train=train, test=test, true_y=2 * task.origin + 1 - task.true_y)

    real = images.name == "mnist"
    per_task = protocol.samples_per_task if real else SMALL.samples_per_task
    pairs = pair_tasks(images, per_task, seed, NoiseModel.parse(noise), protocol.validation)
    tasks = tuple(task_of(number, task) for number, task in enumerate(pairs))
    spec = InputSpec(WIDTH, N_DIGITS, "float32")
    name = f"projected-{images.name}"
    source = MNIST if real else images.source
    return TaskStream(name, spec, tasks, protocol.batch_size, seed, protocol.epochs, source=source)


def digits(pair_labels: torch.Tensor, pair: int) -> torch.Tensor:
    """The digits that labels within a pair stand for.

    >>> digits(torch.tensor([1, 0]), pair=4)
    tensor([8, 9])
    """
    return 2 * pair + 1 - pair_labels
