"""Records of a source, by column: what readers give, and what becomes features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from smartcl.data.batch import Ints

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
        """The same without the records before ``first``."""
        if not first:
            return self
        row = int(np.searchsorted(self.at, first))
        return replace(
            self,
            columns={name: values[row:] for name, values in self.columns.items()},
            at=self.at[row:],
            bad={number: why for number, why in self.bad.items() if number >= first},
        )
