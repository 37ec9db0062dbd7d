"""Blocks of records that are read together, and marks that say how far an input has been read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from smartcl.columns.records import Records, Wanted
from smartcl.files.byte_streams import Beginning
from smartcl.saved import Saved


@dataclass(frozen=True)
class Mark:
    """How far an input has been read: ``records`` of the block that begins at ``place``.

    A place is an offset in bytes, or a row of a Parquet file or a table in memory.
    """

    place: int = 0
    records: int = 0

    @classmethod
    def from_state(cls, saved: Saved) -> Mark:
        return cls(saved.whole("place", 0, 2**62), saved.whole("records", 0, 2**62))


@dataclass(frozen=True)
class Block:
    """Records that are read together. They are taken apart when asked for: once to find out what the columns are."""

    input: str
    place: int
    parse: Callable[[Wanted | None], Records]
    #: So many of its records were learned before.
    known: int = 0
    #: The first bytes of the file that it is of, where that file has taken the place of another one.
    beginning: Beginning | None = None
