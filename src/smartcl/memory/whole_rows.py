"""Rows kept whole, all features in the stream's own dtype: what a baseline that stores samples as they are pays.

The verbs are those of ``packed_rows.py``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from smartcl.data.batch import Floats, Ints, Rows
from smartcl.memory.nonzeros import Nonzeros, float32_of, nonzeros_of, nonzeros_of_dense, pieces
from smartcl.memory.schema import Schema
from smartcl.saving.saved import Saved

#: What whole rows can be kept in.
WHOLE_DTYPES = ("bool", *(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)))
WHOLE_DTYPES += ("float16", "float32", "float64")


@dataclass(frozen=True, slots=True, eq=False)
class WholeRows:
    """A matrix with one row per sample and all features, zeros too.

    Rows that arrive sparse are priced whole from the start, but stay sparse, behind the others, until they are taken:
    of a large batch, only what is kept is ever made whole.

    >>> rows = WholeRows.empty(4, "uint8").pack(torch.tensor([[0, 0, 7, 0]]), Schema.full(4), True)
    >>> rows.nbytes, rows.sizes
    (4, array([4]))
    """

    values: NDArray[Any]
    arrived: Nonzeros | None = None

    def __post_init__(self) -> None:
        arrays = [self.values] if self.arrived is None else [self.values, *self.arrived.arrays]
        for array in arrays:
            array.flags.writeable = False

    @classmethod
    def empty(cls, n_features: int, dtype: str) -> WholeRows:
        return cls(np.zeros((0, n_features), dtype=dtype))

    def __len__(self) -> int:
        return len(self.values) + (0 if self.arrived is None else len(self.arrived))

    @property
    def whole_dtype(self) -> str:
        return str(self.values.dtype)

    @property
    def width(self) -> int:
        return int(self.values.shape[1])

    @property
    def overhead(self) -> int:
        """Nothing is held beside the rows."""
        return 0

    @property
    def nbytes(self) -> int:
        """The bytes of all rows once they are whole."""
        return len(self) * self.width * self.values.itemsize

    @property
    def sizes(self) -> Ints:
        return np.full(len(self), self.width * self.values.itemsize, dtype=np.int64)

    def pack(self, x: Rows, schema: Schema, positional: bool) -> WholeRows:
        """New rows on their own, in the same dtype, which must be able to hold their values."""
        if not isinstance(x, torch.Tensor):
            arrived = nonzeros_of(x, schema)
            self._converted(arrived.values)
            return WholeRows(self.values[:0].copy(), arrived)
        values = np.empty(tuple(x.shape), dtype=self.values.dtype)
        for piece in pieces(len(values), self.width):
            values[piece] = self._converted(float32_of(x[piece]) + np.float32(0))  # -0.0 becomes 0.0
        return WholeRows(values)

    def join(self, other: object) -> WholeRows:
        assert isinstance(other, WholeRows)
        if not len(other.values):
            parts = [rows.arrived for rows in (self, other) if rows.arrived is not None]
            return replace(self, arrived=Nonzeros.concatenate(parts) if parts else None)
        held = self._whole(np.arange(len(self)), self.values.dtype)
        return WholeRows(np.concatenate([held, other.values]), other.arrived)

    def take(self, index: Ints) -> WholeRows:
        """The rows at these positions, whole."""
        return WholeRows(self._whole(index, self.values.dtype))

    def dense(self, index: Ints, schema: Schema) -> Floats:
        return self._whole(index, np.dtype(np.float32))

    def nonzeros(self, index: Ints, schema: Schema) -> Nonzeros:
        held = index < len(self.values)
        old = index[held]
        blocks = (self.values[old[piece]].astype(np.float32) for piece in pieces(len(old), self.width))
        parts = [nonzeros_of_dense(block, schema) for block in blocks]
        if self.arrived is None:
            return Nonzeros.concatenate(parts)
        new = self.arrived.take(index[~held] - len(self.values))
        order = np.concatenate([np.flatnonzero(held), np.flatnonzero(~held)])
        return Nonzeros.concatenate([*parts, new]).take(np.argsort(order))

    def widen(self, n_features: int) -> WholeRows:
        """The same rows, zero at the new features."""
        return WholeRows(np.pad(self.values, ((0, 0), (0, n_features - self.width))), self.arrived)

    def state_dict(self) -> dict[str, Any]:
        return {"values": self.take(np.arange(len(self))).values if self.arrived is not None else self.values}

    @classmethod
    def from_state(cls, saved: Saved, n_rows: int, n_features: int, dtype: str) -> WholeRows:
        """What ``state_dict`` described, if it can be rows of this dtype."""
        values = saved.array("values", (n_rows, n_features), dtype)
        for piece in pieces(n_rows, n_features):
            with np.errstate(over="ignore"):
                exact = values[piece].astype(np.float32) == values[piece]
            if not exact.all():
                saved.refuse("values", "must be exact in single precision, as all values stored are")
        return cls(np.array(values))

    def _whole(self, index: Ints, dtype: np.dtype[Any]) -> NDArray[Any]:
        if self.arrived is None:
            return self.values[index].astype(dtype, copy=False)
        rows = np.zeros((len(index), self.width), dtype=dtype)
        held, behind = np.flatnonzero(index < len(self.values)), np.flatnonzero(index >= len(self.values))
        for piece in pieces(len(held), self.width):
            rows[held[piece]] = self.values[index[held[piece]]]
        new = self.arrived.take(index[behind] - len(self.values))
        rows[behind[new.rows], new.ids] = new.values
        return rows

    def _converted(self, values: Floats) -> NDArray[Any]:
        with np.errstate(over="ignore", invalid="ignore"):
            converted = values.astype(self.values.dtype)
            wrong = converted.astype(np.float32) != values
        if wrong.any():
            raise ValueError(f"x holds {values[wrong][0]}, which {self.values.dtype} cannot: store a wider dtype")
        return converted


def saved_dtype(saved: Saved) -> str | None:
    """The dtype in which a saved store keeps its rows whole, if it does."""
    if not saved.has("whole_dtype"):
        return None
    dtype = saved.text("whole_dtype")
    if dtype not in WHOLE_DTYPES:
        saved.refuse("whole_dtype", f"must be one of {', '.join(WHOLE_DTYPES)}, is {dtype!r}")
    return dtype
