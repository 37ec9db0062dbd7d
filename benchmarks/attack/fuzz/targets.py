"""What is fuzzed: each target takes any bytes, and either works or refuses in one short line.

A target is a function of bytes that raises ``FaultError`` where a promise is broken; any other error that is not of the
library's own kinds is a fault too. ``TARGETS`` has the function that prepares each, and the inputs to begin with.
"""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from copy import deepcopy
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.attack.fuzz.edits import EDIT, changed
from benchmarks.attack.input_files import good_file
from benchmarks.attack.models import check_probabilities, check_sound
from benchmarks.attack.tries import IN_MEMORY, FaultError, check_message, first_line
from smartcl import SmartClassifier, TableModel, train_stream
from smartcl.cli.app import call
from smartcl.columns.change_log import ChangeLog
from smartcl.columns.determines import leaks, with_leaks
from smartcl.columns.recognise import Told, recognised
from smartcl.columns.row_encoder import Odd, RowEncoder
from smartcl.columns.values import name_of
from smartcl.errors import UnavailableError
from smartcl.files.blocks import Mark, first_rows, steps
from smartcl.files.file_source import FileSource
from smartcl.memory.levels import Levels
from smartcl.memory.nonzeros import Nonzeros
from smartcl.memory.row_code import RowCode
from smartcl.saving.persistence import load_state, save_state
from smartcl.saving.saved import Saved
from smartcl.serve.answering import Answering, step_of
from smartcl.serve.bodies import rows_to_learn, rows_to_predict
from smartcl.serve.invocations import rows_invoked
from smartcl.serve.limits import Limits
from smartcl.serve.refusals import RefusedError
from smartcl.serve.row_journal import EntryKind, RowJournal

#: Errors by which the library refuses.
OWN = (ValueError, FileNotFoundError, UnavailableError, RefusedError)
Try = Callable[[bytes], None]


@dataclass(frozen=True)
class Target:
    """What is tried with each input, and the inputs to begin with; ``prepared`` may write below the folder."""

    prepared: Callable[[Path], Try]
    seeds: Callable[[], list[bytes]]


def tried(attempt: Try, data: bytes) -> bool:
    """Try this input: whether it was taken rather than refused. An error that is not of the library's own is raised."""
    try:
        attempt(data)
    except FaultError:
        raise
    except OWN as error:
        if isinstance(error, RefusedError):
            error = ValueError(error.why)
        if isinstance(error, UnicodeError | json.JSONDecodeError | np.exceptions.AxisError):
            raise FaultError("an error of Python's own", first_line(error)) from error
        check_message(error, type(error).__name__)
        return False
    return True


def scratch_root() -> Path:
    """A folder in memory where the system has one."""
    return Path(IN_MEMORY) if Path(IN_MEMORY).is_dir() else Path("/tmp")


# --- readers -----------------------------------------------------------------


def _reader(ending: str, root: Path) -> Try:
    return partial(_read, root / f"rows.{ending}")


def _read(path: Path, data: bytes) -> None:
    """Read a file as training does: recognise its columns, encode its rows, learn names and words of them."""
    path.write_bytes(data)
    source = FileSource((str(path),))
    blocks = source.blocks({})
    first, records = first_rows(blocks, 1000)
    if not len(records.at):
        return
    schema = recognised(records, Told("label", width=1024))
    labels = list(map(name_of, records.columns[schema.label]))
    encoder = RowEncoder(with_leaks(schema, leaks(schema, records, labels)))
    encoder.take_names(records)
    classes: dict[str, int] = {}
    rows = 0
    marks: list[tuple[Mark, int]] = []
    for step in steps(chain(first, blocks), encoder, 50):
        made = encoder.encoded(step.rows, Odd(), 0)
        values = made.x.data if hasattr(made.x, "indptr") else made.x.numpy()
        if not np.isfinite(values).all():
            raise FaultError("a row has values that are not finite")
        if not len(step.rows):
            continue
        y = [classes.setdefault(str(each), len(classes)) for each in step.rows.labels]
        encoder.learn(made, np.array(y, np.int64), ChangeLog())
        rows += len(step.rows)
        marks += [(mark, rows) for mark in step.marks.values()]
    if marks:  # what is read from a mark on is what was left
        mark, before = marks[len(marks) // 2]
        left = sum(len(step.rows) for step in steps(source.blocks({str(path): mark}), encoder, 50))
        if before + left != rows:
            raise FaultError("reading from a mark on gives other rows", f"{before} + {left}, not {rows}")


# --- folders -----------------------------------------------------------------


@cache
def _models() -> tuple[SmartClassifier | TableModel, ...]:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 4)), np.arange(80) % 2
    X[y == 1, 0] += 2
    rows = [
        {"size": float(x[0]), "town": "abc"[n % 3], "note": f"to be {n % 5}", "label": "xy"[n % 2]}
        for n, x in enumerate(X)
    ]
    quick: dict[str, Any] = {"method": "smart", "hidden": (4,), "iterations": 1}
    return (
        SmartClassifier("2kB", random_state=0).partial_fit(X, y, ids=np.arange(80)),
        SmartClassifier("2kB", random_state=0, **quick).partial_fit(X, y),
        train_stream(rows, "label", memory="4kB", random_state=0, id=None),
        train_stream(rows, "label", memory="4kB", random_state=0, width=512, **quick),
    )


def _loading(root: Path) -> Try:
    states = []
    for number, model in enumerate(_models()):
        model.save(root / str(number))
        states.append(load_state(root / str(number)))
    return partial(_load, states, root)


def _load(states: list[dict[str, Any]], root: Path, data: bytes) -> None:
    """Change the meaning of a state under valid checksums: it is refused, or the model works."""
    which = data[0] % len(states) if data else 0
    state = deepcopy(states[which])
    changed(state, data[1:])
    folder = root / "changed"
    try:
        save_state(folder, state)
    except (ValueError, TypeError, OverflowError):  # what no folder can hold
        return
    model = TableModel.load(folder) if which > 1 else SmartClassifier.load(folder)
    classifier = model.classifier if isinstance(model, TableModel) else model
    check_sound(classifier) if which < 2 else _check_answers(classifier)


def _check_answers(classifier: SmartClassifier) -> None:
    rows = [{"size": 1.5, "town": "a", "note": "to be"}, {"size": None, "town": "new", "note": ""}]
    check_probabilities(classifier.predict_proba(rows), 2, len(classifier.classes_))


def _merging(root: Path) -> Try:
    states = []
    for number in range(2):
        rng = np.random.default_rng(number)
        X, y = rng.normal(size=(80, 4)), np.arange(80) % 2
        SmartClassifier("2kB", random_state=number).partial_fit(X, y).save(root / str(number))
        rows = [{"size": float(x[0]), "town": "abc"[n % 3], "label": "xy"[n % 2]} for n, x in enumerate(X)]
        train_stream(rows, "label", memory="4kB", random_state=number).save(root / str(2 + number))
    states = [load_state(root / str(number)) for number in range(4)]
    return partial(_merge, states, root)


def _merge(states: list[dict[str, Any]], root: Path, data: bytes) -> None:
    """Merge a folder whose state was changed with one that is as it was: exit code 0, or 2 with one line."""
    which = 2 * (data[0] % 2) if data else 0
    state = deepcopy(states[which])
    changed(state, data[1:])
    try:
        save_state(root / "changed", state)
    except (ValueError, TypeError, OverflowError):
        return
    merged = root / "merged"
    shutil.rmtree(merged, ignore_errors=True)
    _called(["merge", str(root / "changed"), str(root / str(which + 1)), "--out", str(merged)])


def _called(arguments: list[str]) -> None:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = call(arguments)
    said = err.getvalue()
    lines = [line for line in said.splitlines() if not line.startswith("smartcl: note: ")]
    if code not in (0, 2) or (code == 2 and len(lines) != 1) or "a defect" in said:
        raise FaultError(f"exit code {code}", said[-300:])


# --- the row code ------------------------------------------------------------


def _coding(root: Path) -> Try:
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 6, 60)
    columns = np.concatenate([np.sort(rng.choice(40, n, replace=False)) for n in counts])
    rows = Nonzeros(counts, columns, rng.integers(1, 5, counts.sum()).astype(np.float32))
    levels = Levels(np.array([1, 2, 4, 9], dtype=np.float32), True)
    code = RowCode.learn(rows, levels, 40, 2000)
    coded = code.write(rows)
    return partial(_code, code, coded.arena, coded.lengths)


def _code(code: RowCode, arena: np.ndarray[Any, Any], lengths: np.ndarray[Any, Any], data: bytes) -> None:
    """Change a code's state, and the bytes that it reads: refused, unreadable, or rows that it writes alike."""
    edits, own = data[1 : 1 + 2 * EDIT.size], data[1 + 2 * EDIT.size :]
    if data[:1] and data[0] % 2:
        state = deepcopy(code.state_dict())
        changed(state, edits)
        code = RowCode.from_state(Saved(state, "state"), 40)
    read = np.frombuffer(own, np.uint8) if own else arena
    if own:
        cut = 1 + own[0] % 7
        lengths = np.full(-(-len(own) // cut), cut)
        lengths[-1] = len(own) - lengths[:-1].sum()
    starts = lengths.cumsum() - lengths
    rows = code.read(read, starts, lengths)
    if rows is None:
        return
    if len(rows) != len(lengths) or (len(rows.ids) and (rows.ids < 0).any()):
        raise FaultError("rows are read that cannot be")
    if code.codable(rows).all():
        again = code.write(rows)
        back = code.read(again.arena, again.lengths.cumsum() - again.lengths, again.lengths)
        if back is None or not np.array_equal(back.ids, rows.ids) or not np.array_equal(back.values, rows.values):
            raise FaultError("a row is read back as another")


# --- the service -------------------------------------------------------------


def _requests(root: Path) -> Try:
    model = _models()[3]
    assert isinstance(model, TableModel)
    return partial(_request, deepcopy(model), Limits(text=200, name=50, values=50, rows=50))


def _request(model: TableModel, limits: Limits, data: bytes) -> None:
    """A body to each of the service's addresses: refused, or rows that can be answered, kept and learned."""
    kind, body = (data[0] % 6, data[1:]) if data else (0, b"")
    if kind < 4:
        read = rows_to_predict if kind < 2 else partial(rows_to_learn, label="label")
        items = read(body, bool(kind % 2), limits).items
    else:
        items = rows_invoked(body, kind == 5, limits)
    rows = [item.row for item in items if item.row is not None]
    text = json.dumps([rows, [item.label for item in items], [item.id for item in items]], allow_nan=False)
    if json.loads(text.encode())[0] != rows:
        raise FaultError("a row in the journal is another")
    answering = Answering(model)
    answering.check(rows)
    if rows:
        answers = answering.answers(rows)
        check_probabilities(answers.probabilities, len(rows), len(answers.classes))
    if 2 <= kind < 4 and rows:
        step = step_of(model, [(item.row, item.label or "") for item in items if item.row is not None])
        model.encoder.encoded(step.rows, Odd(), 0)


def _journals(root: Path) -> Try:
    return partial(_journal, root / "journal")


def _journal(folder: Path, data: bytes) -> None:
    """Files of a journal are these bytes: it opens, gives what is whole, takes more, and has that again."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    at = int.from_bytes(data[:2], "little") % (len(data) + 1)
    (folder / f"{1:020d}.log").write_bytes(data[2:at] if at > 2 else data[2:])
    if at > 2:
        (folder / f"{at:020d}.log").write_bytes(data[at:])
    journal = RowJournal.opened(folder)
    whole = list(journal.entries())
    numbers = [entry.number for entry in whole]
    if numbers != sorted(set(numbers)):
        raise FaultError("entries are not in their order", str(numbers[:5]))
    number = journal.append(EntryKind.ROWS, b"[1]")
    journal.sync()
    journal.close()
    again = list(RowJournal.opened(folder).entries())
    if again[:-1] != whole or again[-1] != (number, EntryKind.ROWS, b"[1]"):
        raise FaultError("a journal loses entries", f"{len(whole)} before, {len(again)} after one more")
    journal.cut(number)


def _journal_seeds() -> list[bytes]:
    root = scratch_root() / "smartcl-fuzz-seeds"
    shutil.rmtree(root, ignore_errors=True)
    journal = RowJournal.opened(root)
    for number in range(3):
        journal.append(EntryKind(1 + number), json.dumps(["x" * number]).encode())
        journal.sync()
    journal.close()
    data = next(root.glob("*.log")).read_bytes()
    shutil.rmtree(root)
    return [b"\0\0" + data, b"\x30\0" + data, b"\0\0" + data[:-3], (2 + len(data)).to_bytes(2, "little") + data + data]


# --- dicts -------------------------------------------------------------------


def _dicts(root: Path) -> Try:
    rows = [
        {"size": n % 7, "town": "abc"[n % 3], "note": f"to be {n % 5}", "day": f"2024-01-{1 + n % 28}"}
        for n in range(60)
    ]
    model = SmartClassifier("4kB", method="smart", hidden=(4,), iterations=1, random_state=0)
    model.partial_fit(rows, ["x", "y"] * 30)
    return partial(_dict, model)


def _dict(known: SmartClassifier, data: bytes) -> None:
    """JSON of one dict or of many: each door takes them, or refuses them and stays as it was."""
    try:
        given = json.loads(data)
    except (ValueError, RecursionError):
        return
    if isinstance(given, dict):
        tried(lambda _: check_probabilities(np.array([list(known.predict_proba_one(given).values())]), 1, 2), data)
    if not isinstance(given, list):
        given = [given] * 3
    new = SmartClassifier("4kB", method="smart", hidden=(4,), iterations=1, random_state=0)
    for model in (deepcopy(known), new):
        before = model.__sklearn_is_fitted__() and model.learner_.counts.total
        try:
            model.partial_fit(given, ["x", "y"] * (len(given) // 2) + ["x"] * (len(given) % 2))
        except ValueError as error:
            check_message(error, "partial_fit of dicts")
            if (model.__sklearn_is_fitted__() and model.learner_.counts.total) != before:
                raise FaultError("a refused call changed the model") from None
        else:
            check_probabilities(model.predict_proba(given), len(given), len(model.classes_))
            model.flush()


ROW = {"size": 1.5, "town": "a", "note": "to be", "day": "2024-01-05"}


def _body_seeds() -> list[bytes]:
    one, many = {"row": ROW, "id": "a"}, {"rows": [ROW, ROW], "ids": ["a", 2]}
    bodies = [one, {**one, "label": "x"}, many, {**many, "labels": ["x", True]}]
    texts = [json.dumps(body).encode() for body in bodies]
    lines = b"\n".join([*texts[:2], json.dumps(ROW).encode()])
    frames = {"dataframe_split": {"columns": ["size", "town"], "data": [[1, "a"]]}}, {"inputs": {"size": [1, 2]}}
    invoked = [json.dumps(frame).encode() for frame in frames]
    return [
        *(bytes([kind]) + text for kind in (0, 2) for text in texts),
        *(b"\1" + lines, b"\3" + lines, *(b"\4" + text for text in invoked), b"\5size,town\n1,a\n"),
    ]


def _edit_seeds(count: int) -> Callable[[], list[bytes]]:
    def seeds() -> list[bytes]:
        rng = np.random.default_rng(0)
        return [bytes([n % 4]) + EDIT.pack(*map(int, rng.integers(0, [2**16, 100, 2**40]))) for n in range(count)]

    return seeds


def _dict_seeds() -> list[bytes]:
    odd = [{"a": 10**400}, {"a": True, "b": None}, {"o": {"a": 1}, "l": [1, 2]}, {"": 1}, {"size": "1,5"}]
    return [json.dumps(each).encode() for each in (ROW, [ROW, {}], [ROW] * 4, *odd)]


TARGETS: dict[str, Target] = {
    **{
        ending: Target(partial(_reader, ending), lambda ending=ending: _file_seeds(ending))  # type: ignore[misc]
        for ending in ("csv", "jsonl", "libsvm", "parquet")
    },
    "load": Target(_loading, _edit_seeds(40)),
    "merge": Target(_merging, _edit_seeds(20)),
    "row_code": Target(_coding, lambda: [b"\0" * 30, b"\1" * 60, *_edit_seeds(10)()]),
    "bodies": Target(_requests, _body_seeds),
    "journal": Target(_journals, _journal_seeds),
    "dicts": Target(_dicts, _dict_seeds),
}


def _file_seeds(ending: str) -> list[bytes]:
    whole = good_file(ending)
    if ending == "parquet":
        return [whole]
    head = b"".join(whole.splitlines(keepends=True)[:6])
    odd = {
        "csv": ['a,label\n"x\ny",1\n"q""q",2\n', "label;a\n1;2,5\n3;1e400\n", "\ufefflabel\tn\nx\t1\n", "label\n\n1\n"],
        "jsonl": ['{"label": 1, "o": {"a": [1, 2]}}\n', '{"label": "a", "n": null}\n{"label": true}\n[]\n'],
        "libsvm": ["1 1:0.5 7:1e3\n-1 2:nan\n", "a 1:1 # note\n"],
    }[ending]
    return [head, *(text.encode() for text in odd)]
