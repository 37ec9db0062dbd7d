"""Which rows are held out, which stored samples are put out of use, and how the memory's room is divided."""

from __future__ import annotations

import numpy as np

from smartcl.data.batch import Bools, Floats, Ints
from smartcl.learners.ensemble.settings import HELD_OUT_SHARE, SMALL_SHARE


def held_out(count: int, rng: np.random.Generator) -> Bools:
    """Which of ``count`` new rows are never learned; not all of them."""
    chosen = rng.random(count) < HELD_OUT_SHARE
    if chosen.all():
        chosen[0] = False
    return chosen


def recent_share(coverage: float) -> float:
    """The share of the memory's room for the newest samples: large where they cover the inputs of the past.

    >>> round(recent_share(1.0), 2), recent_share(0.0)
    (0.9, 0.1)
    """
    return SMALL_SHARE + (1 - 2 * SMALL_SHARE) * coverage


def outdated(before: Floats, after: Floats, y: Ints) -> Bools:
    """Samples whose labels the sums answered before a change, and answer no more."""
    found: Bools = (before.argmax(axis=1) == y) & (after.argmax(axis=1) != y)
    return found
