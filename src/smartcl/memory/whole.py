"""Rows kept whole, in the stream's own dtype: what a memory without a schema stores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from smartcl.memory.nonzeros import Floats, Nonzeros, float32_of, nonzeros_of_dense
from smartcl.memory.schema import Schema
from smartcl.streams.batch import Ints, Rows


@dataclass(frozen=True, slots=True, eq=False)
class WholeRows:
    """A matrix with one row per sample and all features, zeros too.

    >>> rows = WholeRows.empty(4, "uint8").pack(torch.tensor([[0, 0, 7, 0]]), Schema.full(4), True)
    >>> rows.nbytes, rows.sizes
    (4, array([4]))
    """

    values: NDArray[Any]

    def __post_init__(self) -> None:
        self.values.flags.writeable = False

    @classmethod
    def empty(cls, n_features: int, dtype: str) -> WholeRows:
        return cls(np.zeros((0, n_features), dtype=dtype))

    def __len__(self) -> int:
        return len(self.values)

    @property
    def whole_dtype(self) -> str:
        return str(self.values.dtype)

    @property
    def nbytes(self) -> int:
        return self.values.nbytes

    @property
    def sizes(self) -> Ints:
        return np.full(len(self), self.values.shape[1] * self.values.itemsize, dtype=np.int64)

    def pack(self, x: Rows, schema: Schema, positional: bool) -> WholeRows:
        """New rows on their own, in the same dtype, which must be able to hold their values."""
        dense = x.astype(np.float32).toarray() if not isinstance(x, torch.Tensor) else float32_of(x)
        exact = dense + np.float32(0)  # -0.0 becomes 0.0
        with np.errstate(over="ignore", invalid="ignore"):
            values = exact.astype(self.values.dtype)
            wrong = values.astype(np.float32) != exact
        if wrong.any():
            raise ValueError(f"x holds {exact[wrong][0]}, which {self.values.dtype} cannot: store a wider dtype")
        return WholeRows(values)

    def join(self, other: object) -> WholeRows:
        assert isinstance(other, WholeRows)
        return WholeRows(np.concatenate([self.values, other.values]))

    def take(self, index: Ints) -> WholeRows:
        return WholeRows(self.values[index])

    def dense(self, index: Ints, schema: Schema) -> Floats:
        return self.values[index].astype(np.float32)

    def nonzeros(self, index: Ints, schema: Schema) -> Nonzeros:
        return nonzeros_of_dense(self.dense(index, schema), schema)

    def widen(self, n_features: int) -> WholeRows:
        """The same rows, zero at the new features."""
        return WholeRows(np.pad(self.values, ((0, 0), (0, n_features - self.values.shape[1]))))

    def state_dict(self) -> dict[str, Any]:
        return {"values": self.values}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> WholeRows:
        return cls(np.array(state["values"]))
