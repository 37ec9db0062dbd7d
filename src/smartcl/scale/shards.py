"""Training by several workers: each learns files of its own from a common base, and after each round they are merged.

A round begins from a base that all know. Its workers send back what they keep, memories and sums, and never rows. What
a round was begun with stays on disk until the next one is, so that an interrupt or a crash at any moment loses nothing,
and nothing counts twice.
"""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from smartcl.columns.column_schema import ColumnSchema
from smartcl.columns.hashed_width import USUAL_WIDTH
from smartcl.columns.recognise import FIRST_ROWS, Told, recognised
from smartcl.columns.row_encoder import RowEncoder
from smartcl.estimator import SmartClassifier
from smartcl.files.blocks import first_rows, steps
from smartcl.files.byte_streams import is_pipe
from smartcl.files.file_source import FileSource
from smartcl.files.table_model import TableModel
from smartcl.files.training import SCHEMA, Watch, check_out
from smartcl.saving.persistence import only_trainer, write_file
from smartcl.saving.saved import Saved
from smartcl.scale.merging import check_mergeable
from smartcl.scale.processes import Processes
from smartcl.scale.ray_actors import RayActors
from smartcl.scale.shard_work import ShardDone, ShardTask, shared_out
from smartcl.scale.tables import merge
from smartcl.settings import shown

#: Rows, of all files together, that the base learns first: by then the scale of inputs is fixed (after 1,000), and all
#: files have shown their names.
BASE_ROWS = 2000
#: Rows that a worker learns from one merge to the next, unless said otherwise: a minute's work, and a merge takes two
#: seconds (docs/scale.md).
MERGE_ROWS = 50_000
#: Of these rows, after how many a worker saves what it has: the most that is learned again after a worker's death.
SAVED_PARTS = 5
#: Stored samples that a network learns when workers are merged on the way: about a second, for which all wait. In the
#: end it learns each sample once.
BETWEEN_STEPS = 1000
#: What is there only while training: the plan, and a folder for bases and workers.
PLAN, PARTS = "shards.json", "shards"
ENGINES = ("local", "ray")


@dataclass(frozen=True)
class Plan:
    """Who reads what, and how far things are: the number of the round, and which workers have read all."""

    shares: tuple[tuple[str, ...], ...]
    format: str | None
    merge_rows: int
    seed: int
    round: int = 0
    ended: tuple[bool, ...] = ()

    def base(self, folder: Path) -> Path:
        """The folder of what this round begins from."""
        return folder / PARTS / f"base-{self.round}"

    def tasks(self, folder: Path, trust: Sequence[str]) -> dict[int, ShardTask]:
        """For each worker with rows left, what it is to do in this round."""
        return {
            place: ShardTask(
                str(self.base(folder)),
                str(folder / PARTS / f"round-{self.round}-worker-{place}"),
                inputs,
                self.format,
                self.merge_rows,
                (self.seed, place, self.round),
                max(1, self.merge_rows // SAVED_PARTS),
                tuple(trust),
            )
            for place, inputs in enumerate(self.shares)
            if not self.ended[place]
        }

    def write(self, folder: Path) -> None:
        write_file(folder / PLAN, json.dumps(asdict(self), indent=1).encode())

    @classmethod
    def read(cls, folder: Path) -> Plan:
        try:
            saved = Saved(json.loads((folder / PLAN).read_text()), PLAN)
            shares = tuple(tuple(str(name) for name in share) for share in saved.items("shares"))
            ended = tuple(bool(each) for each in saved.items("ended"))
            form = saved.text("format") if saved.has("format") else None
            merge_rows, seed = saved.whole("merge_rows", 1), saved.whole("seed", 0)
            if len(ended) != len(shares):
                saved.refuse("ended", "must be one for each share")
            return cls(shares, form, merge_rows, seed, saved.whole("round", 0), ended)
        except ValueError as error:
            raise ValueError(f"{folder / PLAN}: {error}") from None


def train_shards(
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    label: str | None = None,
    *,
    workers: int = 2,
    engine: str = "local",
    address: str | None = None,
    merge_rows: int = MERGE_ROWS,
    memory: str | int = "1MB",
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
    replace: bool = False,
    columns: Mapping[str, str] | None = None,
    id: str | None = None,  # noqa: A002
    schema: ColumnSchema | None = None,
    width: int = USUAL_WIDTH,
    input_format: str | None = None,
    watch: Watch = lambda model: False,
    watch_workers: Callable[[Sequence[int]], None] = lambda pids: None,
    trust_code: Sequence[str] | str = (),
    **settings: Any,
) -> TableModel:
    """Learn files by several workers, one model in the end.

    The result depends on files, seed, ``workers`` and ``merge_rows``, and not on whether a worker died on the way.

    Parameters
    ----------
    source
        Names of files. Each is read by one worker: there should be at least as many files as workers.
    label, memory, columns, id, schema, width, trust_code
        As of ``train_stream``.
    workers
        How many workers there are.
    engine
        ``"local"``, processes of this machine, or ``"ray"``, actors, whose nodes must all see the files and ``out``.
    address
        The Ray cluster; without one, Ray is begun on this machine.
    merge_rows
        Rows of each worker after which their memories and sums become the base that all go on from.
    out
        The folder of the model; ``resume`` goes on with a training in it, ``replace`` replaces the model in it.
    resume, replace
        See ``out``.
    input_format
        The format of the files, where their names do not say it.
    watch
        Called with every merged model; the answer ``True`` ends the training there.
    watch_workers
        Called several times a second with the process ids of the workers that are at work, by the local engine.
    settings
        Those of a ``SmartClassifier``.

    Examples
    --------
    >>> model = train_shards(["1.csv", "2.csv"], "late", workers=2, out="model")  # doctest: +SKIP
    """
    given_names = [source] if isinstance(source, str | os.PathLike) else source
    names = tuple(os.fspath(name) for name in given_names)
    if engine not in ENGINES:
        raise ValueError(f"engine must be one of {', '.join(ENGINES)}, got {shown(engine)}")
    if workers < 1 or merge_rows < 1:
        raise ValueError(f"workers and merge_rows must be at least 1, got {workers} and {merge_rows}")
    if any(is_pipe(name) for name in names):
        raise ValueError("shards are read from files, which each worker opens for itself: a pipe is read by one")
    trust = (trust_code,) if isinstance(trust_code, str) else tuple(trust_code)
    with TemporaryDirectory() as own:
        folder = Path(own) / "model" if out is None else Path(out)
        check_out(folder, resume, overwrite=replace)
        folder.mkdir(parents=True, exist_ok=True)
        with only_trainer(folder):
            if (folder / PLAN).is_file() and resume:
                plan = Plan.read(folder)
            elif resume and (folder / "model.json").is_file():
                return TableModel.load(folder, trust)
            else:
                told, given = Told(label, id, columns or {}, width), FileSource(names, input_format)
                base = begun(given, told, SmartClassifier(memory, **settings), schema)
                shares = tuple(shared_out(names, workers, lambda name: Path(name).stat().st_size))
                seed = settings.get("random_state")
                plan = Plan(
                    shares, input_format, merge_rows, seed if isinstance(seed, int) else 0, 0, (False,) * len(shares)
                )
                base.save(plan.base(folder))
                write_file(folder / SCHEMA, base.schema.as_text().encode())
                plan.write(folder)
            pool = Processes(len(plan.shares)) if engine == "local" else RayActors(len(plan.shares), address)
            with pool:
                while not all(plan.ended):
                    tasks = plan.tasks(folder, trust)
                    done = pool.done(list(tasks.values()), watch_workers)
                    plan, model = _next(plan, folder, tasks, done, trust)
                    if watch(model):
                        return model
            model = TableModel.load(folder, trust)
            (folder / PLAN).unlink()
            shutil.rmtree(folder / PARTS, ignore_errors=True)
        return model


def check_finished(folder: Path) -> None:
    """Refuse a folder in which several workers have not come to their end: folders inside it hold rows too."""
    if (folder / PLAN).is_file():
        raise ValueError(
            f"{folder} holds the training of several workers that has not ended: end it with --resume first"
        )


def begun(source: FileSource, told: Told, classifier: SmartClassifier, schema: ColumnSchema | None) -> TableModel:
    """The first base: it has learned the first rows of every file."""
    alone = [FileSource((name,), source.format) for name in source.inputs]
    if schema is None:
        opened = chain.from_iterable(islice(each.blocks({}), 1) for each in alone)
        _, records = first_rows(opened, FIRST_ROWS)
        if not len(records.at):
            raise ValueError(f"there are no rows to learn in {', '.join(source.inputs)}")
        schema = recognised(records, told)
        encoder = RowEncoder(schema)
        encoder.take_names(records)
    else:
        encoder = RowEncoder(schema)
    model, size = TableModel(classifier, encoder), classifier.batch_size
    batches = -(-BASE_ROWS // len(alone) // size)
    for each in alone:
        for step in islice(steps(each.blocks({}), model.encoder, size), batches):
            model.learn(step)
            check_mergeable(classifier)
    if not model.progress.rows:
        raise ValueError(f"no row could be learned in {', '.join(source.inputs)}")
    model.catch_up()
    return model


def _next(
    plan: Plan, folder: Path, tasks: Mapping[int, ShardTask], done: Sequence[ShardDone], trust: Sequence[str]
) -> tuple[Plan, TableModel]:
    """Merge what the workers of a round have learned, and make it the base of the next."""
    base = TableModel.load(plan.base(folder), trust)
    learned = [task.folder for task, each in zip(tasks.values(), done, strict=True) if each.rows]
    ended = list(plan.ended)
    for place, each in zip(tasks, done, strict=True):
        ended[place] = each.ended
    steps = None if all(ended) else BETWEEN_STEPS
    model = merge(learned, base.classifier.memory, base=base, steps=steps, trust=trust) if learned else base
    assert isinstance(model, TableModel)
    after = dataclasses.replace(plan, round=plan.round + 1, ended=tuple(ended))
    model.save(after.base(folder))
    after.write(folder)  # from here on, this round counts
    model.save(folder)
    for gone in (plan.base(folder), *(Path(task.folder) for task in tasks.values())):
        shutil.rmtree(gone, ignore_errors=True)
    return after, model
