"""Columns of tables in files: CSV, JSON lines or Parquet.

A column is its distinct values and, for each row, which of them it has: a value is parsed once however many rows
share it, and one that cannot be parsed is reported with the line it first stands on.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from smartcl.data.batch import Ints
from smartcl.persistence import path_of

T = TypeVar("T")

DELIMITERS = ",;\t"
BLOCK_ROWS = 1 << 16


@dataclass(frozen=True)
class Column:
    """A named column of a file; ``lines`` says where each row stands, and ``unit`` what is counted there."""

    path: Path
    name: str
    values: tuple[Any, ...]
    codes: Ints
    lines: Ints
    unit: str = "line"

    def parsed(self, parse: Callable[[Any], T]) -> list[T]:
        """Every distinct value through ``parse``; its ``ValueError`` is told with file, line and column."""
        parsed = []
        for code, value in enumerate(self.values):
            try:
                parsed.append(parse(value))
            except ValueError as error:
                raise ValueError(f"{self.where(code)}, column {self.name!r}: {error}") from None
        return parsed

    def where(self, code: int) -> str:
        """The file and line where the value with this code first stands."""
        return f"{self.path}, {self.unit} {self.lines[int(np.argmax(self.codes == code))]}"


def read_columns(path: Path, names: Sequence[str]) -> list[Column]:
    """The columns of these names, all of the same length, at least one row."""
    path = path_of(path, "a table")
    readers = {".csv": _csv, ".tsv": _csv, ".jsonl": _jsonl, ".ndjson": _jsonl, ".parquet": _parquet, ".pq": _parquet}
    read = readers.get(path.suffix.lower())
    if read is None:
        raise ValueError(f"{path}: the name of a table must end in {', '.join(readers)}")
    if not path.is_file():
        raise ValueError(f"{path} is a folder, not a file" if path.is_dir() else f"there is no file {path}")
    try:
        columns = read(path, names)
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a text in UTF-8: save it as UTF-8, or as Parquet") from None
    if not len(columns[0].codes):
        raise ValueError(f"{path} has no rows")
    return columns


def text_of(value: Any) -> str:
    """A name, without the blanks around it."""
    text = "" if value is None else str(value).strip()
    if not text:
        raise ValueError("expected a name, got nothing")
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise ValueError(f"expected a text in Unicode, got half a character in {value!r}")
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


def _csv(path: Path, names: Sequence[str]) -> list[Column]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        first = file.readline()
        file.seek(0)
        reader = csv.reader(file, delimiter=max(DELIMITERS, key=first.count), strict=True)
        try:
            header = [name.strip() for name in next(reader, [])]
            _check_header(path, header, names)
            return _coded(path, names, _csv_rows(path, reader, header, names))
        except csv.Error as error:
            raise ValueError(f"{path}, line {reader.line_num}: {error}") from None


def _csv_rows(path: Path, reader: Any, header: list[str], names: Sequence[str]) -> Iterator[tuple[int, Any]]:
    at = [header.index(name) for name in names]
    for row in reader:
        if len(row) == len(header):
            yield reader.line_num, [row[i] for i in at]
        elif row:
            raise ValueError(f"{path}, line {reader.line_num}: expected {len(header)} fields, got {len(row)}")


def _jsonl(path: Path, names: Sequence[str]) -> list[Column]:
    with path.open(encoding="utf-8-sig") as file:
        return _coded(path, names, _json_rows(path, file, names))


def _json_rows(path: Path, lines: Iterable[str], names: Sequence[str]) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict):
            raise ValueError(f"{path}, line {number}: expected one JSON object per line")
        missing = next((name for name in names if name not in record), None)
        if missing is not None:
            raise ValueError(f"{path}, line {number}: no {missing!r} among {', '.join(map(repr, record)) or 'nothing'}")
        row = tuple(record[name] for name in names)
        nested = next((name for name, value in zip(names, row, strict=True) if isinstance(value, (list, dict))), None)
        if nested is not None:
            raise ValueError(f"{path}, line {number}, column {nested!r}: expected a text or a number")
        yield number, row


def _parquet(path: Path, names: Sequence[str]) -> list[Column]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise ValueError(f"reading {path} needs pyarrow: pip install 'smartcl[parquet]'") from None
    try:
        with path.open("rb") as raw, parquet.ParquetFile(raw) as file:
            _check_header(path, list(file.schema_arrow.names), names)
            for name in names:
                _check_type(path, name, file.schema_arrow.field(name).type)
            table = file.read(columns=list(names))
        return [_parquet_column(path, name, table[name]) for name in names]
    except (pyarrow.ArrowException, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not a Parquet file, or damaged: {error}") from None
    except OSError as error:
        if error.errno is None:  # Arrow's own, of what it found in the file
            raise ValueError(f"{path} is damaged: {error}") from None
        raise


def _check_type(path: Path, name: str, kind: Any) -> None:
    from pyarrow import types

    refused = (types.is_nested, types.is_time, types.is_duration)
    binary = (types.is_binary, types.is_large_binary, types.is_fixed_size_binary)
    if any(is_of(kind) for is_of in (*refused, *binary)):
        raise ValueError(f"{path}, column {name!r}: expected texts, numbers or dates, got {kind}")


def _parquet_column(path: Path, name: str, values: Any) -> Column:
    from pyarrow import date32, types

    if types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    if dates := types.is_timestamp(values.type) or types.is_date(values.type):
        values = values.cast(date32())
    coded = values.dictionary_encode(null_encoding="encode").combine_chunks()
    # as Python's dates, those outside the years 1 to 9999 could not even be told of
    distinct = coded.dictionary.to_numpy(zero_copy_only=False) if dates else coded.dictionary.to_pylist()
    codes = np.asarray(coded.indices, dtype=np.int64)
    return Column(path, name, tuple(distinct), codes, np.arange(1, len(codes) + 1), "row")


def _check_header(path: Path, header: list[str], names: Sequence[str]) -> None:
    if not any(header):
        raise ValueError(f"{path} is empty: its first line must name the columns")
    for name in names:
        if header.count(name) != 1:
            found = "more than one column" if name in header else "no column"
            raise ValueError(f"{path} has {found} {name!r}: it has {', '.join(map(repr, header))}")


class _Codes(dict[Any, int]):
    """Numbers for values, in the order they are first asked for."""

    def __missing__(self, value: Any) -> int:
        code = self[value] = len(self)
        return code


def _coded(path: Path, names: Sequence[str], rows: Iterator[tuple[int, Any]]) -> list[Column]:
    books = [_Codes() for _ in names]
    codes: list[list[Ints]] = [[np.zeros(0, dtype=np.int64)] for _ in names]
    lines: list[Ints] = [np.zeros(0, dtype=np.int64)]
    while block := list(islice(rows, BLOCK_ROWS)):
        lines.append(np.array([line for line, _ in block], dtype=np.int64))
        for book, column, values in zip(books, codes, zip(*(row for _, row in block), strict=True), strict=True):
            column.append(np.fromiter(map(book.__getitem__, values), np.int64, len(block)))
    where = np.concatenate(lines)
    return [
        Column(path, name, tuple(book), np.concatenate(column), where)
        for name, book, column in zip(names, books, codes, strict=True)
    ]
