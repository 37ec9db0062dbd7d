"""Forgetting samples by their ids: the memory loses their bytes; the weights may keep what they taught."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from smartcl.data.batch import Batch, Ints, Rows
from smartcl.learners.ids import COLUMN
from smartcl.learners.stream_learner import StreamLearner
from smartcl.memory.export import stored_rows
from smartcl.memory.store import SampleStore


def forget_samples(learner: StreamLearner, ids: Ints) -> int:
    """Take the samples with these ids out of the memory; how many there were."""
    with learner.all_or_nothing():
        store = learner.memory.store
        if len(store) and not learner.keeps_ids:
            raise ValueError("samples can be forgotten by their ids only if ids were given with them from the first on")
        gone = np.isin(store.extra[COLUMN], ids) if len(store) else np.zeros(0, dtype=np.bool_)
        if gone.any():
            learner.discard(gone)
    return int(gone.sum())


def relearn(
    learner: StreamLearner,
    store: SampleStore,
    batch_size: int,
    labels: Ints,
    changed: Callable[[Rows], Rows] = lambda rows: rows,
) -> None:
    """Teach a new learner what a memory holds, in the order it came.

    Its labels are positions in ``labels``, those of the memory by number; ``changed`` are the rows as they are now.
    """
    with learner.all_or_nothing():
        learner.keeps_ids = COLUMN in store.extra
        for first in range(0, len(store), batch_size):
            index = np.arange(first, min(first + batch_size, len(store)))
            y = torch.from_numpy(np.searchsorted(labels, store.labels[index]))
            ids = store.extra[COLUMN][index] if learner.keeps_ids else None
            weight = torch.from_numpy(store.extra["weight"][index]) if "weight" in store.extra else None
            learner.observe(Batch(changed(stored_rows(store, index)), y, ids=ids, weight=weight))
