"""Which rows are held out, which stored samples are put out of use, and how the memory's room is divided."""

from __future__ import annotations

import numpy as np

from smartcl.data.batch import Bools, Ints
from smartcl.learners.ensemble.rows import Floats
from smartcl.learners.ensemble.settings import (
    ENOUGH_HELD_OUT,
    HELD_OUT_ONE_IN,
    LATER_ONE_IN,
    LEAST_RECENT,
    MOST_RECENT,
)


def held_out(count: int, already: int, rng: np.random.Generator) -> Bools:
    """Which of so many new rows are never learned; not all of them."""
    one_in = HELD_OUT_ONE_IN if already < ENOUGH_HELD_OUT else LATER_ONE_IN
    chosen = rng.random(count) < 1 / one_in
    if chosen.all():
        chosen[0] = False
    return chosen


def recent_share(coverage: float) -> float:
    """The share of the memory's room for the newest samples: large where they cover the inputs of the past.

    >>> round(recent_share(1.0), 2), recent_share(0.0)
    (0.9, 0.1)
    """
    return LEAST_RECENT + (MOST_RECENT - LEAST_RECENT) * coverage


def outdated(before: Floats, after: Floats, y: Ints) -> Bools:
    """Samples whose labels the sums answered before a change, and answer no more."""
    found: Bools = (before.argmax(axis=1) == y) & (after.argmax(axis=1) != y)
    return found
