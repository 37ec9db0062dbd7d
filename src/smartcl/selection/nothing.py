"""No memory: the selector of learners that replay nothing."""

from __future__ import annotations

import numpy as np

from smartcl.memory.pool import Pool, Selection


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
