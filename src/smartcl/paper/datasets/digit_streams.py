"""The benchmarks of digit pairs: a thousand images a task (Tables 1, 2, 5), whole MNIST (Table 3)."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from smartcl.data.spec import InputSpec
from smartcl.paper.datasets.chunks import FetchError
from smartcl.paper.datasets.corruption import NoiseModel
from smartcl.paper.datasets.digit_tasks import pair_tasks
from smartcl.paper.datasets.digits import DigitImages, load_digit_images
from smartcl.paper.datasets.mnist import load_mnist
from smartcl.paper.datasets.task_stream import TaskStream

#: Training images per task that scikit-learn's set has in every task, also after foreign noise.
DIGITS_PER_TASK = 200

# the mean and standard deviation of an MNIST pixel in 0..1, rounded as Hsu et al. (2018) use them
PIXEL_MEAN, PIXEL_STD = 0.1, 0.2752
# and their margin: 28 x 28 becomes 32 x 32
PADDING = 2


def disjoint_mnist(
    samples_per_task: int = 1000,
    seed: int = 0,
    noise: NoiseModel | str | None = None,
    *,
    validation: float = 0.0,
    data_dir: Path | str | None = None,
) -> TaskStream:
    """The protocol of Tables 1, 2 and 5: 1000 images per task, seen once in batches of 50.

    ``validation`` holds out that share of each task's training images, clean, as the test set. Without any
    source of MNIST, scikit-learn's digits serve: a warning and the stream's name say so.

    >>> disjoint_mnist(samples_per_task=0)
    Traceback (most recent call last):
    ValueError: samples_per_task must be at least 1, got 0
    """
    check_arguments(seed, validation, samples_per_task)
    model = NoiseModel.parse(noise)
    images = mnist_or_digits(data_dir)
    if images.name == "digits":
        samples_per_task = min(samples_per_task, DIGITS_PER_TASK)
    return disjoint_stream(stream_name("disjoint", images), images, samples_per_task, seed, model, validation)


def disjoint_digits(
    samples_per_task: int = DIGITS_PER_TASK,
    seed: int = 0,
    noise: NoiseModel | str | None = None,
    *,
    validation: float = 0.0,
) -> TaskStream:
    """The same protocol on scikit-learn's 8x8 digits: small, and always at hand.

    >>> stream = disjoint_digits(noise="foreign:0.3")
    >>> stream.name, len(stream.tasks), len(stream), stream.n_features
    ('disjoint-digits', 5, 20, 64)
    """
    check_arguments(seed, validation, samples_per_task)
    model = NoiseModel.parse(noise)
    return disjoint_stream("disjoint-digits", load_digit_images(), samples_per_task, seed, model, validation)


def split_mnist(
    seed: int = 0,
    noise: NoiseModel | str | None = None,
    *,
    validation: float = 0.0,
    data_dir: Path | str | None = None,
) -> TaskStream:
    """The protocol of Table 3: all images, padded by 2 pixels, normalised, in batches of 128 for 4 epochs a task.

    ``validation`` and the stand-in for MNIST are as in ``disjoint_mnist``.

    >>> split_mnist(validation=1.5)
    Traceback (most recent call last):
    ValueError: validation must be a share in [0, 1), got 1.5
    """
    check_arguments(seed, validation)
    model = NoiseModel.parse(noise)
    images = padded(mnist_or_digits(data_dir), PADDING)
    offset, scale = PIXEL_MEAN * images.peak, 1 / (PIXEL_STD * images.peak)
    spec = InputSpec(images.train_x.shape[1], 2, "uint8", offset=offset, scale=scale)
    tasks = pair_tasks(images, None, seed, model, validation)
    return TaskStream(stream_name("split", images), spec, tasks, batch_size=128, seed=seed, epochs=4)


def padded(images: DigitImages, margin: int) -> DigitImages:
    """The same images with a black margin; black is not zero once pixels are normalised."""

    def pad(x: NDArray[np.uint8]) -> NDArray[np.uint8]:
        side = math.isqrt(x.shape[1])
        square = np.pad(x.reshape(-1, side, side), ((0, 0), (margin, margin), (margin, margin)))
        return square.reshape(len(x), -1)

    return replace(images, train_x=pad(images.train_x), test_x=pad(images.test_x))


def disjoint_stream(
    name: str, images: DigitImages, samples_per_task: int, seed: int, noise: NoiseModel, validation: float
) -> TaskStream:
    spec = InputSpec(images.train_x.shape[1], 2, "uint8", scale=1 / images.peak)
    return TaskStream(name, spec, pair_tasks(images, samples_per_task, seed, noise, validation), 50, seed)


def mnist_or_digits(data_dir: Path | str | None) -> DigitImages:
    """MNIST, or with a warning scikit-learn's digits if no source has it."""
    try:
        return load_mnist(data_dir)
    except FetchError as error:
        warnings.warn(f"scikit-learn's digits stand in for MNIST. {error}", stacklevel=3)
        return load_digit_images()


def stream_name(protocol: str, images: DigitImages) -> str:
    stand_in = "" if images.name == "mnist" else f" ({images.source}: MNIST could not be had)"
    return f"{protocol}-{images.name}{stand_in}"


def check_arguments(seed: int, validation: float, samples_per_task: int = 1) -> None:
    if samples_per_task < 1:
        raise ValueError(f"samples_per_task must be at least 1, got {samples_per_task}")
    if seed < 0:
        raise ValueError(f"seed must be at least 0, got {seed}")
    if not 0 <= validation < 1:
        raise ValueError(f"validation must be a share in [0, 1), got {validation}")
