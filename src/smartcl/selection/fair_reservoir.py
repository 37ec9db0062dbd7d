"""Fair reservoir: a uniform sample of the stream in which a rare class keeps its samples."""

from __future__ import annotations

import numpy as np

from smartcl.data.batch import Bools, Ints
from smartcl.memory.pool import DORMANT, Pool, Selection, SelectorScores, longest_fit, roles_in, sorted_by
from smartcl.selection.fair_shares import fair_share
from smartcl.selection.reservoir import drawn_keys

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
