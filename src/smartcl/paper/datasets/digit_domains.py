"""The ten digits in one domain after the other: each task shows them all, with pixels in another order, or turned."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import ndimage

from smartcl.data.batch import Batch
from smartcl.data.spec import InputSpec
from smartcl.paper.datasets.corruption import NoiseModel, corrupt
from smartcl.paper.datasets.digit_pairs import check_seed, hold_out, mnist_or_digits
from smartcl.paper.datasets.digits import N_DIGITS, DigitImages
from smartcl.paper.datasets.protocols import DOMAINS, MNIST, SMALL, DomainProtocol
from smartcl.paper.datasets.task_stream import CORRUPT, SAMPLE, Task, TaskStream

Pixels: TypeAlias = NDArray[np.uint8]

#: What becomes of images in the domain of this number.
World: TypeAlias = Callable[[Pixels, int], Pixels]

#: The angle, in degrees, that the domains of ``rotated-mnist`` are spread over.
HALF_TURN = 180.0


def permuted_mnist(
    seed: int = 0,
    noise: NoiseModel | str | None = None,
    data_dir: Path | str | None = None,
    protocol: DomainProtocol = DOMAINS,
) -> TaskStream:
    """In each domain but the first, pixels are in another order, drawn from the seed; without MNIST as elsewhere."""

    def permuted(x: Pixels, world: int) -> Pixels:
        order = np.random.default_rng([seed, world]).permutation(x.shape[1]) if world else np.arange(x.shape[1])
        return x[:, order]

    return _domains("permuted", permuted, seed, noise, data_dir, protocol)


def rotated_mnist(
    seed: int = 0,
    noise: NoiseModel | str | None = None,
    data_dir: Path | str | None = None,
    protocol: DomainProtocol = DOMAINS,
) -> TaskStream:
    """Each domain is turned further than the one before, all together by less than half a turn."""
    return _domains(
        "rotated", lambda x, w: rotated(x, HALF_TURN * w / protocol.worlds), seed, noise, data_dir, protocol
    )


def rotated(x: Pixels, angle: float) -> Pixels:
    """Square images turned counter-clockwise by this angle in degrees; what comes in from outside is black.

    >>> rotated(np.array([[1, 2, 3, 4]], dtype=np.uint8), 90.0)
    array([[2, 4, 1, 3]], dtype=uint8)
    """
    side = math.isqrt(x.shape[1])
    square = x.reshape(-1, side, side)
    turned = ndimage.rotate(square, angle, axes=(2, 1), reshape=False, order=1) if angle else square
    return turned.reshape(len(x), -1)


def _domains(
    kind: str,
    shown: World,
    seed: int,
    noise: NoiseModel | str | None,
    data_dir: Path | str | None,
    protocol: DomainProtocol,
) -> TaskStream:
    check_seed(seed)
    model, images = NoiseModel.parse(noise), mnist_or_digits(data_dir)
    real = images.name == "mnist"
    per_task = protocol.samples_per_task if real else SMALL.samples_per_task
    tasks = domain_tasks(images, shown, replace(protocol, samples_per_task=per_task), seed, model)
    spec = InputSpec(images.train_x.shape[1], N_DIGITS, "uint8", scale=1 / images.peak)
    name = f"{kind}-{images.name}"
    source = MNIST if real else images.source
    return TaskStream(name, spec, tasks, protocol.batch_size, seed, protocol.epochs, source=source)


def domain_tasks(
    images: DigitImages, shown: World, protocol: DomainProtocol, seed: int, noise: NoiseModel
) -> tuple[Task, ...]:
    """One task for each domain: random images of all digits, and all test images, as they are shown there."""
    held_out = hold_out(images.train_y, protocol.validation, seed)
    pool = np.flatnonzero(~held_out)
    test_x, test_y = images.test_x, images.test_y
    if protocol.validation:
        test_x, test_y = images.train_x[held_out], images.train_y[held_out]
    tasks = []
    for world in range(protocol.worlds):
        chosen = np.random.default_rng([seed, SAMPLE, world]).permutation(pool)[: protocol.samples_per_task]
        true = images.train_y[chosen]
        y = corrupt(true, N_DIGITS, noise, np.random.default_rng([seed, CORRUPT, world]))
        tasks.append(
            Task(
                train=Batch(torch.from_numpy(shown(images.train_x[chosen], world)), torch.from_numpy(y)),
                test=Batch(torch.from_numpy(shown(test_x, world)), torch.from_numpy(test_y)),
                true_y=torch.from_numpy(true),
                origin=torch.full((len(true),), world),
            )
        )
    return tuple(tasks)
