"""Forgetting samples by their ids: the memory loses their bytes; the weights may keep what they taught."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch

from smartcl.data.batch import Batch, Ints, Rows
from smartcl.learners.feeding import feed
from smartcl.learners.ids import COLUMN
from smartcl.learners.stream_learner import StreamLearner
from smartcl.memory.export import stored_rows
from smartcl.memory.schematic_memory import SchematicMemory


def forget_samples(learner: StreamLearner, ids: Ints) -> int:
    """Take the samples with these ids out of the memory; how many there were."""
    with learner.all_or_nothing():
        store, waiting = learner.memory.store, learner.memory.waiting
        if (len(store) or learner.waiting) and not learner.keeps_ids:
            raise ValueError("samples can be forgotten by their ids only if ids were given with them from the first on")
        gone = np.isin(store.extra[COLUMN], ids) if len(store) else np.zeros(0, dtype=np.bool_)
        unlearned = np.zeros(0, np.bool_) if waiting is None or waiting.ids is None else np.isin(waiting.ids, ids)
        if unlearned.any():
            learner.discard_waiting(unlearned)
        if gone.any():
            learner.discard(gone)
    return int(gone.sum() + unlearned.sum())


def relearn(
    learner: StreamLearner,
    memory: SchematicMemory,
    batch_size: int,
    labels: Ints,
    changed: Callable[[Rows], Rows] = lambda rows: rows,
) -> None:
    """Teach a new learner what a memory holds, in the order it came, rows that wait included.

    Its labels are positions in ``labels``, those of the memory by number; ``changed`` are the rows as they are now.
    """
    store, waiting = memory.store, memory.waiting
    with learner.all_or_nothing():
        learner.keeps_ids = COLUMN in store.extra or (waiting is not None and waiting.ids is not None)

        def stored(index: Ints) -> Batch:
            y = torch.from_numpy(np.searchsorted(labels, store.labels[index]))
            ids = store.extra[COLUMN][index] if learner.keeps_ids else None
            weight = torch.from_numpy(store.extra["weight"][index]) if "weight" in store.extra else None
            return Batch(changed(stored_rows(store, index)), y, ids=ids, weight=weight)

        feed(learner, stored, np.arange(len(store)), batch_size)
        if waiting is not None:
            y = torch.from_numpy(np.searchsorted(labels, waiting.y.numpy()))
            again = replace(waiting, x=changed(waiting.x), y=y)
            feed(learner, again.take, np.arange(len(again)), batch_size)
        learner.flush()
