"""Training on a stream of rows that may be stopped at any moment: it goes on from its last checkpoint, bit for bit."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

from smartcl.columns.column_schema import ColumnSchema
from smartcl.columns.determines import Leak, leaks, warn_of, with_leaks
from smartcl.columns.hashed_width import USUAL_WIDTH
from smartcl.columns.recognise import FIRST_ROWS, Told, recognised
from smartcl.columns.records import Records
from smartcl.columns.row_encoder import RowEncoder
from smartcl.columns.values import name_of
from smartcl.estimator import SmartClassifier
from smartcl.files.answered_rows import AnsweredRows
from smartcl.files.blocks import NO_LABEL, Block, Mark, first_rows, steps
from smartcl.files.byte_streams import Beginning, check_input, is_pipe
from smartcl.files.file_source import FileSource
from smartcl.files.live import LIVE
from smartcl.files.sources import Source, source_of
from smartcl.files.table_model import TableModel
from smartcl.saving.atomic import check_writable
from smartcl.saving.persistence import INDEX, only_trainer, path_of, write_file

T = TypeVar("T")

#: Rows by which the columns are recognised where a source waits for rows.
FIRST_FOLLOWED = 50
#: The schema, to be read and to be given with ``--schema``; what counts is the copy in the model itself.
SCHEMA = "schema.json"

#: Called after every batch; the answer ``True`` ends the training there.
Watch = Callable[[TableModel], bool]
ToldColumns = Callable[[ColumnSchema, Records, Sequence[Leak]], None]

#: Called with the rows that were just learned, and what was answered to them before.
Heard = Callable[[TableModel, list[AnsweredRows]], None]


@dataclass(frozen=True)
class Checkpoints:
    """Where a model is saved while it learns, and after how many rows or seconds at the latest; None: nowhere."""

    folder: Path | None = None
    rows: int | None = None
    seconds: float = 60.0

    def __post_init__(self) -> None:
        if self.rows is not None and self.rows < 1:
            raise ValueError(f"a checkpoint must come after at least 1 row, got {self.rows}")
        if not self.seconds > 0:
            raise ValueError(f"a checkpoint must come after more than 0 seconds, got {self.seconds:g}")

    def due(self, rows: int, seconds: float) -> bool:
        """Whether it is time, after these rows and seconds."""
        return seconds > self.seconds or (self.rows is not None and rows >= self.rows)

    def alone(self) -> AbstractContextManager[None]:
        """Inside, no other process trains in the folder."""
        return nullcontext() if self.folder is None else only_trainer(self.folder)


@dataclass
class Training:
    """A source, and the model that learns it; there is none before the first rows have shown what the columns are."""

    source: Source
    told: Told
    classifier: SmartClassifier
    checkpoints: Checkpoints = field(default_factory=Checkpoints)
    schema: ColumnSchema | None = None
    model: TableModel | None = None
    #: After how many rows a label is known; None: as the model has it, which is when its batch was answered.
    delay: int | None = None
    heard: Heard = lambda model, learned: None
    #: Is told what the columns were taken for, by which rows, and which of them nearly determine the label.
    told_columns: ToldColumns = lambda schema, records, found: warn_of(found)
    #: Whether the next rows are being waited for, and nothing is lost by an interrupt.
    waits: bool = False

    def run(self, watch: Watch = lambda model: False) -> TableModel:
        """Learn all rows, with a checkpoint after the first batch, on the way and at the end.

        Where reading ends in an error or an interrupt, what was learned until then is saved too.
        """
        with self.checkpoints.alone():
            blocks = self._reading(self._begin)
            assert self.model is not None
            model, unsaved, saved_at = self.model, 0, -float("inf")
            if self.delay is not None:
                model.delay = self.delay
            batches = steps(blocks, model.encoder, model.batch_rows)
            while (step := self._reading(lambda: next(batches, None))) is not None:
                self.heard(model, model.learn(step))
                unsaved += len(step.rows)
                if self.checkpoints.due(unsaved, time.monotonic() - saved_at):
                    self._checkpoint()
                    unsaved, saved_at = 0, time.monotonic()
                if model.progress.rows and watch(model):  # before the first row there is nothing to see
                    break
            else:
                self.heard(model, model.catch_up())
            self._checkpoint()
        if not model.progress.rows:
            raise ValueError(f"no row could be learned: {_why_none(model)}")
        return model

    def _reading(self, read: Callable[[], T]) -> T:
        """Read, which may take as long as there is nothing to read; an interrupt then loses nothing."""
        try:
            self.waits = True
            return read()
        except BaseException:
            self._checkpoint()
            raise
        finally:
            self.waits = False

    def _begin(self) -> Iterator[Block]:
        """The blocks to learn; with them there is a model."""
        if self.model is not None:
            return self.source.blocks(self._marks(self.model))
        blocks = self.source.blocks({})
        first: list[Block] = []
        records = Records.of({})
        if self.schema is None:
            follow = getattr(self.source, "follow", False)
            first, records = first_rows(blocks, FIRST_FOLLOWED if follow else FIRST_ROWS)
            if not len(records.at):
                raise ValueError(f"there are no rows to learn in {', '.join(self.source.inputs)}")
            self.schema = recognised(records, self.told)
            found = leaks(self.schema, records, list(map(name_of, records.columns[self.schema.label])))
            self.schema = with_leaks(self.schema, found)
            self.told_columns(self.schema, records, found)
        encoder = RowEncoder(self.schema)
        encoder.take_names(records)
        self.model = TableModel(self.classifier, encoder)
        self._note_beginnings(self.model)
        return chain(first, blocks)

    def _marks(self, model: TableModel) -> Mapping[str, Mark]:
        """Where to go on: files where they were left; what comes from a pipe is new."""
        for name, beginning in model.progress.beginnings.items():
            if name in self.source.inputs and not is_pipe(name):
                beginning.check(name)
        self._note_beginnings(model)
        return {name: mark for name, mark in model.progress.marks.items() if not is_pipe(name)}

    def _note_beginnings(self, model: TableModel) -> None:
        if isinstance(self.source, FileSource):
            for name in self.source.inputs:
                if not is_pipe(name) and name not in model.progress.beginnings:
                    model.progress.beginnings[name] = Beginning.of(name)

    def _checkpoint(self) -> None:
        folder, model = self.checkpoints.folder, self.model
        if folder is None or model is None or not model.progress.rows:
            return
        text, path = model.schema.as_text().encode(), folder / SCHEMA
        try:
            model.save(folder)
            if not path.is_file() or path.read_bytes() != text:
                write_file(path, text)
        except OSError as error:
            why = f"{error.strerror or error}: what was learned last is not saved, the checkpoint before is whole"
            raise type(error)(error.errno, why, str(folder)) from None


def _why_none(model: TableModel) -> str:
    """What was wrong with all rows of a source."""
    skipped, label = model.progress.skipped, model.schema.label
    why = ", ".join(f"{count:,} {reason}" for reason, count in skipped.items()) or "there is none"
    return f"{why}; the column {label!r} must hold texts, numbers or truth values" if NO_LABEL in skipped else why


def check_out(folder: Path, resume: bool, overwrite: bool) -> bool:
    """Whether there is a model to go on with; refuse to replace one unasked, and a folder that cannot be written."""
    if path_of(folder, "out").exists() and not folder.is_dir():
        raise ValueError(f"{folder} must be a folder, but is a file")
    there = (folder / INDEX).is_file()
    if there and not resume and not overwrite:
        raise ValueError(f"{folder} holds a model: add --resume to go on with it, --overwrite to replace it")
    check_writable(folder)
    return there and resume


def train_stream(
    source: Any,
    label: str | None = None,
    *,
    memory: str | int = "1MB",
    out: str | PathLike[str] | None = None,
    resume: bool = False,
    columns: Mapping[str, str] | None = None,
    id: str | None = None,  # noqa: A002
    schema: ColumnSchema | None = None,
    width: int = USUAL_WIDTH,
    delay: int | None = None,
    checkpoint_rows: int | None = None,
    checkpoint_seconds: float = 60.0,
    watch: Watch = lambda model: False,
    heard: Heard = lambda model, learned: None,
    trust_code: Sequence[str] | str = (),
    **settings: Any,
) -> TableModel:
    """Learn a stream of rows: names of files, a table of pandas, Polars or PyArrow, or an iterable of dicts.

    ``label`` names the column of the label; where rows are pairs of a dict and a label, it need not. ``columns`` says
    what a column is (``number``, ``truth``, ``date``, ``category``, ``text``, ``ignored``) where its first rows would
    not show it; words and many names are hashed into ``width`` features. ``settings`` are those of a
    ``SmartClassifier``. A label is known, and learned, when ``delay`` rows have been answered, its own included; by
    default when its batch has been. ``watch(model)`` is called after each batch, and ``heard(model, learned)`` with the
    rows of it and their answers. With ``out``, the model is saved there as it learns, and ``resume=True`` goes on
    where the last checkpoint was; ``trust_code`` then names the modules that may be imported, as ``trust`` of
    ``TableModel.load``.

    >>> rows = [({"wind": wind, "sky": sky}, wind > 3) for wind in range(8) for sky in ("clear", "grey")]
    >>> model = train_stream(rows * 10, memory="2kB", random_state=0)
    >>> model.predict([{"wind": 1, "sky": "grey"}, {"wind": 6, "sky": "new"}]).tolist()
    ['false', 'true']
    """
    folder = None if out is None else Path(out)
    goes_on = folder is not None and check_out(folder, resume, overwrite=False)
    begun = TableModel.load(folder, trust_code) if goes_on and folder is not None else None
    classifier = SmartClassifier(memory, **settings) if begun is None else begun.classifier
    name = label or (begun.schema.label if begun is not None else "label")
    given = source_of(source, name, classifier.batch_size)
    told = Told(name, id, columns or {}, width)
    checkpoints = Checkpoints(folder, checkpoint_rows, checkpoint_seconds)
    return Training(given, told, classifier, checkpoints, schema, begun, delay, heard).run(watch)


def ids_in_file(path: Path) -> list[str]:
    """The ids in a file, one a line."""
    check_input(str(path))
    try:
        ids = [line.strip() for line in path.read_text(encoding="utf-8-sig").splitlines()]
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a text in UTF-8") from None
    return [known for known in ids if known]


def forget_in_folder(folder: Path, ids: list[str], retrain: bool, trust: Sequence[str] = ()) -> dict[str, Any]:
    """Forget samples of the model in a folder; neither its state nor the one before it holds them any more."""
    if not path_of(folder, "model").is_dir():
        raise ValueError(f"there is no folder {folder}")
    with only_trainer(folder):
        model = TableModel.load(folder, trust)
        forgotten = model.forget(ids, retrain_from_memory=retrain)
        if retrain:  # what lies beside the model tells of the rows too
            if (folder / SCHEMA).is_file():
                write_file(folder / SCHEMA, model.schema.as_text().encode())
            (folder / LIVE).unlink(missing_ok=True)
        model.save(folder, only=True)
        return {"asked": len(ids), "forgotten": forgotten, "held": len(model.classifier.memory_)}
