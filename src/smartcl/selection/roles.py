"""Roles of stored samples, where a learner stores one beside each."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from smartcl.memory.pool import Pool

#: In the column ``role`` of a store: one byte a sample.
RoleColumn: TypeAlias = NDArray[np.uint8]

#: To be replayed; held out of learning, to be asked about; or of a concept that no longer holds, and first to leave.
REPLAYED, HELD_OUT, DORMANT = 0, 1, 2


def roles_in(pool: Pool) -> RoleColumn:
    """The candidates' roles: all to be replayed, where nothing else is said."""
    return pool.extra.get("role", np.zeros(len(pool), dtype=np.uint8))
