"""One run: a stream learned from first to last batch, tested after each task."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from smartcl.evaluation.evaluate import accuracies
from smartcl.evaluation.metrics import average_accuracy, backward_transfer, forgetting
from smartcl.experiments.spec import RunSpec
from smartcl.experiments.tracker import MemoryTracker
from smartcl.learners.learner import Learner
from smartcl.learners.methods import build_learner
from smartcl.streams.datasets import load_stream
from smartcl.streams.stream import TaskStream

#: Called with the batches learned, the batches in all, and the learner.
Progress = Callable[[int, int, Learner], None]


@dataclass(frozen=True)
class PreparedRun:
    """A spec whose arguments have all proved valid: the stream is loaded, the learner built."""

    spec: RunSpec
    stream: TaskStream
    learner: Learner

    def run(self, progress: Progress | None = None) -> dict[str, Any]:
        """Learn and test; the result as plain JSON-able values."""
        result = learn(self.learner, self.stream, progress)
        return {
            **result,
            "stream": self.stream.name,
            "spec": self.spec.as_dict(),
            "settings": self.spec.settings,
            "versions": {name: version(name) for name in ("smartcl", "torch", "numpy")},
        }


def prepare_run(spec: RunSpec, data_dir: Path | None = None) -> PreparedRun:
    """Everything that can be refused is refused here, before any training."""
    stream = load_stream(spec.dataset, spec.seed, spec.noise, data_dir)
    learner = build_learner(spec.method, stream.spec, spec.memory, spec.seed, **dict(spec.parameters))
    learner.check(next(iter(stream)))
    return PreparedRun(spec, stream, learner)


def run(spec: RunSpec, progress: Progress | None = None, data_dir: Path | None = None) -> dict[str, Any]:
    """Load the stream, build the learner, learn and test."""
    return prepare_run(spec, data_dir).run(progress)


def learn(learner: Learner, stream: TaskStream, progress: Progress | None = None) -> dict[str, Any]:
    """Learn the whole stream. Seconds count learning alone, not loading or testing."""
    tracker, done, matrix = MemoryTracker(stream), 0, []
    wall, cpu = 0.0, 0.0
    for number in range(len(stream.tasks)):
        for batch in stream.batches_of(number):
            start = time.perf_counter(), time.process_time()
            observation = learner.observe(batch)
            wall, cpu = wall + time.perf_counter() - start[0], cpu + time.process_time() - start[1]
            tracker.follow(batch, observation)
            done += 1
            if progress is not None:
                progress(done, len(stream), learner)
        task = stream.task_batch(number)
        start = time.perf_counter(), time.process_time()
        changed = learner.end_task(task)
        wall, cpu = wall + time.perf_counter() - start[0], cpu + time.process_time() - start[1]
        if changed is not None:
            tracker.follow(task, changed)
        matrix.append(accuracies(learner, stream.tasks))
        tracker.record(learner)
    table = np.array(matrix)
    store = learner.memory.store
    return {
        "accuracy": average_accuracy(table),
        "accuracy_per_task": table[-1].tolist(),
        "accuracy_matrix": table.tolist(),
        "forgetting": forgetting(table),
        "backward_transfer": backward_transfer(table),
        "samples_held": len(store),
        "memory_bytes": store.nbytes,
        "budget_bytes": learner.memory.budget.nbytes,
        "features_kept": len(store.schema),
        "memory_history": tracker.history,
        "seconds": wall,
        "cpu_seconds": cpu,
    }
