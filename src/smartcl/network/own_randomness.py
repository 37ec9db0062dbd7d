"""Seeding of torch's global generator from the learner's own, while a user's layers draw from it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Inside, torch's global generator starts from this seed; afterwards it is what it was.

    >>> def draw():
    ...     with seeded(0):
    ...         return torch.rand(1).item()
    >>> draw() == draw()
    True
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def draw_seed(rng: np.random.Generator) -> int:
    """What ``seeded`` takes, from a generator that is part of a learner's state."""
    return int(rng.integers(2**63 - 1))
