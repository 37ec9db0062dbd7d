"""Records of a source, by column: what readers give and what becomes features; and how far a source has been read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from smartcl.data.batch import Ints
from smartcl.files.byte_streams import Beginning
from smartcl.saved import Saved

#: The values of a column: numbers with NaN where there is none, or whatever the source holds, with None.
Values: TypeAlias = "NDArray[np.float64] | Sequence[Any]"

#: The columns to read, and whether each is to be numbers; None: all, as they are.
Wanted: TypeAlias = Mapping[str, bool]

#: More columns than any table has.
MOST_COLUMNS = 1 << 16


@dataclass(frozen=True)
class Records:
    """Some records of a source, one after the other.

    ``columns`` hold one value for each row, that is, each record that could be read; ``at`` says which record it is.
    ``bad`` says what was wrong with the others. ``strangers`` are columns that were not asked for, and the record they
    were first seen in.
    """

    columns: Mapping[str, Values]
    count: int
    at: Ints
    bad: Mapping[int, str] = field(default_factory=dict)
    strangers: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, columns: Mapping[str, Values], strangers: Mapping[str, int] | None = None) -> Records:
        """Records that could all be read.

        >>> Records.of({"a": [1, 2]}).count
        2
        """
        count = len(next(iter(columns.values()), ()))
        return cls(columns, count, np.arange(count), {}, strangers or {})

    def after(self, first: int) -> Records:
        """The same without the first so many records."""
        if not first:
            return self
        row = int(np.searchsorted(self.at, first))
        return replace(
            self,
            columns={name: values[row:] for name, values in self.columns.items()},
            at=self.at[row:],
            bad={number: why for number, why in self.bad.items() if number >= first},
        )


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
