"""Where rows come from: files by name, and what Python holds them in. All give blocks of records, from a mark on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from os import PathLike, fspath
from typing import Any, Protocol

import numpy as np

from smartcl.files.arrow_records import BLOCK_ROWS, arrow_records
from smartcl.files.file_source import FileSource
from smartcl.files.json_records import columns_of, flattened
from smartcl.files.records import Block, Mark, Records, Values, Wanted

#: The name of the one input of a source that is no file.
IN_MEMORY = "rows"


class Source(Protocol):
    """Rows in blocks. ``blocks`` begins after what the marks say was read; ``inputs`` are the names marks go by."""

    @property
    def inputs(self) -> Sequence[str]: ...

    def blocks(self, marks: Mapping[str, Mark]) -> Iterator[Block]: ...


@dataclass(frozen=True)
class FrameSource:
    """A table of pandas, Polars or PyArrow, or whatever gives PyArrow's record batches; a place is a row."""

    table: Any

    @property
    def inputs(self) -> Sequence[str]:
        return (IN_MEMORY,)

    def blocks(self, marks: Mapping[str, Mark]) -> Iterator[Block]:
        mark, place = marks.get(IN_MEMORY, Mark()), 0
        read = mark.place + mark.records
        for block_rows, parse in _frames(self.table):
            if place + block_rows > read:
                yield Block(IN_MEMORY, place, parse, max(0, read - place))
            place += block_rows


def _frames(table: Any) -> Iterator[tuple[int, Any]]:
    """Pieces of a table: how many rows, and how they are read."""
    if hasattr(table, "collect") and not hasattr(table, "iter_slices"):  # Polars' lazy frame
        table = table.collect()
    if hasattr(table, "iter_slices"):
        for part in table.iter_slices(BLOCK_ROWS):
            batch = part.to_arrow().combine_chunks().to_batches()
            yield from ((piece.num_rows, _reading(arrow_records, piece)) for piece in batch)
    elif hasattr(table, "iloc"):
        for first in range(0, len(table), BLOCK_ROWS):
            part = table.iloc[first : first + BLOCK_ROWS]
            yield len(part), _reading(pandas_records, part)
    else:
        batches = table.to_batches() if hasattr(table, "to_batches") else iter(table)
        yield from ((batch.num_rows, _reading(arrow_records, batch)) for batch in batches)


def _reading(read: Any, part: Any) -> Any:
    return lambda wanted: read(part, wanted)


def pandas_records(frame: Any, wanted: Wanted | None) -> Records:
    """The rows of a pandas frame."""
    names = [str(name) for name in frame.columns]
    columns: dict[str, Values] = {}
    for place, name in enumerate(names):
        if wanted is None or name in wanted:
            column = frame.iloc[:, place]
            is_number = column.dtype.kind in "iuf" and wanted is not None and wanted[name]
            columns[name] = column.to_numpy(dtype=np.float64) if is_number else column.tolist()
    strangers = {} if wanted is None else {name: 0 for name in names if name not in wanted}
    return Records(columns, len(frame), np.arange(len(frame)), {}, strangers)


@dataclass(frozen=True)
class RowSource:
    """An iterable of dicts, or of pairs of a dict and its label, as River's; ``label`` names the label then.

    A second look at the marks means that the iterable begins anew: rows that were read are passed over.
    """

    rows: Iterable[Any]
    label: str
    chunk: int

    @property
    def inputs(self) -> Sequence[str]:
        return (IN_MEMORY,)

    def blocks(self, marks: Mapping[str, Mark]) -> Iterator[Block]:
        mark = marks.get(IN_MEMORY, Mark())
        place = mark.place + mark.records
        rows = islice(iter(self.rows), place, None)
        while chunk := list(islice(rows, self.chunk)):
            yield Block(IN_MEMORY, place, _reading(self._records, chunk))
            place += len(chunk)

    def _records(self, chunk: list[Any], wanted: Wanted | None) -> Records:
        rows = [self._row(item) for item in chunk]
        strangers = {} if wanted is None else {name: 0 for row in rows for name in row if name not in wanted}
        return Records(columns_of(rows, wanted), len(rows), np.arange(len(rows)), {}, strangers)

    def _row(self, item: Any) -> dict[str, Any]:
        if isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], Mapping):
            return {**flattened(item[0]), self.label: item[1]}
        if isinstance(item, Mapping):
            return flattened(item)
        raise ValueError(f"rows must be dicts, or pairs of a dict and its label, got {type(item).__name__}")


def source_of(source: Any, label: str, chunk: int, format: str | None = None, follow: bool = False) -> Source:  # noqa: A002
    """A source of whatever a user has: names of files, a table, an iterable of rows, or a source."""
    if hasattr(source, "blocks") and hasattr(source, "inputs"):
        own: Source = source
        return own
    if isinstance(source, str | PathLike):
        return FileSource((fspath(source),), format, follow)
    if isinstance(source, Sequence) and source and all(isinstance(item, str | PathLike) for item in source):
        return FileSource(tuple(map(fspath, source)), format, follow)
    if any(hasattr(source, name) for name in ("iloc", "iter_slices", "collect", "to_batches", "read_next_batch")):
        return FrameSource(source)
    if isinstance(source, Iterable):
        first, rows = _peeked(source)
        return FrameSource(rows) if hasattr(first, "num_rows") else RowSource(rows, label, chunk)
    raise ValueError(f"source must be files, a table or an iterable of rows, got {type(source).__name__}")


def _peeked(source: Iterable[Any]) -> tuple[Any, Iterable[Any]]:
    """The first item, and all of them; an iterable that can begin anew stays one."""
    if not isinstance(source, Iterator):
        return next(iter(source), None), source
    first = list(islice(source, 1))
    return (first[0] if first else None), chain(first, source)
