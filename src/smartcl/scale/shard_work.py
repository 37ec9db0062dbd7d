"""Work of one worker in a round: it goes on from the base with its own files, saves, and stops after a number of rows.

A worker that died begins again from its last checkpoint of the round. What it learns depends on the base, its files and
the seed, and not on how often it died.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from smartcl.columns.recognise import Told
from smartcl.files.file_source import FileSource
from smartcl.files.table_model import TableModel
from smartcl.files.training import Checkpoints, Training
from smartcl.saving.persistence import INDEX
from smartcl.scale.merging import hold_names, shard_of


@dataclass(frozen=True)
class ShardTask:
    """Rows of these files to learn, after those that the base has read, in a folder of the worker's own."""

    base: str
    folder: str
    inputs: tuple[str, ...]
    format: str | None
    rows: int
    #: The seed, the number of the worker and that of the round.
    seed: tuple[int, int, int]
    checkpoint_rows: int
    trust: tuple[str, ...] = ()

    def saved_at(self) -> tuple[str, int]:
        """The folder and the time of the last checkpoint in it, 0 before the first."""
        index = Path(self.folder) / INDEX
        return self.folder, index.stat().st_mtime_ns if index.is_file() else 0


@dataclass(frozen=True)
class ShardDone:
    """What came of a task: the rows learned, whether the files are read, and the CPU seconds that it took."""

    rows: int
    ended: bool
    seconds: float


def work(task: ShardTask) -> ShardDone:
    """Do the task, or the rest of it."""
    began, folder = time.process_time(), Path(task.folder)
    base = TableModel.load(task.base, task.trust)
    before, model = base.progress.rows, base
    if (folder / INDEX).is_file():
        model = TableModel.load(folder, task.trust)
    else:
        model = replace(base, classifier=shard_of(base.classifier, task.seed))
    hold_names(model.classifier)
    reached = False

    def watch(learned: TableModel) -> bool:
        nonlocal reached
        reached = learned.progress.rows - before >= task.rows
        return reached

    if model.progress.rows - before < task.rows:
        source = FileSource(task.inputs, task.format)
        checkpoints = Checkpoints(folder, task.checkpoint_rows, seconds=1e9)
        training = Training(source, Told(model.schema.label, None, {}, 1), model.classifier, checkpoints, None, model)
        training.run(watch)
    else:
        reached = True
    return ShardDone(model.progress.rows - before, not reached, time.process_time() - began)


def shared_out(inputs: Sequence[str], workers: int, size_of: Callable[[str], int | None]) -> list[tuple[str, ...]]:
    """The inputs for each worker: the largest first, each to who has least.

    >>> shared_out(["a", "b", "c"], 2, {"a": 9, "b": 5, "c": 3}.get)
    [('a',), ('b', 'c')]
    """
    shares: list[list[str]] = [[] for _ in range(min(workers, len(inputs)))]
    sizes = [0] * len(shares)
    known = {name: size_of(name) or 0 for name in inputs}
    for name in sorted(inputs, key=lambda each: (-known[each], each)):
        least = sizes.index(min(sizes))
        shares[least].append(name)
        sizes[least] += known[name]
    return [tuple(sorted(share)) for share in shares]
