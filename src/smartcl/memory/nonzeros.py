"""Rows in canonical form: the values that are not zero, and their features."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse

from smartcl.data.batch import Bools, Floats, Ints, Rows
from smartcl.memory.schema import Bytes, Schema

#: The number of cells that are made whole at a time, whatever the size of the batch or of the memory.
PIECE_CELLS = 2**22


@dataclass(frozen=True, slots=True, eq=False)
class Nonzeros:
    """Row by row, the sorted feature ids and the values that are not zero: ``counts[i]`` of them in row ``i``."""

    counts: Ints
    ids: Ints
    values: Floats

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        return self.counts, self.ids, self.values

    @property
    def rows(self) -> Ints:
        """The row of each value."""
        return np.repeat(np.arange(len(self.counts)), self.counts)

    @property
    def gaps(self) -> Ints:
        """For each value, how many feature ids lie between it and the one before in its row."""
        starts = (self.counts.cumsum() - self.counts)[self.counts > 0]
        skipped = np.diff(self.ids, prepend=0) - 1
        skipped[starts] = self.ids[starts]
        return skipped

    def all_of(self, holds: Bools) -> Bools:
        """Whether a condition on values holds for all values of each row."""
        if holds.all():
            return np.ones(len(self.counts), dtype=np.bool_)
        failures: Ints = np.bincount(self.rows[~holds], minlength=len(self.counts))
        return np.equal(failures, 0)

    @classmethod
    def concatenate(cls, parts: list[Nonzeros]) -> Nonzeros:
        """The rows of all parts, one part after the other."""
        if len(parts) == 1:
            return parts[0]
        none = np.zeros(0, dtype=np.int64)
        return cls(
            np.concatenate([none, *(part.counts for part in parts)]),
            np.concatenate([none, *(part.ids for part in parts)]),
            np.concatenate([none.astype(np.float32), *(part.values for part in parts)]),
        )

    def take(self, index: Ints) -> Nonzeros:
        """The rows at these positions, in this order."""
        counts = self.counts[index]
        at = spans((self.counts.cumsum() - self.counts)[index], counts)
        return Nonzeros(counts, self.ids[at], self.values[at])

    def within(self, schema: Schema) -> Nonzeros:
        """The same rows without the features that are out of ``schema``."""
        return self if schema.is_full else self._where(schema.mask[self.ids])

    def known_to(self, known: Bools, versions: Bytes) -> Nonzeros:
        """The same rows without the features that a row's version does not know: ``known[version, feature]``."""
        return self if known.all() else self._where(known[versions[self.rows], self.ids])

    def without_zeros(self) -> Nonzeros:
        return self._where(self.values != 0)

    def _where(self, keep: Bools) -> Nonzeros:
        if keep.all():
            return self
        counts = np.bincount(self.rows[keep], minlength=len(self.counts))
        return Nonzeros(counts, self.ids[keep], self.values[keep])

    def to_csr(self, n_features: int) -> sparse.csr_array[Any, tuple[int, int]]:
        indptr = np.concatenate([[0], self.counts.cumsum()])
        return sparse.csr_array((self.values, self.ids, indptr), shape=(len(self.counts), n_features))


def nonzeros_of(x: Rows, schema: Schema) -> Nonzeros:
    """The non-zeros of ``x`` in ``schema``, as float32.

    Explicit zeros and -0.0 are zeros; duplicate entries of a CSR array are summed.

    >>> nonzeros_of(torch.tensor([[0, 5, 7], [0, 0, 9]]), Schema.of(np.array([True, True, False]))).ids
    array([1])
    """
    if isinstance(x, torch.Tensor):
        dense = float32_of(x)
        return nonzeros_of_dense(dense if schema.is_full else dense[:, schema.features], schema)
    rows = x.astype(np.float32)  # a copy, and wide enough for the sums
    rows.sum_duplicates()
    counts = np.diff(rows.indptr).astype(np.int64)
    return Nonzeros(counts, rows.indices.astype(np.int64), rows.data).without_zeros().within(schema)


def nonzeros_of_dense(dense: Floats, schema: Schema) -> Nonzeros:
    """The non-zeros of rows that hold the features of ``schema`` only, in order."""
    n_rows, n_columns = dense.shape
    present = dense != 0
    counts = np.count_nonzero(present, axis=1).astype(np.int64)
    at = np.flatnonzero(present)
    columns = at - np.repeat(np.arange(n_rows) * n_columns, counts)
    return Nonzeros(counts, columns if schema.is_full else schema.features[columns], dense.reshape(-1)[at])


def float32_of(x: torch.Tensor) -> Floats:
    """The values of a tensor in the network's own precision."""
    values: Floats = x.detach().to("cpu", torch.float32).numpy()
    return values


def pieces(n_rows: int, width: int) -> Iterator[slice]:
    """The rows one piece after the other, none of more than ``PIECE_CELLS`` cells unless a single row has more.

    >>> [(piece.start, piece.stop) for piece in pieces(3, width=2**21)]
    [(0, 2), (2, 4)]
    """
    step = max(1, PIECE_CELLS // max(1, width))
    return (slice(first, first + step) for first in range(0, n_rows, step))


def spans(starts: Ints, lengths: Ints) -> Ints:
    """The positions ``start, start + 1, ...`` of each span, one span after the other.

    >>> spans(np.array([10, 50]), np.array([3, 2]))
    array([10, 11, 12, 50, 51])
    """
    ends = lengths.cumsum()
    return np.repeat(starts - ends + lengths, lengths) + np.arange(lengths.sum())


def bytes_of(arena: Bytes, index: Ints, starts: Ints, lengths: Ints) -> Bytes:
    """The bytes of the rows at positions ``index`` of an arena, by where they start and how long they are.

    Rows that are neighbours here and there are copied as one piece: a memory that loses a few rows is copied at once.
    """
    borders = np.flatnonzero(np.diff(index) != 1) + 1
    first = np.concatenate([[0], borders]) if len(index) else borders
    last = np.concatenate([borders, [len(index)]])[: len(first)] - 1
    runs = zip(starts[first].tolist(), (starts + lengths)[last].tolist(), strict=True)
    return np.concatenate([arena[:0], *(arena[start:end] for start, end in runs)])


def narrow(numbers: NDArray[Any]) -> NDArray[Any]:
    """Bools or whole numbers in the smallest type that holds them."""
    low, high = (np.min_scalar_type(int(end)) for end in (numbers.min(initial=0), numbers.max(initial=0)))
    return numbers.astype(np.promote_types(low, high), copy=False)
