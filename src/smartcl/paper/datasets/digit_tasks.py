"""Digit images cut into five tasks, each telling one digit of a pair (0/1, 2/3, ... 8/9) from the other.

The label is 1 for the first digit of a pair and 0 for the second, in every task: one two-way head serves all.
"""

from __future__ import annotations

import numpy as np
import torch

from smartcl.data.batch import Batch, Bools, Ints
from smartcl.paper.datasets.corruption import NoiseModel, corrupt, misplace
from smartcl.paper.datasets.digits import N_DIGITS, DigitImages
from smartcl.paper.datasets.task_stream import Task

N_PAIRS = N_DIGITS // 2

# one random stream per purpose, apart from the small task numbers that TaskStream draws its orders from
MISPLACE, HOLD_OUT, SAMPLE, CORRUPT = (0x5EED0000 + purpose for purpose in range(4))


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
        if noise.kind != "foreign":
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
