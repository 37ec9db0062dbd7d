"""Reservoir sampling over samples of different sizes."""

from __future__ import annotations

import numpy as np

from smartcl.memory.pool import Pool, Selection, longest_fit


class Reservoir:
    """Every sample of the stream is equally likely to be in memory, however long the stream (Vitter's reservoir).

    Each sample draws a random key once; those with the smallest keys stay, as many as fit. The keys are exponential,
    not uniform: near zero, where the survivors of a long stream live, a float32 has all its precision. If sizes
    differ, a later sample may sit in the gap left by one that did not fit: usually less than one sample's bytes, and
    where a single one takes an eighth of the memory or more, it may be passed over for several smaller ones.

    >>> rng = np.random.default_rng(0)
    >>> pool = Pool(np.full(6, 10), np.zeros(6, int), np.zeros(6, np.float32), n_memory=0, geometry=None)
    >>> Reservoir().select(pool, room=35, rng=rng).keep
    array([0, 4, 5])
    """

    scored = True

    def select(self, pool: Pool, room: int, rng: np.random.Generator) -> Selection:
        keys = pool.scores.copy()
        keys[pool.n_memory :] = rng.standard_exponential(len(pool) - pool.n_memory, dtype=np.float32)
        keep = longest_fit(np.argsort(keys, kind="stable"), pool.sizes, room)
        return Selection(keep, keys[keep])
