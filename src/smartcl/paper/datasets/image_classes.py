"""Images of many classes, a few new classes in each task: one head for all, and no task tells which classes it has."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from smartcl.data.batch import Batch, Bools, Ints
from smartcl.data.spec import InputSpec
from smartcl.paper.datasets.corruption import NoiseModel, corrupt, misplace
from smartcl.paper.datasets.digit_pairs import check_seed
from smartcl.paper.datasets.protocols import ClassProtocol
from smartcl.paper.datasets.task_stream import CORRUPT, HOLD_OUT, MISPLACE, SAMPLE, Task, TaskStream


@dataclass(frozen=True)
class LabelledImages:
    """Flat images in bytes with the shape of one (channels, height, width), or encoded rows; the class of each."""

    train_x: NDArray[np.uint8] | NDArray[np.float32]
    train_y: Ints
    test_x: NDArray[np.uint8] | NDArray[np.float32]
    test_y: Ints
    shape: tuple[int, int, int] | None
    classes: tuple[str, ...]
    source: str

    @property
    def spec(self) -> InputSpec:
        if self.shape is None:
            return InputSpec(self.train_x.shape[1], len(self.classes))
        return InputSpec(self.train_x.shape[1], len(self.classes), "uint8", scale=1 / 255, shape=self.shape)


def class_stream(
    name: str, images: LabelledImages, protocol: ClassProtocol, seed: int, noise: NoiseModel
) -> TaskStream:
    """The tasks of these images, in batches; classes come in the order of their numbers."""
    check_seed(seed)
    n_classes = len(images.classes)
    shown = misplace(images.train_y, n_classes, noise, np.random.default_rng([seed, MISPLACE]))
    held_out = _held_out(images.train_y, protocol.validation, seed)
    tasks, names = [], []
    for number, first in enumerate(range(0, n_classes, protocol.classes_per_task)):
        members = np.arange(first, min(first + protocol.classes_per_task, n_classes))
        chosen = _chosen(np.where(held_out, -1, shown), members, protocol.samples_per_class, [seed, SAMPLE, number])
        y = shown[chosen]
        if not noise.misplaces:
            y = first + corrupt(y - first, len(members), noise, np.random.default_rng([seed, CORRUPT, number]))
        if protocol.validation:
            test = held_out & np.isin(images.train_y, members)
            test_x, test_y = images.train_x[test], images.train_y[test]
        else:
            test = np.isin(images.test_y, members)
            test_x, test_y = images.test_x[test], images.test_y[test]
        true = images.train_y[chosen]
        tasks.append(
            Task(
                train=Batch(torch.from_numpy(images.train_x[chosen]), torch.from_numpy(y)),
                test=Batch(torch.from_numpy(test_x), torch.from_numpy(test_y)),
                true_y=torch.from_numpy(true),
                origin=torch.from_numpy(true // protocol.classes_per_task),
            )
        )
        names.append(", ".join(images.classes[member] for member in members))
    return TaskStream(
        name,
        images.spec,
        tuple(tasks),
        protocol.batch_size,
        seed,
        protocol.epochs,
        task_names=tuple(names),
        source=images.source,
    )


def _chosen(labels: Ints, members: Ints, most: int | None, seed: list[int]) -> Ints:
    """The images of these classes in random order, at most this number of each."""
    order = np.random.default_rng(seed).permutation(np.flatnonzero(np.isin(labels, members)))
    if most is None:
        return order
    return np.sort(np.concatenate([order[labels[order] == member][:most] for member in members]))


def _held_out(labels: Ints, share: float, seed: int) -> Bools:
    """Which images are held out: this share of each class, drawn by the seed."""
    held_out = np.zeros(len(labels), dtype=np.bool_)
    for label in np.unique(labels) if share else ():
        members = np.flatnonzero(labels == label)
        drawn = np.random.default_rng([seed, HOLD_OUT, int(label)]).permutation(members)
        held_out[drawn[: round(share * len(members))]] = True
    return held_out
