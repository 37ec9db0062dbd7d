"""Equal shares of the memory for the tasks seen so far, each a reservoir of its task."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from smartcl.data.batch import Ints
from smartcl.memory.pool import Pool, Selection


def fair_share(demands: Ints, room: int) -> int:
    """The largest share, in whole bytes, that fits ``room`` if each takes the lesser of it and what it asks for.

    Who asks for less leaves the rest to the others; if all can have all, the share is the largest demand.

    >>> fair_share(np.array([10, 50, 90]), room=90)
    40
    """
    ascending = np.sort(demands)
    for settled, demand in enumerate(ascending):
        share = (room - int(ascending[:settled].sum())) // (len(ascending) - settled)
        if share < demand:
            return share
    return int(ascending[-1])


def fair_prefixes(orders: Sequence[Ints], sizes: Ints, room: int) -> Ints:
    """Ascending positions: the start of each order, as far as its fair share goes, and one more where that fits.

    >>> fair_prefixes([np.array([3, 0, 1]), np.array([4, 2])], sizes=np.full(5, 10), room=35)
    array([0, 3, 4])
    """
    costs = [np.cumsum(sizes[order]) for order in orders]
    share = fair_share(np.array([cost[-1] for cost in costs]), room)
    taken = [int(np.searchsorted(cost, share, side="right")) for cost in costs]
    left = room - sum(int(cost[count - 1]) for cost, count in zip(costs, taken, strict=True) if count)
    for i, order in enumerate(orders):
        if taken[i] < len(order) and sizes[order[taken[i]]] <= left:
            left -= int(sizes[order[taken[i]]])
            taken[i] += 1
    return np.sort(np.concatenate([order[:count] for order, count in zip(orders, taken, strict=True)]))


class TaskShares:
    """Every task seen has the same number of bytes, and keeps in them a uniform sample of its own.

    Needs the note ``task``. As in ``Reservoir``, each sample draws a key once and the smallest keys stay; here they
    compete within their task only. What a young task does not fill yet, the older ones keep until it does.

    >>> rng = np.random.default_rng(0)
    >>> tasks = np.array([0, 0, 0, 0, 0, 1, 1, 1])
    >>> pool = Pool(np.full(8, 10), np.zeros(8, int), np.zeros(8, np.float32), 5, None, {"task": tasks})
    >>> tasks[TaskShares().select(pool, room=60, rng=rng).keep]
    array([0, 0, 0, 1, 1, 1])
    """

    scored = True

    def select(self, pool: Pool, room: int, rng: np.random.Generator) -> Selection:
        keys = pool.scores.copy()
        keys[pool.n_memory :] = rng.standard_exponential(len(pool) - pool.n_memory, dtype=np.float32)
        members = positions_by(pool.notes["task"].astype(np.int64))
        by_key = [index[np.argsort(keys[index], kind="stable")] for index in members]
        keep = fair_prefixes(by_key, pool.sizes, room)
        return Selection(keep, keys[keep])


def positions_by(numbers: Ints) -> list[Ints]:
    """The positions of each number that occurs, in ascending order of both.

    >>> positions_by(np.array([7, 3, 7]))
    [array([1]), array([0, 2])]
    """
    order = np.argsort(numbers, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(numbers[order])) + 1)
