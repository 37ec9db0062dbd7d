"""Part of the room for the newest samples, part for a fair reservoir of all that ever came."""

from __future__ import annotations

import numpy as np

from smartcl.data.batch import Bools, Ints
from smartcl.memory.pool import DORMANT, HELD_OUT, Pool, Selection, SelectorScores, roles_in
from smartcl.selection.fair_shares import fair_fit
from smartcl.selection.reservoir import drawn_keys
from smartcl.selection.trusted import EXAMINED, contradicted, trade_places

#: The share of the room that samples held out of learning may keep, whatever else comes.
RESERVED = 0.1


def newest_fit(sizes: Ints, room: int) -> Bools:
    """The newest samples, those at the end, as many as fit.

    >>> newest_fit(np.array([5, 5, 5, 5]), room=12)
    array([False, False,  True,  True])
    """
    fits: Bools = np.cumsum(sizes[::-1])[::-1] <= room
    return fits


class RecentAndPast:
    """The newest samples have the share ``offer.recent`` of the room; a fair reservoir of all that came has the rest.

    In the reservoir samples whose labels are doubted leave first, and a tenth of the room is for held-out samples. What
    was put out of use leaves before all others.

    >>> from smartcl.memory.pool import Offer
    >>> pool = Pool(np.full(6, 10), np.zeros(6, int), np.zeros(6, np.float32), 0, None, offer=Offer(recent=0.5))
    >>> RecentAndPast().select(pool, room=40, rng=np.random.default_rng(0)).keep
    array([0, 2, 4, 5])
    """

    scored = True

    def select(self, pool: Pool, room: int, rng: np.random.Generator) -> Selection:
        keys, roles = drawn_keys(pool, rng), roles_in(pool)
        if int(pool.sizes.sum()) <= room:
            return Selection(np.arange(len(pool)), keys)
        recent = newest_fit(pool.sizes, int(pool.offer.recent * room)) & (roles != DORMANT)
        held_out = (roles == HELD_OUT) & ~recent
        reserved = _smallest(keys, held_out, pool.sizes, int(RESERVED * room))
        kept = recent | reserved
        others = np.flatnonzero(~kept)
        ranked = self._ranked(pool, keys, others, rng)
        left = room - int(pool.sizes[kept].sum())
        chosen = fair_fit(
            pool.labels[others], ranked[others], pool.sizes[others], left, dormant=roles[others] == DORMANT
        )
        kept[others[chosen]] = True
        return Selection(np.flatnonzero(kept), keys[kept])

    def _ranked(self, pool: Pool, keys: SelectorScores, others: Ints, rng: np.random.Generator) -> SelectorScores:
        """The keys of the reservoir, dealt anew within each label where labels are doubted."""
        most = round(pool.offer.effort * EXAMINED)
        examined = others if len(others) <= most else np.sort(rng.choice(others, most, replace=False))
        if pool.geometry is None or not len(examined):
            return keys
        doubted = np.zeros(len(pool), dtype=np.bool_)
        doubted[examined] = contradicted(pool, examined)
        ranked = keys.copy()
        ranked[others] = trade_places(keys[others], doubted[others], pool.labels[others])
        return ranked


def _smallest(keys: SelectorScores, among: Bools, sizes: Ints, room: int) -> Bools:
    """Of some samples those with the smallest keys, as many as fit."""
    chosen = np.zeros(len(keys), dtype=np.bool_)
    order = np.flatnonzero(among)
    order = order[np.argsort(keys[order], kind="stable")]
    chosen[order[np.cumsum(sizes[order]) <= room]] = True
    return chosen
