"""Columns for named values: rows of a fixed width, although names appear and disappear."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from numbers import Number
from typing import Any
from zlib import crc32

import numpy as np
from scipy import sparse

#: Up to this number of columns, rows are dense.
MOST_DENSE = 4096
#: The columns kept free for names that the first rows do not have, at least.
LEAST_SPARE = 16


class NameSlots:
    """A column for each name, in the order they come, and for each value of a name that is no number.

    The first rows decide the width, unless it is given: twice the columns they need. When all are taken, further names
    share columns, each always the same one.

    >>> slots = NameSlots(4)
    >>> slots.rows([{"wind": 3, "sky": "grey"}, {"rain": True, "sky": "clear"}], learn=True)
    array([[3., 1., 0., 0.],
           [0., 0., 1., 1.]], dtype=float32)
    """

    def __init__(self, width: int | None = None) -> None:
        if width is not None and width < 1:
            raise ValueError(f"features must be at least 1, got {width}")
        self.width = width
        self.slots: dict[str, int] = {}

    def rows(self, rows: Sequence[Mapping[Any, Any]], learn: bool) -> Any:
        """Dense rows, or a CSR array of many columns; only to ``learn`` are columns given to new names."""
        pairs = [[_named(name, value) for name, value in row.items() if value is not None] for row in rows]
        if learn:
            self._take(name for row in pairs for name, _ in row)
        width = self.width or 1
        places = [(number, self._slot(name, width), value) for number, row in enumerate(pairs) for name, value in row]
        row, column, value = zip(*places, strict=True) if places else ((), (), ())
        found = sparse.coo_array((np.array(value, dtype=np.float32), (row, column)), shape=(len(rows), width))
        return found.toarray() if width <= MOST_DENSE else found.tocsr()

    def _take(self, names: Iterable[str]) -> None:
        new = [name for name in dict.fromkeys(names) if name not in self.slots]
        if self.width is None:
            self.width = len(new) + max(LEAST_SPARE, len(new))
        for name in new[: self.width - len(self.slots)]:
            self.slots[name] = len(self.slots)

    def _slot(self, name: str, width: int) -> int:
        return self.slots[name] if name in self.slots else crc32(name.encode()) % width


def _named(name: Any, value: Any) -> tuple[str, float]:
    """A number under its name; anything else is a name of its own, which is there."""
    if isinstance(value, Number | np.bool_) and not isinstance(value, complex):
        return str(name), float(value)  # type: ignore[arg-type]
    return f"{name}={value}", 1.0
