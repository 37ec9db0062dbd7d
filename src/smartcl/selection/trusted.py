"""Trusted reservoir: samples whose label the network contradicts leave first."""

from __future__ import annotations

import numpy as np

from smartcl.data.batch import Bools, Ints
from smartcl.memory.pool import DORMANT, HELD_OUT, Pool, Selection, SelectorScores, roles_in, sorted_by
from smartcl.selection.fair_shares import fair_fit
from smartcl.selection.reservoir import drawn_keys

#: Stored samples looked at after each batch: the whole of a small memory, a random part of a large one.
EXAMINED = 600
#: A network that contradicts a larger share of them knows too little to remove any while there is room.
MOST_CONTRADICTED = 1 / 3


def contradicted(pool: Pool, index: Ints) -> Bools:
    """Which of these samples the network, having just learned, still gives another label than their own."""
    answers = pool.geometry.features(index, "logits").argmax(dim=1).numpy()
    result: Bools = answers != pool.labels[index]
    return result


def trade_places(keys: SelectorScores, suspect: Bools, labels: Ints) -> SelectorScores:
    """The keys with those of each label dealt anew, in order: first to its trusted samples, then to the suspect ones.

    So the labels' chances stay what they were: a rare label is often contradicted, and must not vanish for that.

    >>> keys = np.array([1.0, 2.0, 3.0, 4.0], dtype=np.float32)
    >>> trade_places(keys, np.array([True, False, True, False]), np.array([0, 0, 1, 1]))
    array([2., 1., 4., 3.], dtype=float32)
    """
    dealt = np.empty_like(keys)
    dealt[sorted_by(keys, suspect, labels)] = keys[sorted_by(keys, labels)]
    return dealt


class Trusted:
    """Every sample draws a random key once, as in ``Reservoir``; of each label, contradicted samples leave first.

    A network that resists memorising wrong labels contradicts most of them, and few right ones once it has learned
    the batch they came with. Over all samples of a label the chances are the reservoir's. While there is room for all,
    contradicted samples leave only as far as labels are distrusted.

    >>> import torch
    >>> class Says:
    ...     def features(self, index, layer):
    ...         return torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])[index]
    >>> labels = np.array([0, 0, 1, 1])
    >>> pool = Pool(np.full(4, 10), labels, np.zeros(4, np.float32), n_memory=0, geometry=Says())
    >>> Trusted().select(pool, room=20, rng=np.random.default_rng(0)).keep
    array([0, 2])
    """

    scored = True

    def select(self, pool: Pool, room: int, rng: np.random.Generator) -> Selection:
        keys, fits = drawn_keys(pool, rng), int(pool.sizes.sum()) <= room
        if fits and not pool.geometry.distrust:
            return Selection(np.arange(len(pool)), keys)
        old, most = pool.old, round(pool.offer.effort * EXAMINED)
        if len(old) > most:
            old = np.sort(rng.choice(old, most, replace=False))
        examined = np.concatenate([old, pool.new])
        suspect, roles = np.zeros(len(pool), dtype=np.bool_), roles_in(pool)
        suspect[examined] = contradicted(pool, examined)
        known = suspect[examined].mean() <= MOST_CONTRADICTED
        suspect &= roles != HELD_OUT  # held-out samples are never removed as suspect
        if fits:
            in_use = roles != DORMANT  # a dormant sample is contradicted by the present, and may be right again
            keep = np.flatnonzero(~_sent_away(pool, keys, suspect & in_use)) if known else np.arange(len(pool))
            return Selection(keep, keys[keep])
        judged, dealt = np.flatnonzero(roles != HELD_OUT), keys.copy()
        dealt[judged] = trade_places(keys[judged], suspect[judged], pool.labels[judged])
        keep = fair_fit(pool.labels, dealt, pool.sizes, room, dormant=roles == DORMANT)
        return Selection(keep, keys[keep])


def _sent_away(pool: Pool, keys: SelectorScores, suspect: Bools) -> Bools:
    """Of the suspect samples, as many as come, if all labels are distrusted; but none that is too new for that."""
    doubtful = np.flatnonzero(suspect)
    doubtful = doubtful[doubtful < len(pool) - pool.geometry.spared]
    gone = np.zeros(len(pool), dtype=np.bool_)
    gone[doubtful[np.argsort(keys[doubtful])[: round(pool.geometry.distrust * len(pool.new))]]] = True
    return gone
