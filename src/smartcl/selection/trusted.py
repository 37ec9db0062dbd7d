"""A reservoir that lets go first of samples whose label the network contradicts."""

from __future__ import annotations

import numpy as np

from smartcl.selection.selector import Pool, Selection, longest_fit
from smartcl.streams.batch import Bools, Ints

#: Stored samples looked at after each batch: the whole of a small memory, a random part of a large one.
EXAMINED = 2000


def contradicted(pool: Pool, index: Ints) -> Bools:
    """Which of these samples the network, having just learned, still gives another label than their own."""
    answers = pool.geometry.features(index, "logits").argmax(dim=1).numpy()
    result: Bools = answers != pool.labels[index]
    return result


class Trusted:
    """Every sample draws a random key once, as in ``Reservoir``; over budget, contradicted samples leave first.

    A network that resists memorising wrong labels contradicts most of them, and few right ones once it has learned
    the batch they came with. What it does not contradict stays with the reservoir's even chances.

    >>> import torch
    >>> class Says:
    ...     def features(self, index, layer):
    ...         return torch.tensor([[1.0, 0.0]]).expand(len(index), 2)
    >>> labels = np.array([0, 1, 0, 1])
    >>> pool = Pool(np.full(4, 10), labels, np.zeros(4, np.float32), n_memory=0, geometry=Says())
    >>> Trusted().select(pool, room=20, rng=np.random.default_rng(0)).keep
    array([0, 2])
    """

    scored = True

    def select(self, pool: Pool, room: int, rng: np.random.Generator) -> Selection:
        keys = pool.scores.copy()
        keys[pool.n_memory :] = rng.standard_exponential(len(pool) - pool.n_memory, dtype=np.float32)
        if int(pool.sizes.sum()) <= room:
            return Selection(np.arange(len(pool)), keys)
        old = pool.old
        if len(old) > EXAMINED:
            old = np.sort(rng.choice(old, EXAMINED, replace=False))
        examined = np.concatenate([old, pool.new])
        suspect = np.zeros(len(pool), dtype=np.bool_)
        suspect[examined] = contradicted(pool, examined)
        keep = longest_fit(np.lexsort((keys, suspect)), pool.sizes, room)
        return Selection(keep, keys[keep])
