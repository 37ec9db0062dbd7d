"""Batch of labelled rows, dense or sparse."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse

#: Rows of features: a dense tensor ``[n, D]`` or a SciPy CSR array of the same shape.
Rows: TypeAlias = "torch.Tensor | sparse.csr_array[Any, tuple[int, int]]"

Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
Floats: TypeAlias = NDArray[np.float32]
Doubles: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class Batch:
    """Rows in their native dtype, their labels, and what the stream may know besides.

    >>> batch = Batch(torch.zeros(3, 4), torch.tensor([0, 1, 0]))
    >>> len(batch), batch.n_features, batch.is_sparse
    (3, 4, False)
    """

    x: Rows
    y: torch.Tensor
    task: int | None = None
    ids: Ints | None = None
    #: How much each row counts, where not all count the same: float32, positive.
    weight: torch.Tensor | None = None

    def __post_init__(self) -> None:
        count = self.y.shape[0] if self.y.ndim == 1 else -1
        if count != self.x.shape[0]:
            raise ValueError(f"y must be one label per row: x has {self.x.shape[0]} rows, y {tuple(self.y.shape)}")
        if self.ids is not None and len(self.ids) != count:
            raise ValueError(f"ids must be one per row: {len(self.y)} rows, {len(self.ids)} ids")
        if self.weight is not None and self.weight.shape != self.y.shape:
            raise ValueError(f"weight must be one per row: {len(self.y)} rows, shape {tuple(self.weight.shape)}")

    def __len__(self) -> int:
        return self.y.shape[0]

    @property
    def n_features(self) -> int:
        return int(self.x.shape[1])

    @property
    def is_sparse(self) -> bool:
        return not isinstance(self.x, torch.Tensor)

    @property
    def nbytes(self) -> int:
        """The bytes of all that it holds."""
        rows = (self.x,) if isinstance(self.x, torch.Tensor) else (self.x.data, self.x.indices, self.x.indptr)
        return sum(part.nbytes for part in (*rows, self.y, self.ids, self.weight) if part is not None)

    def and_then(self, other: Batch) -> Batch:
        """These samples and then the others; both have ids or neither, and both have weights or neither."""
        if isinstance(self.x, torch.Tensor) and isinstance(other.x, torch.Tensor):
            x: Rows = torch.cat([self.x, other.x])
        else:
            x = sparse.csr_array(sparse.vstack([sparse.csr_array(self.x), sparse.csr_array(other.x)]))
        ids = None if self.ids is None or other.ids is None else np.concatenate([self.ids, other.ids])
        weight = None if self.weight is None or other.weight is None else torch.cat([self.weight, other.weight])
        return Batch(x, torch.cat([self.y, other.y]), other.task, ids, weight)

    def take(self, index: Ints) -> Batch:
        """The samples at these positions, in this order."""
        ids = None if self.ids is None else self.ids[index]
        weight = None if self.weight is None else self.weight[torch.from_numpy(index)]
        return Batch(take_rows(self.x, index), self.y[torch.from_numpy(index)], self.task, ids, weight)


def tensor_of(values: NDArray[Any]) -> torch.Tensor:
    """A tensor of an array that may be a user's: it shares the numbers, but for those that must not be written.

    PyTorch warns of arrays that are read-only, as those of memory maps and of joblib's workers; they are copied.

    >>> tensor_of(np.broadcast_to(np.float32(2), 3))
    tensor([2., 2., 2.])
    """
    return torch.from_numpy(values if values.flags.writeable else values.copy())


def take_rows(x: Rows, index: Ints) -> Rows:
    """The rows of ``x`` at these positions, dense or sparse as ``x`` is."""
    return x[torch.from_numpy(index)] if isinstance(x, torch.Tensor) else x[index]


def row_pieces(x: Rows, most: int) -> Iterator[Rows]:
    """The rows in order, in pieces of nearly the same size, none of more than ``most``; one if there are no rows.

    >>> [len(piece) for piece in row_pieces(torch.zeros(7, 2), 3)]
    [3, 2, 2]
    """
    n = x.shape[0]
    count = max(1, -(-n // most))
    size, rest = divmod(n, count)
    for i in range(count):
        start = i * size + min(i, rest)
        yield x[start : start + size + (i < rest)]


def joined(pieces: Iterable[torch.Tensor], n_rows: int) -> torch.Tensor:
    """One tensor of all rows. Pieces kept until the last has come would keep freed memory from the system."""
    result: torch.Tensor | None = None
    done = 0
    for piece in pieces:
        result = piece.new_empty(n_rows, piece.shape[1]) if result is None else result
        result[done : done + len(piece)] = piece
        done += len(piece)
    assert result is not None
    return result
