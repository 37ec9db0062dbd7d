"""Digit images as five tasks, each telling one digit of a pair (0/1, 2/3, ... 8/9) from the other.

The label is 1 for the first digit of a pair and 0 for the second, in every task: one two-way head serves all. The
benchmarks are a thousand images a task (Tables 1, 2, 5), whole MNIST (Table 3), and scikit-learn's small digits.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from smartcl.data.batch import Batch, Bools, Ints
from smartcl.data.spec import InputSpec
from smartcl.paper.datasets.corruption import NoiseModel, corrupt, misplace
from smartcl.paper.datasets.digits import N_DIGITS, DigitImages, load_digit_images
from smartcl.paper.datasets.downloads import FetchError
from smartcl.paper.datasets.mnist import load_mnist
from smartcl.paper.datasets.protocols import DISJOINT, MNIST, SKLEARN_DIGITS, SMALL, SPLIT, DigitProtocol
from smartcl.paper.datasets.task_stream import CORRUPT, HOLD_OUT, MISPLACE, SAMPLE, Task, TaskStream

N_PAIRS = N_DIGITS // 2


def disjoint_mnist(
    seed: int = 0,
    noise: NoiseModel | str | None = None,
    data_dir: Path | str | None = None,
    protocol: DigitProtocol = DISJOINT,
) -> TaskStream:
    """1000 images per task, seen once in batches of 50.

    Without any source of MNIST, scikit-learn's digits serve: a warning, the stream's name and its source say so.
    """
    return _mnist_pairs("disjoint", protocol, seed, noise, data_dir)


def split_mnist(
    seed: int = 0,
    noise: NoiseModel | str | None = None,
    data_dir: Path | str | None = None,
    protocol: DigitProtocol = SPLIT,
) -> TaskStream:
    """All images, padded by 2 pixels, normalised, in batches of 128 for 4 epochs a task; else as ``disjoint_mnist``."""
    return _mnist_pairs("split", protocol, seed, noise, data_dir)


def disjoint_digits(
    seed: int = 0,
    noise: NoiseModel | str | None = None,
    data_dir: Path | str | None = None,
    protocol: DigitProtocol = SMALL,
) -> TaskStream:
    """As ``disjoint_mnist`` on scikit-learn's 8x8 digits: small, and always at hand, in no folder.

    >>> stream = disjoint_digits(noise="foreign:0.3")
    >>> stream.name, len(stream.tasks), len(stream), stream.n_features
    ('disjoint-digits', 5, 20, 64)
    """
    return pair_stream("disjoint-digits", load_digit_images(), protocol, seed, NoiseModel.parse(noise), SKLEARN_DIGITS)


def _mnist_pairs(
    kind: str, protocol: DigitProtocol, seed: int, noise: NoiseModel | str | None, data_dir: Path | str | None
) -> TaskStream:
    check_seed(seed)
    model = NoiseModel.parse(noise)
    images = mnist_or_digits(data_dir)
    if images.name == "mnist":
        return pair_stream(f"{kind}-mnist", images, protocol, seed, model, MNIST)
    if protocol.samples_per_task is not None:
        assert SMALL.samples_per_task is not None
        protocol = replace(protocol, samples_per_task=min(protocol.samples_per_task, SMALL.samples_per_task))
    name = f"{kind}-{images.name} ({images.source}: MNIST could not be had)"
    return pair_stream(name, images, protocol, seed, model, images.source)


def mnist_or_digits(data_dir: Path | str | None) -> DigitImages:
    """MNIST, or with a warning scikit-learn's digits if no source has it."""
    try:
        return load_mnist(data_dir)
    except FetchError as error:
        warnings.warn(f"scikit-learn's digits stand in for MNIST. {error}", stacklevel=4)
        return load_digit_images()


def pair_stream(
    name: str, images: DigitImages, protocol: DigitProtocol, seed: int, noise: NoiseModel, source: str
) -> TaskStream:
    """The five tasks of these images, in batches."""
    check_seed(seed)
    images = padded(images, protocol.padding)
    spec = InputSpec(
        images.train_x.shape[1],
        2,
        "uint8",
        offset=protocol.pixel_mean * images.peak,
        scale=1 / (protocol.pixel_std * images.peak),
        shape=(1, math.isqrt(images.train_x.shape[1]), math.isqrt(images.train_x.shape[1])),
    )
    tasks = pair_tasks(images, protocol.samples_per_task, seed, noise, protocol.validation)
    return TaskStream(name, spec, tasks, protocol.batch_size, seed, protocol.epochs, source=source)


def padded(images: DigitImages, margin: int) -> DigitImages:
    """The same images with a black margin; black is not zero once pixels are normalised."""

    def pad(x: NDArray[np.uint8]) -> NDArray[np.uint8]:
        side = math.isqrt(x.shape[1])
        square = np.pad(x.reshape(-1, side, side), ((0, 0), (margin, margin), (margin, margin)))
        return square.reshape(len(x), -1)

    return replace(images, train_x=pad(images.train_x), test_x=pad(images.test_x)) if margin else images


def pair_tasks(
    images: DigitImages, samples_per_task: int | None, seed: int, noise: NoiseModel, validation: float
) -> tuple[Task, ...]:
    """Cut the images into the five tasks; ``samples_per_task=None`` takes all."""
    true = images.train_y
    shown = misplace(true, N_DIGITS, noise, np.random.default_rng([seed, MISPLACE]))
    held_out = hold_out(true, validation, seed)
    tasks = []
    for pair in range(N_PAIRS):
        pool = np.flatnonzero(~held_out & (shown // 2 == pair))
        if samples_per_task is not None and samples_per_task > len(pool):
            raise ValueError(
                f"samples_per_task must be at most {len(pool)}, the training images that task {pair} "
                f"(digits {2 * pair}/{2 * pair + 1}) has left, got {samples_per_task}"
            )
        chosen = np.random.default_rng([seed, SAMPLE, pair]).permutation(pool)[:samples_per_task]
        y = pair_label(shown[chosen])
        if not noise.misplaces:
            y = corrupt(y, 2, noise, np.random.default_rng([seed, CORRUPT, pair]))
        if validation:
            test = held_out & (true // 2 == pair)
            test_x, test_y = images.train_x[test], true[test]
        else:
            test = images.test_y // 2 == pair
            test_x, test_y = images.test_x[test], images.test_y[test]
        tasks.append(
            Task(
                train=Batch(torch.from_numpy(images.train_x[chosen]), torch.from_numpy(y)),
                test=Batch(torch.from_numpy(test_x), torch.from_numpy(pair_label(test_y))),
                true_y=torch.from_numpy(pair_label(true[chosen])),
                origin=torch.from_numpy(true[chosen] // 2),
            )
        )
    return tuple(tasks)


def pair_label(digits: Ints) -> Ints:
    """1 for the first digit of its pair, 0 for the second.

    >>> pair_label(np.array([0, 1, 8, 9]))
    array([1, 0, 1, 0])
    """
    return 1 - digits % 2


def hold_out(digits: Ints, share: float, seed: int) -> Bools:
    """Which images are held out: this share of each pair, drawn by the seed."""
    held_out = np.zeros(len(digits), dtype=np.bool_)
    for pair in range(N_PAIRS):
        members = np.flatnonzero(digits // 2 == pair)
        n = round(share * len(members))
        if share and not n:
            raise ValueError(f"validation={share} holds out no image of task {pair}, which has {len(members)}")
        held_out[np.random.default_rng([seed, HOLD_OUT, pair]).permutation(members)[:n]] = True
    return held_out


def check_seed(seed: int) -> None:
    if seed < 0:
        raise ValueError(f"seed must be at least 0, got {seed}")
