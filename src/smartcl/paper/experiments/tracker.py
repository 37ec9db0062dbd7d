"""Tracker of a memory, with knowledge that no learner has: which stored labels are true, and of which task."""

from __future__ import annotations

from typing import Any

import numpy as np

from smartcl.data.batch import Batch, Ints
from smartcl.learners.stream_learner import StreamLearner
from smartcl.memory.schematic_memory import Observation
from smartcl.paper.datasets.task_stream import TaskStream


class MemoryTracker:
    """Replays each ``Observation`` on the samples' ids, so that the memory itself need not store them."""

    def __init__(self, stream: TaskStream) -> None:
        self._true = np.concatenate([(task.train.y == task.true_y).numpy() for task in stream.tasks])
        self._origin = np.concatenate([task.origin.numpy() for task in stream.tasks])
        self._n_tasks = len(stream.tasks)
        self._ids: Ints = np.zeros(0, dtype=np.int64)
        self.history: dict[str, list[Any]] = {
            name: [] for name in ("batches", "samples", "bytes", "features", "purity", "samples_per_task")
        }

    def follow(self, batch: Batch, observation: Observation) -> None:
        """The learner has observed this batch."""
        assert batch.ids is not None
        self._ids = np.concatenate([self._ids[observation.kept], batch.ids[observation.stored]])

    def record(self, learner: StreamLearner, done: int) -> None:
        """Note the state of the memory after ``done`` batches: a column per quantity."""
        store = learner.memory.store
        shares = np.bincount(self._origin[self._ids], minlength=self._n_tasks)
        values = {
            "batches": done,
            "samples": len(store),
            "bytes": store.nbytes,
            "features": len(store.schema),
            "purity": float(self._true[self._ids].mean()) if len(self._ids) else 1.0,
            "samples_per_task": shares.tolist(),
        }
        for name, value in values.items():
            self.history[name].append(value)
