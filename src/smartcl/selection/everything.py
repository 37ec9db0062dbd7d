"""A memory without a limit."""

from __future__ import annotations

import numpy as np

from smartcl.memory.pool import Pool, Selection


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
