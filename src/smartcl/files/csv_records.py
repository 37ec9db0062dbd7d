"""CSV: pieces of text to columns. PyArrow takes the pieces that are clean, where it is installed; else Python's own."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from smartcl.files.pieces import LONGEST_RECORD
from smartcl.files.records import MOST_COLUMNS, Records, Values, Wanted
from smartcl.files.values import MISSING

DELIMITERS = ",;\t|"

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
    return {
        name: table[name].to_numpy(zero_copy_only=False) if numbers else table[name].to_pylist()
        for name, numbers in names.items()
    }


def _by_python(
    text: bytes, header: Sequence[str], delimiter: str, names: Sequence[str], strangers: dict[str, int]
) -> Records:
    reader = csv.reader(io.StringIO(text.decode("utf-8", "replace"), newline=""), delimiter=delimiter)
    rows: list[list[str]] = []
    at: list[int] = []
    bad: dict[int, str] = {}
    number = 0
    while True:
        try:
            row = next(reader)
        except StopIteration:
            break
        except csv.Error as error:
            bad[number], number = f"not CSV: {error}", number + 1
            continue
        if not row:
            continue
        if len(row) == len(header):
            rows.append(row)
            at.append(number)
        else:
            bad[number] = "fewer fields than the header" if len(row) < len(header) else "more fields than the header"
        number += 1
    by_column: list[Sequence[Any]] = list(zip(*rows, strict=True)) or [()] * len(header)
    places = {name: place for place, name in enumerate(header)}
    columns = {name: by_column[places[name]] for name in names}
    return Records(columns, number, np.array(at, dtype=np.int64), bad, strangers)
