"""One run: a stream learned from first to last batch, tested after each task."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from smartcl.learners.methods import build_learner
from smartcl.learners.stream_learner import StreamLearner
from smartcl.learners.watching import RunTimer, TellProgress
from smartcl.paper.datasets.dataset_registry import DATASETS, load_stream
from smartcl.paper.datasets.real_tasks import is_real_task
from smartcl.paper.datasets.stream_suite import SUITE
from smartcl.paper.datasets.task_stream import TaskStream
from smartcl.paper.experiments.constraint import ConstraintProbe
from smartcl.paper.experiments.keywords import KeywordNotes
from smartcl.paper.experiments.prequential_run import prequential_run
from smartcl.paper.experiments.real_stream_run import real_stream_run
from smartcl.paper.experiments.run_spec import RunSpec
from smartcl.paper.experiments.tracker import MemoryTracker
from smartcl.paper.peers.closed_forms import rival_result
from smartcl.paper.peers.rivals import RIVALS
from smartcl.paper.scores.reference_lines import REFERENCES
from smartcl.paper.scores.task_scores import Scores, accuracy, backward_transfer, forgetting, summary, tested

#: Called with the number of a task that has just been learned, and the learner.
AfterTask = Callable[[int, StreamLearner], None]

#: How often, about, a run looks at its memory and its gradients.
LOOKS = 50


@dataclass(frozen=True)
class PreparedRun:
    """A spec whose arguments have all proved valid: the stream is loaded, the learner built.

    The spec names the source of the stream that was loaded, whatever was asked for.
    """

    spec: RunSpec
    stream: TaskStream
    learner: StreamLearner

    def run(self, progress: TellProgress | None = None) -> dict[str, Any]:
        """Learn and test; the result as plain JSON-able values. Of keyword streams it notes the strongest features."""
        notes = KeywordNotes(self.stream) if self.stream.spec.sparse else None
        result = learn(self.learner, self.stream, progress, None if notes is None else notes.after_task)
        if notes is not None:
            result["keywords"] = notes.as_dict()
        if DATASETS[self.spec.dataset].references:
            result["references"] = {name: summary(line(self.stream)) for name, line in REFERENCES.items()}
        return {
            **result,
            "stream": self.stream.name,
            "task_names": self.stream.task_names,
            "spec": self.spec.as_dict(),
            "settings": self.spec.settings,
            "protocol": self.spec.protocol,
            "versions": {name: version(name) for name in ("smartcl", "torch", "numpy")},
        }


def prepare_run(spec: RunSpec, data_dir: Path | None = None) -> PreparedRun:
    """Everything that can be refused is refused here, before any training."""
    stream = load_stream(spec.dataset, spec.seed, spec.noise, data_dir)
    learner = build_learner(spec.method, stream.spec, spec.memory, spec.seed, **dict(spec.parameters))
    learner.check(next(iter(stream)))
    return PreparedRun(replace(spec, source=stream.source), stream, learner)


def run(spec: RunSpec, progress: TellProgress | None = None, data_dir: Path | None = None) -> dict[str, Any]:
    """Load the stream, build the learner, learn and test; on a stream of rows, test them and then learn them."""
    if spec.dataset in SUITE:
        return prequential_run(spec, data_dir)
    if is_real_task(spec.dataset):
        return real_stream_run(spec, data_dir)
    if spec.method in RIVALS:
        return rival_run(spec, data_dir)
    return prepare_run(spec, data_dir).run(progress)


def rival_run(spec: RunSpec, data_dir: Path | None = None) -> dict[str, Any]:
    """A rival fitted to the whole stream at once, and tested as a learner is at the end."""
    stream = load_stream(spec.dataset, spec.seed, spec.noise, data_dir)
    return {
        **rival_result(spec.method, spec.settings, stream),
        "stream": stream.name,
        "spec": replace(spec, source=stream.source).as_dict(),
        "settings": spec.settings,
        "protocol": spec.protocol,
        "versions": {name: version(name) for name in ("smartcl", "numpy", "scikit-learn")},
    }


def learn(
    learner: StreamLearner,
    stream: TaskStream,
    progress: TellProgress | None = None,
    after_task: AfterTask | None = None,
) -> dict[str, Any]:
    """Learn the whole stream. Seconds count learning alone, not loading, looking or testing."""
    tracker, probe, clock, done, rows = MemoryTracker(stream), ConstraintProbe(), RunTimer(), 0, []
    every = -(-len(stream) // LOOKS)
    for number in range(len(stream.tasks)):
        for batch in stream.batches_of(number):
            done += 1
            if done % every == 0:
                probe.look(learner, batch, done)
            with clock:
                observation = learner.observe(batch)
            tracker.follow(batch, observation)
            if done % every == 0:
                tracker.record(learner, done)
            if progress is not None:
                progress(done, len(stream), learner)
        task = stream.task_batch(number)
        with clock:
            changed = learner.end_task(task)
        if changed is not None:
            tracker.follow(task, changed)
        tracker.record(learner, done)
        if after_task is not None:
            after_task(number, learner)
        rows.append(tested(learner, stream.tasks, accuracy))
    matrix = np.array(rows)
    store = learner.memory.store
    return {
        **summary(tested(learner, stream.tasks, Scores.of)),
        "accuracy_matrix": matrix.tolist(),
        "forgetting": forgetting(matrix),
        "backward_transfer": backward_transfer(matrix),
        "samples_held": len(store),
        "share_held": 100.0 * len(store) / sum(len(task.train) for task in stream.tasks),
        "memory_bytes": store.nbytes,
        "total_bytes": learner.total_nbytes,
        "budget_bytes": learner.memory.budget.nbytes,
        "features_kept": len(store.schema),
        "memory_history": tracker.history,
        "constraint_history": probe.history,
        "seconds": clock.wall,
        "cpu_seconds": clock.cpu,
    }
