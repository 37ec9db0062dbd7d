"""The columns of a file of counts or events, read by the readers of ``files``.

A column is its distinct values and, for each record, which of them it has: a value is parsed once however many records
share it. One that cannot be parsed is reported with the first record that has it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from smartcl.columns.records import Records
from smartcl.data.batch import Ints
from smartcl.files.file_source import FileSource, format_told
from smartcl.files.formats import ENDINGS, LIBSVM
from smartcl.saving.atomic import path_of

T = TypeVar("T")


@dataclass(frozen=True)
class EventColumn:
    """A named column: ``codes`` says which of the distinct ``values`` each record has."""

    path: Path
    name: str
    values: tuple[Any, ...]
    codes: Ints

    def parsed(self, parse: Callable[[Any], T]) -> list[T]:
        """Every distinct value through ``parse``; its ``ValueError`` is told with file, record and column."""
        parsed = []
        for code, value in enumerate(self.values):
            try:
                parsed.append(parse(value))
            except ValueError as error:
                raise ValueError(f"{self.where(code)}, column {self.name!r}: {error}") from None
        return parsed

    def where(self, code: int) -> str:
        """The file and the first record that has the value with this code, counted from 1 and without a header."""
        return f"{self.path}, record {int(np.argmax(self.codes == code)) + 1}"


def read_columns(path: Path, names: Sequence[str]) -> list[EventColumn]:
    """The columns of these names, all of the same length, with at least one record.

    A record that cannot be read is refused: counts with a gap would be taken for counts of zero.
    """
    path = path_of(path, "a table")
    if format_told(str(path)) in (None, LIBSVM):
        endings = ", ".join(ending for ending, kind in ENDINGS.items() if kind != LIBSVM)
        raise ValueError(f"{path}: the name of a table must end in {endings}")
    if not path.is_file():
        raise ValueError(f"{path} is a folder, not a file" if path.is_dir() else f"there is no file {path}")
    books: dict[str, dict[Any, int]] = {name: {} for name in names}
    codes: dict[str, list[int]] = {name: [] for name in names}
    others: dict[str, None] = {}
    there: dict[str, None] = {}
    count = 0
    for records in _read(path, names):
        if records.bad:
            first = min(records.bad)
            raise ValueError(f"{path}, record {count + first + 1}: {records.bad[first]}")
        there |= dict.fromkeys(records.columns)
        others |= dict.fromkeys(records.strangers)
        for name in names:
            book = books[name]
            values = records.columns.get(name, [None] * records.count)
            codes[name] += [book.setdefault(value, len(book)) for value in values]
        count += records.count
    missing = next((name for name in names if name not in there), None)
    if missing is not None and (there or others):
        raise ValueError(f"{path} has no column {missing!r}: it has {', '.join(map(repr, (*there, *others)))}")
    if not count:
        raise ValueError(f"{path} has no rows")
    return [EventColumn(path, name, tuple(books[name]), np.array(codes[name], dtype=np.int64)) for name in names]


def _read(path: Path, names: Sequence[str]) -> Iterator[Records]:
    wanted = dict.fromkeys(names, False)
    try:
        for block in FileSource((str(path),)).blocks({}):
            yield block.parse(wanted)
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a text in UTF-8: save it as UTF-8, or as Parquet") from None


def text_of(value: Any) -> str:
    """A name, without the blanks around it."""
    text = "" if value is None else str(value).strip()
    if not text:
        raise ValueError("expected a name, got nothing")
    if "\ufffd" in text or any("\ud800" <= char <= "\udfff" for char in text):
        raise ValueError(f"expected a text in Unicode, got {value!r}: save the file as UTF-8")
    return text


def day_of(value: Any) -> date:
    """A day; a time of the day is dropped.

    >>> day_of("2014-03-01T22:15:00Z")
    datetime.date(2014, 3, 1)
    """
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    if isinstance(value, np.datetime64):
        value = None if np.isnat(value) else str(value)
    try:
        return datetime.fromisoformat(str(value).strip()).date()
    except ValueError:
        raise ValueError(f"expected an ISO date such as 2014-03-01, got {value!r}") from None


def count_of(value: Any) -> float:
    """A finite number of at least 0."""
    try:
        count = float(value)
    except (TypeError, ValueError, OverflowError):
        count = np.nan
    if not 0 <= count < np.inf:
        raise ValueError(f"expected a count of at least 0, got {value!r}")
    return count
