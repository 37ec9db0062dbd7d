"""Rows as bytes in one arena, each in as few as hold it exactly.

The verbs are those of every kind of rows that a store can have: ``pack``, ``join``, ``take``, ``dense``, ``nonzeros``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smartcl.data.batch import Bools, Floats, Ints, Rows
from smartcl.memory.nonzeros import Nonzeros, bytes_of, nonzeros_of, pieces
from smartcl.memory.row_bytes import Encoded, decode_dense, decode_nonzeros, encode, fault_in
from smartcl.memory.schema import Bytes, Schema
from smartcl.saving.saved import Saved

Offsets = NDArray[np.uint32] | NDArray[np.uint64]

# The most rows, and the most bytes of them, that are written anew at a time.
_CHUNK_ROWS = 2**14
_CHUNK_NBYTES = 2**18

#: What a row written by feature id counts as, where rows are packed a piece at a time.
SPARSE_CELLS = 2**16


@dataclass(frozen=True, slots=True, eq=False)
class PackedRows:
    """Rows as bytes: row ``i`` starts at ``arena[offsets[i]]``, ends where the next starts, and says how to be read.

    >>> import torch
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
        """The rows at these positions."""
        starts, lengths = self._locate(index)
        return PackedRows(bytes_of(self.arena, index, starts, lengths), offsets_of(lengths), self.formats[index])

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
