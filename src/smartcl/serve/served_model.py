"""One model that answers while it learns: what was acknowledged is in its journal, what was saved in its folder."""

from __future__ import annotations

import json
import logging
import shutil
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from smartcl.columns.column_schema import ColumnSchema
from smartcl.files.answered_rows import AnsweredRows
from smartcl.files.live import Pace
from smartcl.files.table_model import TableModel
from smartcl.files.training import SCHEMA
from smartcl.learners.ids import ids_of
from smartcl.saving.persistence import INDEX, only_trainer, write_file
from smartcl.saving.saved import Saved
from smartcl.serve.answer_scores import MISTAKES, AnswerScores, mistake
from smartcl.serve.answering import Answering, Answers, step_of
from smartcl.serve.bodies import Item
from smartcl.serve.free_memory import give_back
from smartcl.serve.limits import Keeping, Limits
from smartcl.serve.model_plan import ModelPlan
from smartcl.serve.pending import KnownIds, PendingLabels, Predicted
from smartcl.serve.refusals import RefusedError
from smartcl.serve.row_journal import Entry, EntryKind, RowJournal
from smartcl.serve.shadow import ShadowScore
from smartcl.serve.versions import Versions

#: Under this name the model's folder holds what a service has beside a model, and under ``FOLDER`` its other files.
PART = "serve"
FOLDER = "serve"
#: Bytes of the texts of rows that wait for the learner: eight of the largest bodies.
QUEUED_BODIES = 8
#: Seconds until a save that failed is tried again.
AGAIN_SECONDS = 5.0
#: Newest rows of which it is known how they read: those of a whole batch that the learner answers late.
NEWEST = 2_000
#: Ids of rows whose label came too late, as many as are named in an answer.
NAMED = 100

log = logging.getLogger("smartcl.serve")


@dataclass(frozen=True)
class Accepted:
    """What became of a request to learn. It counts once ``durable`` is done: then its rows are on the disk."""

    rows: int
    repeated: int
    unknown: list[str]
    durable: list[Future[None]]


class RowTaken(NamedTuple):
    """A row that is to be learned: where it stands in its request, and what was answered when it was predicted."""

    place: int
    row: Mapping[str, Any]
    label: str
    id: str | None
    answered: Any


@dataclass
class Queued:
    """Accepted rows of one entry of the journal that wait for the learner; ``taken`` of them do no longer."""

    number: int
    rows: list[tuple[Mapping[str, Any], str]]
    nbytes: int
    since: float
    taken: int = 0


@dataclass
class Counts:
    """Since the service began."""

    predicted: int = 0
    accepted: int = 0
    repeated: int = 0
    unknown: int = 0
    refused_full: int = 0
    learned: int = 0
    failed: int = 0
    replayed: int = 0
    saves: int = 0
    take_overs: int = 0


@dataclass(frozen=True)
class Place:
    """How far the journal is in a saved state: the first entry of which rows are to be learned, how many of it are,
    and the last entry of which everything else is in."""

    first: int = 1
    taken: int = 0
    applied: int = 0


class ServedModel:
    """A model in a folder that predicts and learns at the same time.

    ``predict`` and ``accept`` may be called by any thread; ``learn_next``, ``save`` and ``go_back`` by the learner's
    alone. ``wake`` is called with a group of entries to sync, and ``woken`` when there are rows to learn.
    """

    def __init__(
        self,
        folder: Path,
        plan: ModelPlan,
        limits: Limits,
        keeping: Keeping,
        wake: Callable[[ServedModel], None],
        woken: Callable[[], None],
    ) -> None:
        self.folder, self.plan, self.limits, self.keeping = folder, plan, limits, keeping
        self._wake, self._woken = wake, woken
        self.versions = Versions(folder / FOLDER / "versions", keeping.versions)
        self.pending = PendingLabels(limits.pending_bytes, limits.pending_seconds)
        self.known = KnownIds(limits.known_ids)
        #: Answers that were given and whose labels came later.
        self.answered = AnswerScores()
        #: The newest rows that the learner answered wrongly before it learned them; the scores are ``model.scores_``.
        self.mistakes: deque[Mapping[str, Any]] = deque(maxlen=MISTAKES)
        self._newest_rows: deque[tuple[int, Mapping[str, Any]]] = deque(maxlen=NEWEST)
        self.counts = Counts()
        self.shadow = None if keeping.shadow_rows is None else ShadowScore(keeping.shadow_rows)
        #: What went wrong last, in words, by kind; what is in order again goes.
        self.troubles: dict[str, str] = {}
        self.model: TableModel | None = None
        self._served: TableModel | None = None
        self._answering: Answering | None = None
        self._queue: deque[Queued] = deque()
        self._queued_rows = self._queued_bytes = 0
        self._in_flight: dict[str, Future[None]] = {}
        self._labels: set[str] = set()
        self._lock = threading.RLock()
        #: Takes no more rows; learns no more.
        self._closed, self._ended = threading.Event(), False
        self._unsaved, self._saved_at, self._try_again = 0, time.monotonic(), 0.0
        #: Bytes of the journal that the last save left; first rows that did not show what the columns are.
        self._journal_then, self._tried = 0, 0
        self._resources = ExitStack()
        self.opened_at = time.time()
        self._resources.enter_context(only_trainer(folder))
        try:
            self._open()
        except BaseException:
            self._resources.close()
            raise

    # what requests ask

    @property
    def label(self) -> str:
        return self.plan.label_column if self.model is None else self.model.schema.label

    @property
    def version(self) -> int:
        """Rows that the model which answers has learned."""
        return 0 if self._answering is None else self._answering.version

    @property
    def queued(self) -> int:
        """Rows that were accepted and wait for the learner."""
        return self._queued_rows

    def predict(self, items: Sequence[Item]) -> Answers:
        """Answer rows; those with an id wait for their label from now on."""
        answering = self._answering
        if answering is None:
            wanted = self.plan.first_rows
            why = f"there is no model yet: it begins with the first {wanted} labelled rows, {self.queued} have come"
            raise RefusedError(503, why, 1.0)
        rows = [item.row for item in items if item.row is not None]
        answering.check(rows)
        answers = answering.answers(rows)
        self.counts.predicted += len(rows)
        if any(item.id is not None for item in items):
            self._let_wait(items, answers)
        return answers

    def accept(self, items: Sequence[Item], key: str | None = None) -> Accepted:
        """Take rows to learn: all of them or, with a ``RefusedError``, none. ``key`` names the whole request."""
        request = None if key is None else f"request {key}"
        rows = [self._checked(item) for item in items]
        texts = [None if row is None else json.dumps(row) for row in rows]  # before others have to wait
        with self._lock:
            if self._closed.is_set():
                raise RefusedError(503, "the service is ending", 5.0)
            waits = [] if request not in self._in_flight else [self._in_flight[request]]
            if waits or (request is not None and request in self.known):
                self.counts.repeated += len(items)
                return Accepted(0, len(items), [], waits)
            self.pending.expire(time.time())
            taken, repeated, unknown = self._sorted_out(items, rows, waits)
            if taken or request is not None:
                waits.append(self._write(request, taken, [texts[place] for place, *_ in taken]))
            self.counts.repeated += repeated
            self.counts.unknown += len(unknown)
        if waits:
            self._wake(self)
        return Accepted(len(taken), repeated, unknown[:NAMED], waits)

    def sync(self) -> None:
        """Write what waits in the journal, and tell who waits for it."""
        self.journal.sync()
        if self.journal.failure is None:
            self.troubles.pop("journal", None)
        else:
            self.troubles["journal"] = f"the journal cannot be written: {_told(self.journal.failure)}"

    @property
    def retry_after(self) -> float:
        """Seconds until half of the queue will have been learned, by how fast it went lately."""
        return max(1.0, self._queued_rows / 2 / max(1.0, self.pace.at(self.counts.learned)))

    # what the learner's thread does

    def learn_next(self) -> float | None:
        """Learn the next rows together; seconds until there may be more, 0: at once, None: when they come."""
        if self._ended or (self.model is None and not self._begin()):
            return None
        assert self.model is not None
        with self._lock:
            size = self.model.classifier.batch_size
            there = sum(len(each.rows) - each.taken for each in self._queue)
            if not there:
                return None
            wait = self._queue[0].since + self.keeping.gather_seconds - time.monotonic()
            if there < size and wait > 0 and not self._closed.is_set():
                return wait
            count = min(size, there)
            self.journal.append(EntryKind.STEP, str(count).encode())
            rows = self._take(count)
        self._wake(self)
        self._learn(rows)
        return 0.0

    def save_if_due(self, now: float) -> float:
        """Save where it is time; seconds until it may be."""
        full = self.journal.nbytes - self._journal_then > self.keeping.journal_bytes  # of rows that were predicted
        if not self._unsaved and not full:
            self._saved_at = max(self._saved_at, now - self.keeping.save_seconds)
            return self.keeping.save_seconds
        due = max(self._saved_at + self.keeping.save_seconds, self._try_again)
        if (full or self._unsaved >= self.keeping.save_rows) and now >= self._try_again:
            due = now
        if now >= due:
            self.try_to_save()
            return 0.0
        return due - now

    def try_to_save(self) -> bool:
        """Save; whether the disk took it. What it did not take is in the journal still."""
        try:
            self.save()
        except OSError as error:
            self.troubles["save"] = f"the model cannot be saved: {_told(error)}; the journal has what was acknowledged"
            self._try_again = time.monotonic() + AGAIN_SECONDS
            return False
        self.troubles.pop("save", None)
        return True

    def save(self, only: bool = False) -> None:
        """Write the model, and what is beside it; cut the journal. ``only``: the state before is not kept."""
        if self.model is None or not self.model.progress.rows:
            return
        with self.journal.sync_lock, self._lock:
            self.sync()  # nothing is in flight then: what is in the tables is in the journal
            if self.journal.failure is not None:
                raise self.journal.failure
            first = self._queue[0].number if self._queue else self.journal.next_number
            taken = self._queue[0].taken if self._queue else 0
            place = Place(first, taken, self.journal.next_number - 1)
            self.pending.expire(time.time())
            state = {"place": asdict(place), **self._tables()}
        self.model.save(self.folder, only, beside={PART: state})
        text = self.model.schema.as_text().encode()
        if not (self.folder / SCHEMA).is_file() or (self.folder / SCHEMA).read_bytes() != text:
            write_file(self.folder / SCHEMA, text)
        self.versions.keep(self.folder, self.model.progress.rows)
        self.journal.cut(place.first)
        served = None if self._served is None else self._served_folder(self._served.progress.rows)
        for gone in (self.folder / FOLDER / "served").glob("*"):
            if gone != served:
                shutil.rmtree(gone, ignore_errors=True)
        self._unsaved, self._saved_at, self._journal_then = 0, time.monotonic(), self.journal.nbytes
        self.counts.saves += 1
        give_back()

    def go_back(self, version: int) -> None:
        """Go on from a saved version; what was learned since is not, and its ids are free again."""
        if version not in self.versions.there():
            there = ", ".join(map(str, self.versions.there())) or "none"
            raise RefusedError(404, f"there is no saved version {version}: there are {there}")
        loaded = TableModel.load(self.versions.path(version))
        with self._lock:
            self.journal.append(EntryKind.BACK, str(version).encode())
            self._back(loaded)
        self.save()
        self.versions.drop_after(version)

    def forget(self, ids: Sequence[str], retrain: bool = False) -> int:
        """Forget samples, and predicted rows that wait for their label; no file has them any more. How many there were.

        Saved versions go, and so do damaged ends of the journal. Rows that wait for the learner must have been learned.
        """
        assert self.model is not None
        count = self.model.forget(list(ids), retrain_from_memory=retrain)
        with self._lock:
            count += self.pending.forget(set(ids_of(ids).tolist()), self.model.schema.id)
            self.mistakes.clear()
            self.answered.mistakes.clear()
            self._newest_rows.clear()
            if retrain:
                self.answered = AnswerScores()
                self.pending.answer_only(self.model.classes)
                self._labels = set(self.model.classes)
        self._show()
        self.versions.drop_after(-1)
        self.save(only=True)
        for damaged in self.journal.folder.glob("*.damaged"):
            damaged.unlink(missing_ok=True)
        return count

    def close(self, save: bool = True) -> None:
        """Learn what waits, save, and let go of the folder. Called when no thread learns any more."""
        if self._closed.is_set():
            return
        self._closed.set()
        self.journal.sync()
        if save:
            while self.learn_next() == 0.0:
                pass
            if self._unsaved:
                self.try_to_save()
        self._ended = True
        self.journal.close()
        self._resources.close()

    @property
    def nbytes(self) -> int:
        """Bytes of the model's state, of what waits for a label, and of what waits for the learner."""
        state = 0
        if self.model is not None and self.model.progress.rows:
            state = sum(self.model.classifier.learner_.bytes_by_part.values())
        return state + self.pending.nbytes + self._queued_bytes + self.known.nbytes

    # how it is done

    def _open(self) -> None:
        place = Place()
        if (self.folder / INDEX).is_file():
            self.model = TableModel.load(self.folder)
            companions = self.model.classifier._companions
            if PART in companions:
                place = self._load(Saved(companions, "state.companions").part(PART))
            elif self.model.progress.rows:  # as it was trained: it can be gone back to
                self.versions.keep(self.folder, self.model.progress.rows)
            self._labels = set(self.model.classes)
        self.pace = Pace(0)
        self.journal = RowJournal.opened(self.folder / FOLDER / "journal", place.applied + 1)
        for repair in self.journal.repairs:
            told = f"{repair.nbytes} bytes at the end of the journal were damaged and are not replayed: {repair.file}"
            self.troubles["damage"] = told
            log.warning(told)
        if self.shadow is not None and self._served is None and self.model is not None:
            self._serve_as_it_is()
        self._show()
        for entry in self.journal.entries(place.first):
            self._replay(entry, place)

    def _replay(self, entry: Entry, place: Place) -> None:
        """Do again what an entry tells; those up to ``place.applied`` are in the tables and in the model already."""
        fresh = entry.number > place.applied
        if entry.kind is EntryKind.ROWS:
            request, rows = json.loads(entry.text)
            if fresh:
                self._apply(request, rows)
            queued = Queued(entry.number, [(row, label) for row, label, *_ in rows], len(entry.text), 0.0)
            queued.taken = place.taken if entry.number == place.first else 0
            self._queued_rows += len(queued.rows) - queued.taken
            self._queued_bytes += queued.nbytes
            if len(queued.rows) > queued.taken:
                self._queue.append(queued)
        elif fresh and entry.kind is EntryKind.PREDICTED:
            for known, text in json.loads(entry.text):
                self.pending.add(known, Predicted.from_text(text))
        elif fresh and entry.kind is EntryKind.BEGUN:
            schema = ColumnSchema.from_state(Saved(json.loads(entry.text), "journal"))
            self.model = self.plan.model(schema)
        elif fresh and entry.kind is EntryKind.STEP:
            rows = self._take(int(entry.text))
            self._learn(rows)
            self.counts.replayed += len(rows)
        elif fresh and entry.kind is EntryKind.BACK:
            self._back(TableModel.load(self.versions.path(int(entry.text))))

    def _begin(self) -> bool:
        """Make the model if the first rows show what the columns are; whether there is one now."""
        with self._lock:
            there = [pair for each in self._queue for pair in each.rows]
            enough = self.plan.first_rows if self.plan.schema is None else 1
            if len(there) < max(enough, self._tried):
                return False
            try:
                schema = self.plan.columns(there[:enough])
                self.model = self.plan.model(schema)
            except ValueError as error:
                self.troubles["columns"] = f"the first {len(there)} rows do not show what the columns are: {error}"
                self._tried = 2 * len(there)
                return False
            self.troubles.pop("columns", None)
            self.journal.append(EntryKind.BEGUN, json.dumps(schema.as_dict()).encode())
        return True

    def _checked(self, item: Item) -> Mapping[str, Any] | None:
        """The row of an item, with its id in the column of ids if the schema has one."""
        row, model = item.row, self.model
        if row is None:
            return None
        if self._answering is not None:
            self._answering.check([row])
        column = None if model is None else model.schema.id
        return row if column is None or item.id is None or column in row else {**row, column: item.id}

    def _sorted_out(
        self, items: Sequence[Item], rows: Sequence[Mapping[str, Any] | None], waits: list[Future[None]]
    ) -> tuple[list[RowTaken], int, list[str]]:
        """The rows to learn, how many were learned before, and the ids of labels whose row is not there any more."""
        taken: list[RowTaken] = []
        repeated, unknown, here = 0, list[str](), set[str]()
        for place, (item, row) in enumerate(zip(items, rows, strict=True)):
            known, waiting = item.id, None
            assert item.label is not None
            if known is not None:
                if known in self._in_flight:
                    waits.append(self._in_flight[known])
                if known in self._in_flight or known in here or known in self.known:
                    repeated += 1
                    continue
                waiting = self.pending.get(known)
                here.add(known)
            if row is None and waiting is None:
                unknown.append(known or "")
                continue
            answered = None if waiting is None else (waiting.probabilities, waiting.version)
            given = row if row is not None or waiting is None else waiting.row
            taken.append(RowTaken(place, given or {}, item.label, known, answered))
        return taken, repeated, unknown

    def _write(self, request: str | None, taken: list[RowTaken], texts: list[str | None]) -> Future[None]:
        """Hand rows to the journal if there is room for them; done when they are on the disk."""
        lines = [
            f"[{text or json.dumps(each.row)},{json.dumps([each.label, each.id, each.answered])[1:]}"
            for each, text in zip(taken, texts, strict=True)
        ]
        text = f"[{json.dumps(request)},[{','.join(lines)}]]".encode()
        self._check_room(len(taken), len(text), {each.label for each in taken})
        future: Future[None] = Future()
        future.set_running_or_notify_cancel()  # who hangs up cannot take it back any more
        ids = [each.id for each in taken if each.id is not None]
        self._in_flight.update(dict.fromkeys([*ids, *([request] if request else [])], future))
        self._queued_rows, self._queued_bytes = self._queued_rows + len(taken), self._queued_bytes + len(text)
        self.journal.append(EntryKind.ROWS, text, partial(self._settled, request, taken, len(text), future))
        return future

    def _check_room(self, rows: int, nbytes: int, labels: set[str]) -> None:
        full = self._queued_rows + rows > self.limits.queued_rows
        full |= self._queued_bytes + nbytes > QUEUED_BODIES * self.limits.body_bytes
        if full and self._queued_rows:
            self.counts.refused_full += rows
            raise RefusedError(429, f"{self._queued_rows:,} rows wait to be learned: try again later", self.retry_after)
        if len(self._labels | labels) > self.limits.classes:
            raise RefusedError(422, f"there would be more than {self.limits.classes:,} different labels")
        self._labels |= labels

    def _settled(
        self,
        request: str | None,
        taken: list[RowTaken],
        nbytes: int,
        future: Future[None],
        number: int,
        error: OSError | None,
    ) -> None:
        """The disk has a request's rows, or did not take them: in the first case they count."""
        with self._lock:
            for known in [request, *(each.id for each in taken)]:
                if known is not None:
                    self._in_flight.pop(known, None)
            if error is None:
                self._apply(request, [each[1:] for each in taken])
                self.counts.accepted += len(taken)
            if error is None and taken:
                pairs = [(each.row, each.label) for each in taken]
                self._queue.append(Queued(number, pairs, nbytes, time.monotonic()))
            else:
                self._queued_rows, self._queued_bytes = self._queued_rows - len(taken), self._queued_bytes - nbytes
        if error is None:
            future.set_result(None)
            self._woken()
        else:
            why = f"the disk did not take the rows, and they are not learned: {_told(error)}"
            future.set_exception(RefusedError(503, why, AGAIN_SECONDS))

    def _apply(self, request: str | None, rows: Sequence[Any]) -> None:
        """What an accepted request does to the tables: its ids are known, and answers given before have a label."""
        self.known.add([known for _, _, known, _ in rows if known is not None])
        if request is not None:
            self.known.add([request])
        for row, label, known, answered in rows:
            if known is not None:
                self.pending.take(known)
            if answered is not None:
                probabilities, version = answered
                self.answered.count(label, probabilities, {"row": row, "id": known, "version": version})

    def _let_wait(self, items: Sequence[Item], answers: Answers) -> None:
        now, entries = time.time(), list[tuple[str, bytes]]()
        for place, item in enumerate(items):
            if item.id is not None and item.row is not None:
                predicted = Predicted(item.row, answers.best(place), answers.of(place), answers.version, now)
                entries.append((item.id, predicted.as_text()))
        text = json.dumps([(known, predicted.decode()) for known, predicted in entries]).encode()
        with self._lock:
            self.pending.expire(now)
            for known, each in entries:
                self.pending.add_text(known, now, each)
            self.journal.append(EntryKind.PREDICTED, text)
        self._wake(self)

    def _take(self, count: int) -> list[tuple[Mapping[str, Any], str]]:
        """The next rows of the queue, at most ``count``."""
        rows: list[tuple[Mapping[str, Any], str]] = []
        with self._lock:
            while len(rows) < count and self._queue:
                head = self._queue[0]
                more = head.rows[head.taken : head.taken + count - len(rows)]
                rows += more
                head.taken += len(more)
                if head.taken == len(head.rows):
                    self._queued_bytes -= self._queue.popleft().nbytes
            self._queued_rows -= len(rows)
        return rows

    def _learn(self, rows: list[tuple[Mapping[str, Any], str]]) -> None:
        """Learn rows together; what cannot be learned is counted, and the model stays as it was."""
        model = self.model
        assert model is not None
        waiting = model.waiting
        try:
            self._compare(rows)
            first = model.progress.rows
            self._newest_rows += [(first + place, row) for place, (row, _) in enumerate(rows)]
            self._note_mistakes(model, model.learn(step_of(model, rows)))
        except Exception as error:
            log.exception("rows could not be learned")
            self.counts.failed += len(rows)
            self.troubles["learning"] = f"{len(rows)} rows could not be learned: {_told(error)}"
            model.waiting = waiting  # or they would be tried again with each of the next rows, and fail those too
            return
        self._unsaved += len(rows)
        self.counts.learned += len(rows)
        self.pace.at(self.counts.learned)
        self._show()

    def _compare(self, rows: list[tuple[Mapping[str, Any], str]]) -> None:
        """Ask both models before the shadow learns these rows; it takes over if it is better by now."""
        model, served = self.model, self._answering
        if self.shadow is None or model is None or served is None or self._served is None:
            return
        given = [row for row, _ in rows]
        old, new, better = served.answers(given), Answering(model).answers(given), False
        for place, (_, label) in enumerate(rows):
            better |= self.shadow.count(old.best(place) == label, new.best(place) == label)
        if better:
            self._serve_as_it_is()
            self.counts.take_overs += 1

    def _note_mistakes(self, model: TableModel, answered: Sequence[AnsweredRows]) -> None:
        """Keep the rows that were answered wrongly before they were learned."""
        classes, rows = model.classes, dict(self._newest_rows)
        for batch in answered:
            if batch.probabilities is None:
                continue
            best = batch.probabilities.argmax(axis=1).tolist()
            for place, (column, label) in enumerate(zip(best, batch.labels, strict=True)):
                if classes[column] != label and batch.first + place in rows:
                    chances = dict(zip(classes, batch.probabilities[place].tolist(), strict=False))
                    about = {"row": rows[batch.first + place], "version": batch.first}
                    self.mistakes.append(mistake(label, chances, about))

    def _serve_as_it_is(self) -> None:
        """Answer by a copy of the model that learns, as it is now; the copy before stays until the next save."""
        assert self.model is not None
        folder = self._served_folder(self.model.progress.rows)
        self.model.save(folder, only=True)
        self._served = TableModel.load(folder)

    def _served_folder(self, rows: int) -> Path:
        return self.folder / FOLDER / "served" / f"{rows:015d}"

    def _back(self, loaded: TableModel) -> None:
        self.model = loaded
        companions = loaded.classifier._companions
        self.known = KnownIds(self.limits.known_ids)
        if PART in companions:
            self.known.load_state_dict(Saved(companions, "state.companions").part(PART).part("known"))
        self.mistakes.clear()
        if self.shadow is not None:
            self._serve_as_it_is()
        self._unsaved += 1
        self._show()

    def _show(self) -> None:
        """Answer by the state that has just been finished."""
        model = self.model if self._served is None else self._served
        if model is not None and model.progress.rows:
            self._answering = Answering(model)

    def _tables(self) -> dict[str, Any]:
        served = None if self._served is None else self._served.progress.rows
        return {
            "known": self.known.state_dict(),
            "pending": self.pending.state_dict(),
            "answered": self.answered.state_dict(),
            "shadow": None if self.shadow is None or served is None else {**asdict(self.shadow), "version": served},
        }

    def _load(self, saved: Saved) -> Place:
        """Take over the tables of a saved state; how far the journal is in it."""
        place = saved.part("place")
        self.known.load_state_dict(saved.part("known"))
        self.pending.load_state_dict(saved.part("pending"))
        self.answered = AnswerScores.from_state(saved.part("answered"))
        if self.shadow is not None and saved.has("shadow"):
            self.shadow.load_state_dict(saved.part("shadow"))
            self._served = TableModel.load(self._served_folder(saved.part("shadow").whole("version", 0)))
        return Place(place.whole("first", 0), place.whole("taken", 0), place.whole("applied", 0))


def _told(error: Exception) -> str:
    """An error in one line."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return " ".join(str(error).split()) or type(error).__name__
