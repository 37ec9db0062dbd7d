"""Order of the features in a row's code: as they are, or the most frequent first.

In a wide sparse row, of words for instance, positions are the cost. Where the frequent features stand together at the
begin, the steps from one to the next are short there, and take few bits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smartcl.data.batch import Ints
from smartcl.memory.nonzeros import Nonzeros
from smartcl.memory.row_bytes import columns_of
from smartcl.memory.schema import Schema
from smartcl.saving.saved import Saved

#: How many features may come first, ...
STEPS = (256, 512, 1024, 2048, 4096, 8192)
#: ... and the share of all of them: most rows of fewer features have a shape, which their order keeps.
MOST_SHARE = 1 / 4


@dataclass(frozen=True, slots=True, eq=False)
class ColumnOrder:
    """``first`` are the ids of the features that come first; the others follow as they are.

    >>> order = ColumnOrder(np.array([7, 2], dtype=np.uint8))
    >>> rows = Nonzeros(np.array([3]), np.array([0, 3, 7]), np.array([1, 2, 3], dtype=np.float32))
    >>> placed = order.place(rows, Schema.full(9))
    >>> placed.ids, placed.values
    (array([0, 2, 4]), array([3., 1., 2.], dtype=float32))
    >>> order.find(placed, Schema.full(9)).ids
    array([0, 3, 7])
    """

    first: NDArray[np.unsignedinteger[Any]]

    def __post_init__(self) -> None:
        self.first.flags.writeable = False

    @property
    def nbytes(self) -> int:
        return self.first.nbytes

    def place(self, rows: Nonzeros, schema: Schema) -> Nonzeros:
        """Rows by feature id, by their place among the schema's features in this order instead."""
        columns = rows.ids if schema.is_full else columns_of(rows.ids, schema)
        first = self._columns(schema)
        if not len(first):
            return replace(rows, ids=columns)
        ascending = np.argsort(first)
        before = np.searchsorted(first, columns, sorter=ascending)
        nearest = ascending[np.minimum(before, len(first) - 1)]
        return _sorted(rows, np.where(first[nearest] == columns, nearest, columns + len(first) - before))

    def find(self, rows: Nonzeros, schema: Schema) -> Nonzeros:
        """Rows by place in this order, by feature id instead: the inverse of ``place``."""
        first = self._columns(schema)
        if not len(first):
            return rows if schema.is_full else replace(rows, ids=schema.features[rows.ids])
        others = rows.ids - len(first)
        columns = others + np.searchsorted(np.sort(first) - np.arange(len(first)), others, side="right")
        columns = np.where(others < 0, first[np.minimum(rows.ids, len(first) - 1)], columns)
        return _sorted(rows, columns if schema.is_full else schema.features[columns])

    def state_dict(self) -> dict[str, Any]:
        return {"first": self.first}

    @classmethod
    def from_state(cls, saved: Saved, n_features: int) -> ColumnOrder:
        """What ``state_dict`` described, if it can be an order of this number of features."""
        first = np.array(saved.array("first", (None,), "uint8", "uint16", "uint32", "uint64"))
        if len(np.unique(first)) < len(first) or (first >= n_features).any():
            saved.refuse("first", f"must be different features, of {n_features}")
        return cls(first)

    def _columns(self, schema: Schema) -> Ints:
        """The positions, among the schema's features, of those that come first and are in use."""
        first = self.first.astype(np.int64)
        return first if schema.is_full or not len(first) else columns_of(first[schema.mask[first]], schema)


AS_THEY_ARE = ColumnOrder(np.zeros(0, dtype=np.uint8))


def orders(rows: Nonzeros, n_features: int) -> list[ColumnOrder]:
    """As they are, and the most frequent of these rows' features first: of wide rows, several numbers of them."""
    counts = [count for count in STEPS if count <= MOST_SHARE * n_features]
    if not counts:
        return [AS_THEY_ARE]
    features, times = np.unique(rows.ids, return_counts=True)
    by_frequency = features[np.argsort(-times, kind="stable")].astype(np.min_scalar_type(n_features - 1))
    return [AS_THEY_ARE, *(ColumnOrder(by_frequency[:count].copy()) for count in counts)]


def _sorted(rows: Nonzeros, ids: Ints) -> Nonzeros:
    """The rows with these ids, ascending in each."""
    # What follows those that come first ascends already: a stable sort is several times as fast as the others here.
    by_id = np.argsort(rows.rows * (ids.max(initial=0) + 1) + ids, kind="stable")
    return Nonzeros(rows.counts, ids[by_id], rows.values[by_id])
