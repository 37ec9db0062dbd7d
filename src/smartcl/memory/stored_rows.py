"""The rows of a store: packed, each in as few bytes as hold it exactly, or kept whole in the stream's own dtype.

Both have the same verbs: ``pack``, ``join``, ``take``, ``dense`` and ``nonzeros``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from smartcl.data.batch import Bools, Ints, Rows
from smartcl.memory.nonzeros import Floats, Nonzeros, float32_of, nonzeros_of, nonzeros_of_dense, pieces
from smartcl.memory.row_formats import Encoded, decode_dense, decode_nonzeros, encode, fault_in
from smartcl.memory.schema import Bytes, Schema
from smartcl.saved import Saved

Offsets = NDArray[np.uint32] | NDArray[np.uint64]

# Rows are written anew so many at a time at most, and so many bytes of them.
_CHUNK_ROWS = 2**14
_CHUNK_NBYTES = 2**18

#: What a row written by feature id counts as, where rows are packed a piece at a time.
SPARSE_CELLS = 2**16

#: What whole rows can be kept in.
WHOLE_DTYPES = ("bool", *(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)))
WHOLE_DTYPES += ("float16", "float32", "float64")


@dataclass(frozen=True, slots=True, eq=False)
class PackedRows:
    """Rows as bytes: row ``i`` starts at ``arena[offsets[i]]``, ends where the next starts, and says how to be read.

    >>> rows = PackedRows.empty().pack(torch.tensor([[0, 0, 7, 0], [0, 0, 0, 0]]), Schema.full(4), True)
    >>> rows.arena, rows.offsets, rows.nbytes
    (array([32,  7], dtype=uint8), array([0, 2], dtype=uint32), 12)
    """

    arena: Bytes
    offsets: Offsets
    formats: Bytes

    def __post_init__(self) -> None:
        for array in (self.arena, self.offsets, self.formats):
            array.flags.writeable = False

    @classmethod
    def empty(cls) -> PackedRows:
        return cls.concatenate([])

    @classmethod
    def concatenate(cls, parts: Sequence[PackedRows]) -> PackedRows:
        """The rows of all parts, one part after the other."""
        none = np.zeros(0, dtype=np.uint8)
        lengths = [np.zeros(0, dtype=np.int64), *(part.lengths for part in parts)]
        return cls(
            np.concatenate([none, *(part.arena for part in parts)]),
            offsets_of(np.concatenate(lengths)),
            np.concatenate([none, *(part.formats for part in parts)]),
        )

    def __len__(self) -> int:
        return len(self.formats)

    @property
    def whole_dtype(self) -> None:
        """Rows are not kept whole."""

    @property
    def overhead(self) -> int:
        """Nothing is held beside the rows."""
        return 0

    @property
    def nbytes(self) -> int:
        return self.arena.nbytes + self.offsets.nbytes + self.formats.nbytes

    @property
    def lengths(self) -> Ints:
        """The bytes of each row in the arena."""
        starts: Ints = self.offsets.astype(np.int64)
        return np.append(starts[1:], self.arena.size)[: len(self)] - starts

    @property
    def sizes(self) -> Ints:
        """The bytes of each row, in the arena and in the columns."""
        return self.lengths + self.offsets.itemsize + self.formats.itemsize

    def pack(self, x: Rows, schema: Schema, positional: bool) -> PackedRows:
        """New rows, packed on their own."""
        width = schema.n_features if positional else SPARSE_CELLS
        chunks = (nonzeros_of(x[piece], schema) for piece in pieces(x.shape[0], width))
        return PackedRows.concatenate([_packed(chunk, schema, positional) for chunk in chunks])

    def join(self, other: object) -> PackedRows:
        assert isinstance(other, PackedRows)
        return PackedRows.concatenate([self, other])

    def take(self, index: Ints) -> PackedRows:
        """The rows at these positions. Rows that are neighbours here and there are copied as one piece."""
        starts, lengths = self._locate(index)
        borders = np.flatnonzero(np.diff(index) != 1) + 1
        first = np.concatenate([[0], borders]) if len(index) else borders
        last = np.concatenate([borders, [len(index)]])[: len(first)] - 1
        runs = zip(starts[first].tolist(), (starts + lengths)[last].tolist(), strict=True)
        arena = np.concatenate([self.arena[:0], *(self.arena[start:end] for start, end in runs)])
        return PackedRows(arena, offsets_of(lengths), self.formats[index])

    def dense(self, index: Ints, schema: Schema) -> Floats:
        """The rows at these positions over the features of ``schema``, under which all rows are written."""
        return decode_dense(self._read(index), schema)

    def nonzeros(self, index: Ints, schema: Schema) -> Nonzeros:
        """The non-zeros of the rows at these positions, by feature id."""
        return decode_nonzeros(self._read(index), schema)

    def repack(self, known: Bools, versions: Bytes, old: Schema, new: Schema, positional: bool) -> PackedRows:
        """The rows written under ``new`` instead of ``old``; a row of version ``v`` keeps the features ``known[v]``."""
        chunks = [
            _packed(self.nonzeros(chunk, old).known_to(known, versions[chunk]), new, positional)
            for chunk in self.chunks()
        ]
        return PackedRows.concatenate(chunks)

    def state_dict(self) -> dict[str, Any]:
        return {"arena": self.arena, "offsets": self.offsets, "formats": self.formats}

    @classmethod
    def from_state(cls, saved: Saved, known: Bools, versions: Bytes, schema: Schema, positional: bool) -> PackedRows:
        """What ``state_dict`` described, if it can be rows under ``schema``; one of version ``v`` has ``known[v]``."""
        arena = saved.array("arena", (None,), "uint8")
        formats = saved.array("formats", (len(versions),), "uint8")
        offsets = saved.array("offsets", (len(versions),), str(offsets_of(np.array([arena.size])).dtype))
        starts_and_end = [0, *offsets[-1:].tolist(), arena.size]
        if (offsets[1:] < offsets[:-1]).any() or offsets[:1].any() or sorted(starts_and_end) != starts_and_end:
            saved.refuse("offsets", "must ascend from 0 to the end of the arena at most")
        if arena.size and not len(offsets):
            saved.refuse("arena", f"must be empty where there are no rows, has {arena.size} bytes")
        rows = cls(np.array(arena), np.array(offsets), np.array(formats))
        for chunk in rows.chunks():
            fault = fault_in(rows._read(chunk), schema, positional)
            if fault is not None:
                saved.refuse("arena", fault)
            found = rows.nonzeros(chunk, schema)
            if len(found.known_to(known, versions[chunk]).ids) < len(found.ids):
                saved.refuse("arena", "holds a row with features that its version does not know")
        return rows

    def _locate(self, index: Ints) -> tuple[Ints, Ints]:
        last = len(self) - 1
        starts = self.offsets[index].astype(np.int64)
        ends = self.offsets[np.minimum(index + 1, last)].astype(np.int64)
        ends[index == last] = self.arena.size
        return starts, ends - starts

    def _read(self, index: Ints) -> Encoded:
        return Encoded(self.arena, *self._locate(index), self.formats[index])

    def chunks(self) -> Iterator[Ints]:
        """Consecutive rows, a bounded number of them that take a bounded number of bytes together."""
        cuts = np.searchsorted(self.offsets, np.arange(0, self.arena.size, _CHUNK_NBYTES))
        borders = np.unique(np.concatenate([cuts, np.arange(0, len(self), _CHUNK_ROWS), [len(self)]])).tolist()
        for first, end in pairwise(borders):
            yield np.arange(first, end)


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


def offsets_of(lengths: Ints) -> Offsets:
    """Where rows of these lengths start, in the smallest type that can say so.

    >>> offsets_of(np.array([3, 5])), offsets_of(np.array([3, 2**32])).dtype
    (array([0, 3], dtype=uint32), dtype('uint64'))
    """
    starts = lengths.cumsum() - lengths
    return starts.astype(np.uint32) if lengths.sum() < 2**32 else starts.astype(np.uint64)


def packed(rows: Iterable[Nonzeros], schema: Schema, positional: bool) -> PackedRows:
    """Rows by feature id and value, each in the smallest format that is exact for it."""
    return PackedRows.concatenate([_packed(chunk, schema, positional) for chunk in rows])


def _packed(rows: Nonzeros, schema: Schema, positional: bool) -> PackedRows:
    encoded = encode(rows, schema, positional)
    return PackedRows(encoded.arena, offsets_of(encoded.lengths), encoded.formats)
