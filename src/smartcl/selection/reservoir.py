"""Policies that do not depend on the samples: a uniform choice of the whole stream, everything, or nothing."""

from __future__ import annotations

import numpy as np

from smartcl.memory.pool import DORMANT, Pool, Selection, SelectorScores, longest_fit, roles_in, sorted_by


def drawn_keys(pool: Pool, rng: np.random.Generator) -> SelectorScores:
    """A random key for each sample: new ones draw theirs now, those in memory keep the one they came with.

    The keys are exponential, not uniform: near zero, where the survivors of a long stream live, a float32 has all its
    precision; and the smallest key of the many that a new sample may stand for is as easily drawn as one.
    """
    keys, new = pool.scores.copy(), len(pool) - pool.n_memory
    keys[pool.n_memory :] = rng.standard_exponential(new, dtype=np.float32) / np.float32(pool.offer.stands_for)
    return keys


class Reservoir:
    """Every sample of the stream is equally likely to be in memory, however long the stream (Vitter's reservoir).

    Each sample draws a random key once; those with the smallest keys stay, as many as fit. If sizes differ, a later
    sample may sit in the gap left by one that did not fit: usually less than one sample's bytes, and where a single one
    takes an eighth of the memory or more, it may be passed over for several smaller ones.

    >>> rng = np.random.default_rng(0)
    >>> pool = Pool(np.full(6, 10), np.zeros(6, int), np.zeros(6, np.float32), n_memory=0, geometry=None)
    >>> Reservoir().select(pool, room=35, rng=rng).keep
    array([0, 4, 5])
    """

    scored = True

    def select(self, pool: Pool, room: int, rng: np.random.Generator) -> Selection:
        keys = drawn_keys(pool, rng)
        order = sorted_by(keys, roles_in(pool) == DORMANT)
        keep = longest_fit(order, pool.sizes, room)
        return Selection(keep, keys[keep])


class Everything:
    """Keeps every sample: for the upper end of a comparison, whose budget must be unbounded.

    A memory whose budget is not refuses the first selection that does not fit it.

    >>> pool = Pool(np.full(3, 10), np.zeros(3, int), np.zeros(3, np.float32), n_memory=2, geometry=None)
    >>> Everything().select(pool, room=100, rng=np.random.default_rng(0)).keep
    array([0, 1, 2])
    """

    scored = False

    def select(self, pool: Pool, room: int, rng: np.random.Generator) -> Selection:
        return Selection(np.arange(len(pool)), pool.scores)


class Nothing:
    """Keeps no sample.

    >>> pool = Pool(np.full(3, 10), np.zeros(3, int), np.zeros(3, np.float32), n_memory=0, geometry=None)
    >>> Nothing().select(pool, room=35, rng=np.random.default_rng(0)).keep
    array([], dtype=int64)
    """

    scored = False

    def select(self, pool: Pool, room: int, rng: np.random.Generator) -> Selection:
        none = np.zeros(0, dtype=np.int64)
        return Selection(none, pool.scores[none])
