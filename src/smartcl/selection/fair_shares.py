"""Equal shares of the memory: for the tasks seen so far, or for the classes.

Where a share is full, its samples are a reservoir of all that ever came for it, so that a class whose samples change
over the stream is not stuck with its first.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from smartcl.data.batch import Bools, Ints
from smartcl.memory.nonzeros import narrow
from smartcl.memory.pool import DORMANT, Pool, Selection, SelectorScores, longest_fit, roles_in, sorted_by
from smartcl.selection.reservoir import drawn_keys


def fair_share(demands: Ints, room: int) -> int:
    """The largest share, in whole bytes, that fits ``room`` if each takes the lesser of it and what it asks for.

    What one does not ask for is left to the others; if all can have all, the share is the largest demand.

    >>> fair_share(np.array([10, 50, 90]), room=90)
    40
    """
    ascending = np.sort(demands)
    settled = np.append(0, np.cumsum(ascending)[:-1])
    shares = (room - settled) // np.arange(len(ascending), 0, -1)
    short = np.flatnonzero(shares < ascending)
    return int(shares[short[0]] if len(short) else ascending[-1])


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


def positions_by(numbers: Ints) -> list[Ints]:
    """The positions of each number that occurs, in ascending order of both.

    >>> positions_by(np.array([7, 3, 7]))
    [array([1]), array([0, 2])]
    """
    order = np.argsort(narrow(numbers), kind="stable")
    return np.split(order, np.flatnonzero(np.diff(numbers[order])) + 1)


def groups_of(pool: Pool) -> Ints:
    """The group of each sample: its label, or its task and label where tasks are stored."""
    if "task" not in pool.extra:
        return pool.labels
    n_labels = int(pool.labels.max(initial=0)) + 1
    return pool.extra["task"].astype(np.int64) * n_labels + pool.labels


class TaskShares:
    """Every task seen has the same number of bytes, and keeps in them a uniform sample of its own.

    Needs the extra column ``task``. As in ``Reservoir``, each sample draws a key once and the smallest keys stay; here
    they compete within their task only. Room that a new task does not fill yet stays with the older tasks.

    >>> rng = np.random.default_rng(0)
    >>> tasks = np.array([0, 0, 0, 0, 0, 1, 1, 1])
    >>> pool = Pool(np.full(8, 10), np.zeros(8, int), np.zeros(8, np.float32), 5, None, {"task": tasks})
    >>> tasks[TaskShares().select(pool, room=60, rng=rng).keep]
    array([0, 0, 0, 1, 1, 1])
    """

    scored = True

    def select(self, pool: Pool, room: int, rng: np.random.Generator) -> Selection:
        keys = drawn_keys(pool, rng)
        members = positions_by(pool.extra["task"].astype(np.int64))
        by_key = [index[sorted_by(keys[index])] for index in members]
        keep = fair_prefixes(by_key, pool.sizes, room)
        return Selection(keep, keys[keep])


def balanced_fit(groups: Ints, keys: SelectorScores, sizes: Ints, room: int) -> Ints:
    """What is left when the sample with the largest key of the largest group leaves, until all fit ``room`` bytes.

    >>> keys = np.arange(6, dtype=np.float32)
    >>> balanced_fit(np.array([0, 0, 0, 0, 1, 1]), keys, sizes=np.full(6, 10), room=35)
    array([0, 1, 4])
    """
    fitting = np.flatnonzero(sizes <= room)
    queues = [fitting[index[sorted_by(keys[fitting[index]])]] for index in positions_by(groups[fitting])]
    lengths = [len(queue) for queue in queues]
    excess = int(sizes[fitting].sum()) - room
    while excess > 0:
        most = max(lengths)
        largest = max(
            (i for i, length in enumerate(lengths) if length == most), key=lambda i: keys[queues[i][most - 1]]
        )
        excess -= int(sizes[queues[largest][most - 1]])
        lengths[largest] -= 1
    return np.sort(np.concatenate([queue[:length] for queue, length in zip(queues, lengths, strict=True)]))


class Balanced:
    """Classes, or the classes of each task, share the memory evenly; over budget, the largest group loses samples.

    Which of its samples goes is random: each draws a key once, and the largest key leaves. Prabhu, Torr, Dokania,
    "GDumb: a simple approach that questions our progress in continual learning", ECCV 2020; there a full class takes no
    newcomer.

    >>> labels = np.array([0, 0, 0, 0, 1, 1])
    >>> pool = Pool(np.full(6, 10), labels, np.zeros(6, np.float32), n_memory=0, geometry=None)
    >>> labels[Balanced().select(pool, room=40, rng=np.random.default_rng(0)).keep]
    array([0, 0, 1, 1])
    """

    scored = True

    def select(self, pool: Pool, room: int, rng: np.random.Generator) -> Selection:
        keys = drawn_keys(pool, rng)
        keep = balanced_fit(groups_of(pool), keys, pool.sizes, room)
        return Selection(keep, keys[keep])


#: The part of the room that the classes share evenly, each as far as it has samples; the rest goes by frequency.
ENSURED = 0.5


def within_share(labels: Ints, keys: SelectorScores, sizes: Ints, room: int) -> Bools:
    """Which samples are, by their keys, among the first of their label that fit the label's fair share of ``room``.

    >>> keys = np.arange(6, dtype=np.float32)
    >>> within_share(np.array([0, 0, 0, 0, 0, 1]), keys, sizes=np.full(6, 10), room=40)
    array([ True,  True,  True, False, False,  True])
    """
    order = sorted_by(keys, labels)
    costs = np.cumsum(sizes[order])
    last = np.append(np.flatnonzero(np.diff(labels[order])), len(order) - 1)
    demands = np.diff(costs[last], prepend=0)
    before = np.repeat(costs[last] - demands, np.diff(last, prepend=-1))
    within = np.zeros(len(labels), dtype=np.bool_)
    within[order] = costs - before <= fair_share(demands, room)
    return within


def fair_fit(labels: Ints, keys: SelectorScores, sizes: Ints, room: int, dormant: Bools) -> Ints:
    """Ascending positions: the smallest keys that fit ``room``, ensured ones first, dormant ones last."""
    if not len(labels):
        return np.zeros(0, dtype=np.int64)
    ensured = within_share(labels, keys, sizes, int(ENSURED * room))
    return longest_fit(sorted_by(keys, ~ensured, dormant), sizes, room)


class FairReservoir:
    """A reservoir in which every class keeps all its samples up to half its fair share of the room.

    A class that is rare in the stream is rare in a reservoir too, and may disappear from it. Here it holds at least
    half of what it would if all classes had the same, or all it ever had; the rest of the room goes by the keys of all.
    Where no class is as rare as that, this is the reservoir. Of each class the smallest keys stay: a uniform choice.

    >>> labels = np.repeat([0, 1], [97, 3])
    >>> pool = Pool(np.full(100, 10), labels, np.zeros(100, np.float32), n_memory=0, geometry=None)
    >>> np.bincount(labels[FairReservoir().select(pool, room=100, rng=np.random.default_rng(0)).keep])
    array([8, 2])
    """

    scored = True

    def select(self, pool: Pool, room: int, rng: np.random.Generator) -> Selection:
        keys = drawn_keys(pool, rng)
        keep = fair_fit(pool.labels, keys, pool.sizes, room, dormant=roles_in(pool) == DORMANT)
        return Selection(keep, keys[keep])
