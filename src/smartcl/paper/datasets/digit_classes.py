"""Digit images as ten classes, a pair of them at a time: one head of ten outputs, and no task tells which pair it is.

Images, order and noise are those of the two-label streams of ``digit_pairs``; the labels are the digits.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from smartcl.paper.datasets.corruption import NoiseModel
from smartcl.paper.datasets.digit_pairs import disjoint_digits, disjoint_mnist
from smartcl.paper.datasets.digits import N_DIGITS
from smartcl.paper.datasets.protocols import LONG, SMALL, DigitProtocol
from smartcl.paper.datasets.task_stream import Task, TaskStream


def class_mnist(
    seed: int = 0,
    noise: NoiseModel | str | None = None,
    data_dir: Path | str | None = None,
    protocol: DigitProtocol = LONG,
) -> TaskStream:
    """Ten classes of MNIST, two at a time, every image once; without MNIST as ``disjoint_mnist``."""
    return digits_for_labels(disjoint_mnist(seed, noise, data_dir, protocol))


def class_digits(
    seed: int = 0,
    noise: NoiseModel | str | None = None,
    data_dir: Path | str | None = None,
    protocol: DigitProtocol = SMALL,
) -> TaskStream:
    """As ``class_mnist`` on scikit-learn's 8x8 digits.

    >>> stream = class_digits()
    >>> stream.name, stream.n_classes, [sorted(set(task.train.y.tolist())) for task in stream.tasks[:2]]
    ('class-digits', 10, [[0, 1], [2, 3]])
    """
    return digits_for_labels(disjoint_digits(seed, noise, data_dir, protocol))


def digits_for_labels(pairs: TaskStream) -> TaskStream:
    """The same stream, its two labels replaced by the digits they stand for."""
    return replace(
        pairs,
        name=pairs.name.replace("disjoint", "class", 1),
        spec=replace(pairs.spec, n_classes=N_DIGITS),
        tasks=tuple(_as_digits(number, task) for number, task in enumerate(pairs.tasks)),
    )


def _as_digits(number: int, task: Task) -> Task:
    """A pair's first digit is even and has the label 1."""
    return replace(
        task,
        train=replace(task.train, y=2 * number + 1 - task.train.y),
        test=replace(task.test, y=2 * number + 1 - task.test.y),
        true_y=2 * task.origin + 1 - task.true_y,
    )
