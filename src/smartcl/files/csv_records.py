"""CSV: pieces of text to columns. PyArrow takes the pieces that are clean, where it is installed; else Python's own."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from smartcl.columns.records import MOST_COLUMNS, Records, Values, Wanted
from smartcl.columns.values import MISSING
from smartcl.files.pieces import LONGEST_RECORD

DELIMITERS = ",;\t|"

#: Comes after the last line: who reads it is within quotation marks still.
END = "\n"
UNCLOSED = "a quotation mark that is not closed"

csv.field_size_limit(LONGEST_RECORD)


def delimiter_of(header: str) -> str:
    """The sign that a header's names are divided by.

    >>> delimiter_of("a;b;c,d")
    ';'
    """
    return max(DELIMITERS, key=header.count)


def header_of(name: str, first: bytes) -> list[str]:
    """The names of the columns, from the first record of a file."""
    text = first.decode("utf-8-sig", "replace")
    try:
        lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter_of(text))
        names = [column.strip() for column in next(lines, [])]
    except csv.Error as error:
        raise ValueError(f"{name} is not CSV: its first line cannot name columns: {error}") from None
    if not any(names):
        raise ValueError(f"{name} is empty: its first line must name the columns")
    if len(names) > MOST_COLUMNS:
        raise ValueError(f"{name} has {len(names):,} columns: there may be {MOST_COLUMNS:,}")
    names = [column or f"column {number}" for number, column in enumerate(names, start=1)]
    twice = (
        next((column for column in names if names.count(column) > 1), None) if len(set(names)) < len(names) else None
    )
    if twice is not None:
        raise ValueError(f"{name} has more than one column {twice!r}")
    return names


def csv_records(text: bytes, header: Sequence[str], delimiter: str, wanted: Wanted | None) -> Records:
    """The records of a piece of text without its header."""
    strangers = {} if wanted is None else {name: 0 for name in header if name not in wanted}
    names = [name for name in header if wanted is None or name in wanted]
    if wanted is not None and find_spec("pyarrow") is not None:
        columns = _by_pyarrow(text, header, delimiter, {name: wanted[name] for name in names})
        if columns is not None:
            return Records.of(columns, strangers)
    return _by_python(text, header, delimiter, names, strangers)


def _by_pyarrow(text: bytes, header: Sequence[str], delimiter: str, names: Wanted) -> dict[str, Values] | None:
    """The columns, if there is nothing odd about any record."""
    import pyarrow as pa
    from pyarrow import csv as reader

    if not names:
        return None
    quoted = b'"' in text
    if text.count(b'"') % 2:
        return None
    try:
        table = reader.read_csv(
            pa.BufferReader(text),
            reader.ReadOptions(column_names=list(header), use_threads=False, block_size=len(text) + 1),
            reader.ParseOptions(delimiter=delimiter, quote_char='"' if quoted else False, newlines_in_values=quoted),
            reader.ConvertOptions(
                column_types={name: pa.float64() if numbers else pa.string() for name, numbers in names.items()},
                include_columns=list(names),
                null_values=sorted(MISSING),
                strings_can_be_null=False,
            ),
        )
    except (pa.ArrowException, UnicodeDecodeError, KeyError):
        return None
    if quoted and table.num_rows < text.count(b"\n"):
        return None  # a record of several lines may be a quotation mark that is none
    return {
        name: table[name].to_numpy(zero_copy_only=False) if numbers else table[name].to_pylist()
        for name, numbers in names.items()
    }


def _by_python(
    text: bytes, header: Sequence[str], delimiter: str, names: Sequence[str], strangers: dict[str, int]
) -> Records:
    rows: list[Sequence[str]] = []
    at: list[int] = []
    bad: dict[int, str] = {}
    for number, found in enumerate(_rows(text.decode("utf-8", "replace"), len(header), delimiter)):
        if isinstance(found, str):
            bad[number] = found
        else:
            rows.append(found)
            at.append(number)
    by_column: list[Sequence[Any]] = list(zip(*rows, strict=True)) or [()] * len(header)
    places = {name: place for place, name in enumerate(header)}
    columns = {name: by_column[places[name]] for name in names}
    return Records(columns, len(at) + len(bad), np.array(at, dtype=np.int64), bad, strangers)


def _rows(text: str, width: int, delimiter: str) -> Iterator[list[str] | str]:
    """The fields of each record, or what is wrong with it.

    A record may take several lines, in quotation marks. If these lines are no record of this width, the marks were
    none: the first line is passed over, and the others are read anew, each by itself.
    """
    lines = list(io.StringIO(text, newline=""))
    first = 0
    while first < len(lines):
        begin, reader = first, csv.reader([*lines[first:], END], delimiter=delimiter)
        while begin < len(lines):
            row = _next(reader)
            end = first + reader.line_num
            if end > begin + 1 and not _is_record(lines[begin:end], end - begin, width, delimiter):
                yield UNCLOSED
                first = begin + 1
                break
            begin = end
            if isinstance(row, str) or len(row) == width:
                yield row
            elif row:
                yield "fewer fields than the header" if len(row) < width else "more fields than the header"
        else:
            return


def _next(reader: Iterator[list[str]]) -> list[str] | str:
    try:
        return next(reader)
    except csv.Error as error:
        return f"not CSV: {error}"


def _is_record(lines: Sequence[str], count: int, width: int, delimiter: str) -> bool:
    """Whether these lines are together one record of that many fields, each quotation mark in its place."""
    try:
        rows = list(csv.reader(lines, delimiter=delimiter, strict=True))
    except csv.Error:
        return False
    return len(lines) == count and len(rows) == 1 and len(rows[0]) == width
