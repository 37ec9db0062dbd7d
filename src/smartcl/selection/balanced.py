"""The greedy balanced memory: as many samples of each class as of any other.

Prabhu, Torr, Dokania, "GDumb: a simple approach that questions our progress in continual learning", ECCV 2020. There a
full class takes no newcomer; here the samples of a class are a reservoir of all it ever had, so that a class whose
samples change over the stream is not stuck with its first.
"""

from __future__ import annotations

import numpy as np

from smartcl.data.batch import Ints
from smartcl.memory.pool import Pool, Scores, Selection


def groups_of(pool: Pool) -> Ints:
    """The group of each sample: its label, or its task and label where tasks are noted."""
    columns = [pool.labels] if "task" not in pool.notes else [pool.notes["task"], pool.labels]
    groups: Ints = np.unique(np.stack(columns), axis=1, return_inverse=True)[1].reshape(-1)
    return groups


def balanced_fit(groups: Ints, keys: Scores, sizes: Ints, room: int) -> Ints:
    """What is left when the sample with the largest key of the largest group leaves, until all fit ``room`` bytes.

    >>> keys = np.arange(6, dtype=np.float32)
    >>> balanced_fit(np.array([0, 0, 0, 0, 1, 1]), keys, sizes=np.full(6, 10), room=35)
    array([0, 1, 4])
    """
    fitting = np.flatnonzero(sizes <= room)
    members = [fitting[groups[fitting] == group] for group in np.unique(groups)]
    queues = [list(index[np.argsort(keys[index], kind="stable")]) for index in members if len(index)]
    excess = int(sizes[fitting].sum()) - room
    while excess > 0:
        largest = max(queues, key=lambda queue: (len(queue), keys[queue[-1]] if queue else 0.0))
        excess -= int(sizes[largest.pop()])
    return np.sort(np.array([i for queue in queues for i in queue], dtype=np.int64))


class Balanced:
    """Classes, or the classes of each task, share the memory evenly; over budget, the largest group loses samples.

    Which of its samples goes is random: each draws a key once, and the largest key leaves.

    >>> labels = np.array([0, 0, 0, 0, 1, 1])
    >>> pool = Pool(np.full(6, 10), labels, np.zeros(6, np.float32), n_memory=0, geometry=None)
    >>> labels[Balanced().select(pool, room=40, rng=np.random.default_rng(0)).keep]
    array([0, 0, 1, 1])
    """

    scored = True

    def select(self, pool: Pool, room: int, rng: np.random.Generator) -> Selection:
        keys = pool.scores.copy()
        keys[pool.n_memory :] = rng.standard_exponential(len(pool) - pool.n_memory, dtype=np.float32)
        keep = balanced_fit(groups_of(pool), keys, pool.sizes, room)
        return Selection(keep, keys[keep])
