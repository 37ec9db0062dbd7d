"""Sources of rows: files by name, frames and iterables. All give blocks of records, from a mark on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from os import PathLike, fspath
from typing import Any, Protocol

import numpy as np

from smartcl.columns.frames import is_frame, pieces_of
from smartcl.columns.nested import columns_of, flattened
from smartcl.columns.records import Records, Wanted
from smartcl.files.blocks import Block, Mark
from smartcl.files.file_source import FileSource

#: The name of the one input of a source that is no file.
IN_MEMORY = "rows"


class Source(Protocol):
    """Rows in blocks. ``blocks`` begins after what the marks say was read; ``inputs`` are the names marks go by."""

    @property
    def inputs(self) -> Sequence[str]: ...

    def blocks(self, marks: Mapping[str, Mark]) -> Iterator[Block]: ...


@dataclass(frozen=True)
class FrameSource:
    """Tables of pandas, Polars or PyArrow, one after the other, such as ``pd.read_csv(chunksize=...)`` gives them.

    A place is a row.
    """

    tables: Iterable[Any]

    @property
    def inputs(self) -> Sequence[str]:
        return (IN_MEMORY,)

    def blocks(self, marks: Mapping[str, Mark]) -> Iterator[Block]:
        mark, place = marks.get(IN_MEMORY, Mark()), 0
        read = mark.place + mark.records
        for table in self.tables:
            for rows, parse in pieces_of(table):
                if place + rows > read:
                    yield Block(IN_MEMORY, place, parse, max(0, read - place))
                place += rows


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
            yield Block(IN_MEMORY, place, partial(self._records, chunk))
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
    if is_frame(source):
        return FrameSource((source,))
    if isinstance(source, Iterable):
        first, rows = _peeked(source)
        return FrameSource(rows) if is_frame(first) else RowSource(rows, label, chunk)
    raise ValueError(f"source must be files, a table or an iterable of rows, got {type(source).__name__}")


def _peeked(source: Iterable[Any]) -> tuple[Any, Iterable[Any]]:
    """The first item, and all of them; an iterable that can begin anew stays one."""
    if not isinstance(source, Iterator):
        return next(iter(source), None), source
    first = list(islice(source, 1))
    return (first[0] if first else None), chain(first, source)
