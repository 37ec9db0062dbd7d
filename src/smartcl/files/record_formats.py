"""Records of each format of files: CSV, JSON lines, LIBSVM's lines and Parquet become columns.

A text is read a megabyte at a time, in pieces of whole records.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from smartcl.columns.frames import BLOCK_ROWS, arrow_records
from smartcl.columns.nested import TWICE, TwiceError, columns_of, flattened
from smartcl.columns.records import MOST_COLUMNS, Records, Values, Wanted
from smartcl.columns.values import LARGEST, MISSING
from smartcl.errors import extra
from smartcl.files.blocks import Block, Mark
from smartcl.files.byte_streams import ByteStream
from smartcl.settings import shown

#: A record that is longer is passed over: it has a quotation mark that is not closed, or is no table at all.
LONGEST_RECORD = 1 << 20


class Piece(NamedTuple):
    """Whole records, and the offset of the first of them; None in the place of one that was too long."""

    offset: int
    text: bytes | None


def pieces(stream: ByteStream, offset: int, quoted: bool, follow: bool, rest: bytes = b"") -> Iterator[Piece]:
    """All that follows ``offset``: ``rest``, which was read already, and the stream.

    A line break inside quotation marks ends no record. The last record needs none,
    unless there may be more of it.
    """
    more = rest or stream.read()
    rest = b""
    while more:
        rest += more
        while cut := record_end(rest[:LONGEST_RECORD], quoted):
            yield Piece(offset, rest[:cut])
            offset, rest = offset + cut, rest[cut:]
        if len(rest) > LONGEST_RECORD:
            yield Piece(offset, None)
            passed, rest = _next_line(stream, rest)
            offset += passed
        more = stream.read()
    if rest and (stream.replaced or not follow):
        yield Piece(offset, rest)


def record_end(text: bytes, quoted: bool) -> int:
    """How many of these bytes are whole records.

    >>> record_end(b'1,2\\n3,"4\\n', quoted=True)
    4
    >>> record_end(b'1,2\\n3,"4\\n', quoted=False)
    9
    """
    last = text.rfind(b"\n") + 1
    if not quoted or not text.count(b'"', 0, last) % 2:
        return last
    data = np.frombuffer(text, dtype=np.uint8, count=last)
    breaks = np.flatnonzero(data == ord("\n"))
    open_quotes = np.searchsorted(np.flatnonzero(data == ord('"')), breaks) % 2
    ends = breaks[open_quotes == 0]
    return int(ends[-1]) + 1 if len(ends) else 0


def _next_line(stream: ByteStream, rest: bytes) -> tuple[int, bytes]:
    """Go to the next line break, whatever quotation marks say: how many bytes there were, and what comes after."""
    passed = 0
    while not (cut := rest.find(b"\n") + 1):
        passed += len(rest)
        rest = stream.read()
        if not rest:
            return passed, rest
    return passed + cut, rest[cut:]


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
        raise ValueError(f"{name} has more than one column {shown(twice)}")
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


#: What is wrong with a line.
NO_OBJECT = "not a JSON object"


def json_records(text: bytes, wanted: Wanted | None) -> Records:
    """The records of a piece of text; lists are passed over.

    >>> json_records(b'{"a": 1}\\n[2]\\n{"a": 3, "b": {"c": 4}}\\n', {"a": True})
    Records(columns={'a': [1, 3]}, count=3, at=array([0, 2]), bad={1: 'not a JSON object'}, strangers={'b.c': 2})
    """
    rows: list[dict[str, Any]] = []
    at: list[int] = []
    bad: dict[int, str] = {}
    strangers: dict[str, int] = {}
    lines = [line for line in text.split(b"\n") if line.strip()]
    for number, line in enumerate(lines):
        row = _object(line)
        if isinstance(row, str):
            bad[number] = row
            continue
        rows.append(row)
        at.append(number)
        if wanted is not None and not row.keys() <= wanted.keys():
            for name in row.keys() - wanted.keys():
                strangers.setdefault(name, number)
    columns = columns_of(rows, wanted)
    return Records(columns, len(lines), np.array(at, dtype=np.int64), bad, strangers)


def _object(line: bytes) -> dict[str, Any] | str:
    """A record, or what is wrong with it."""
    try:
        found = json.loads(line, object_pairs_hook=_each_name_once)
        return flattened(found) if isinstance(found, dict) else NO_OBJECT
    except TwiceError:
        return TWICE
    except (ValueError, RecursionError):
        return NO_OBJECT


def _each_name_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise TwiceError
    return found


#: The names that the two columns of such a file go by.
LABEL, FEATURES = "label", "features"

#: The features of a row that are not zero: their numbers and their values.
Indexed: TypeAlias = "tuple[list[int], list[float]]"

#: Larger numbers of a feature are damage.
MOST_FEATURE = 2**62

LOOKS_LIKE = re.compile(rb"\S+(\s+(\d+:\S+|qid:\d+))+\s*(#.*)?\r?$")


def libsvm_records(text: bytes) -> Records:
    """The records of a piece of text.

    >>> libsvm_records(b"+1 3:0.5 7:1 # why\\nx:2\\n").columns
    {'label': ['+1'], 'features': [([3, 7], [0.5, 1.0])]}
    """
    labels: list[str] = []
    features: list[Indexed] = []
    at: list[int] = []
    bad: dict[int, str] = {}
    lines = [line for line in (raw.partition(b"#")[0].split() for raw in text.split(b"\n")) if line]
    for number, (label, *pairs) in enumerate(lines):
        row = _features(pairs)
        if row is None or b":" in label:
            bad[number] = "not 'label feature:value ...'"
            continue
        labels.append(label.decode("utf-8", "replace"))
        features.append(row)
        at.append(number)
    return Records({LABEL: labels, FEATURES: features}, len(lines), np.array(at, dtype=np.int64), bad)


def _features(pairs: list[bytes]) -> Indexed | None:
    ids, values = [], []
    try:
        for pair in pairs:
            name, _, value = pair.partition(b":")
            if name == b"qid":
                continue
            number, amount = int(name), float(value)
            if not (0 <= number < MOST_FEATURE and math.isfinite(amount) and abs(amount) <= LARGEST):
                return None
            ids.append(number)
            values.append(amount)
    except ValueError:
        return None
    return ids, values


def parquet_blocks(name: str, mark: Mark) -> Iterator[Block]:
    """The blocks of a Parquet file from a mark on; a place is the number of a row."""
    parquet = extra("pyarrow.parquet", "parquet")
    with _told(name), open(name, "rb") as raw, parquet.ParquetFile(raw) as file:  # noqa: PTH123
        place = 0
        for group in range(file.num_row_groups):
            rows = file.metadata.row_group(group).num_rows
            if place + rows <= mark.place:
                place += rows
                continue
            for batch in file.iter_batches(BLOCK_ROWS, row_groups=[group], use_threads=False):
                if place >= mark.place:
                    yield Block(name, place, _parser(batch), mark.records if place == mark.place else 0)
                place += batch.num_rows


@contextmanager
def _told(name: str) -> Iterator[None]:
    """Inside, what Arrow finds wrong with a file is a ``ValueError``."""
    arrow = extra("pyarrow", "parquet")
    try:
        yield
    except (arrow.ArrowException, UnicodeDecodeError) as error:
        raise ValueError(f"{name} is not a Parquet file, or damaged: {error}") from None
    except OSError as error:
        if error.errno is None:
            raise ValueError(f"{name} is damaged: {error}") from None
        raise


def _parser(batch: Any) -> Any:
    return lambda wanted: arrow_records(batch, wanted)
