"""A user's layers draw from torch's global generator: while they do, it goes by the learner's own."""

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
