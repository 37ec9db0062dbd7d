"""Rows in the code of their stream: a few bytes each, at the precision of the code's levels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smartcl.data.batch import Bools, Floats, Ints, Rows
from smartcl.memory.nonzeros import Nonzeros, bytes_of, narrow, nonzeros_of, pieces, spans
from smartcl.memory.packed_rows import SPARSE_CELLS
from smartcl.memory.row_bytes import Encoded, columns_of, decode_nonzeros, encode, fault_in
from smartcl.memory.row_code import RowCode
from smartcl.memory.schema import Bytes, Schema
from smartcl.saving.saved import Saved

#: The format of a row that is in code; the others are those of ``row_bytes``.
IN_CODE = 255

# The number of bytes, and of rows, that are read and written anew at a time.
_CHUNK_ROWS = 2**12
_CHUNK_NBYTES = 2**17


@dataclass(frozen=True, slots=True, eq=False)
class CodedRows:
    """Rows as bytes in one code, one after the other: ``lengths[i]`` bytes are row ``i``.

    A row that the code cannot write (an exact value that is none of its levels) takes its smallest exact format, and
    then all rows say their format.
    """

    code: RowCode
    arena: Bytes
    lengths: NDArray[np.unsignedinteger[Any]]
    formats: Bytes | None

    def __post_init__(self) -> None:
        for array in self._arrays():
            array.flags.writeable = False

    @classmethod
    def empty(cls, code: RowCode) -> CodedRows:
        """No rows yet."""
        return cls.concatenate(code, [])

    @classmethod
    def concatenate(cls, code: RowCode, parts: Sequence[CodedRows]) -> CodedRows:
        """The rows of all parts, one part after the other."""
        none = np.zeros(0, dtype=np.uint8)
        arena = np.concatenate([none, *(part.arena for part in parts)])
        lengths = np.concatenate([none, *(part.lengths for part in parts)])
        formats = np.concatenate([none, *(part._formats for part in parts)])
        return cls._of(code, arena, lengths, formats)

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def whole_dtype(self) -> None:
        """Rows are not kept whole."""

    @property
    def overhead(self) -> int:
        """The bytes of the code."""
        return self.code.nbytes

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self._arrays())

    @property
    def sizes(self) -> Ints:
        """The bytes of each row, in the arena and in the columns."""
        return self.lengths.astype(np.int64) + self.lengths.itemsize + (self.formats is not None)

    def pack(self, x: Rows, schema: Schema, positional: bool) -> CodedRows:
        """New rows in the same code."""
        width = schema.n_features if positional else SPARSE_CELLS
        chunks = (nonzeros_of(x[piece], schema) for piece in pieces(x.shape[0], width))
        return CodedRows.concatenate(self.code, [_coded(self.code, chunk, schema, positional) for chunk in chunks])

    def join(self, other: object) -> CodedRows:
        assert isinstance(other, CodedRows)
        assert other.code is self.code
        return CodedRows.concatenate(self.code, [self, other])

    def take(self, index: Ints) -> CodedRows:
        """The rows at these positions."""
        starts, lengths = self._locate(index)
        arena = bytes_of(self.arena, index, starts, lengths)
        return CodedRows._of(self.code, arena, lengths, self._formats[index])

    def dense(self, index: Ints, schema: Schema) -> Floats:
        """The rows at these positions over the features of ``schema``, under which all rows are written."""
        cells = np.zeros((len(index), len(schema)), dtype=np.float32)
        found = self.nonzeros(index, schema)
        cells.reshape(-1)[found.rows * len(schema) + columns_of(found.ids, schema)] = found.values
        return cells

    def nonzeros(self, index: Ints, schema: Schema) -> Nonzeros:
        """The non-zeros of the rows at these positions, by feature id."""
        coded, plain = self._parts(index)
        numbered = self._numbered(index[coded], schema)
        values = self.code.levels.read(numbered.values.astype(np.int64), numbered.ids)
        found = replace(numbered, values=values)
        return found if not len(plain) else _in_order(found, coded, self._plain(index[plain], schema), plain)

    def repack(self, known: Bools, versions: Bytes, old: Schema, new: Schema, positional: bool) -> CodedRows:
        """The rows written under ``new`` instead of ``old``; a row of version ``v`` keeps the features ``known[v]``.

        No value changes: what is written anew are the numbers of the levels.
        """
        parts = []
        for chunk in self.chunks():
            coded, plain = self._parts(chunk)
            numbered = self._numbered(chunk[coded], old).known_to(known, versions[chunk[coded]])
            exact = self._plain(chunk[plain], old).known_to(known, versions[chunk[plain]])
            kept = _written(self.code, numbered, new, positional)
            parts.append(kept if not len(plain) else _mixed(self.code, kept, coded, exact, plain, new, positional))
        return CodedRows.concatenate(self.code, parts)

    def widen(self, n_features: int) -> CodedRows:
        """The same rows of a stream with more features."""
        return replace(self, code=self.code.widen(n_features))

    def state_dict(self) -> dict[str, Any]:
        return {
            "code": self.code.state_dict(),
            "arena": self.arena,
            "lengths": self.lengths,
            "formats": self.formats,
        }

    @classmethod
    def from_state(cls, saved: Saved, known: Bools, versions: Bytes, schema: Schema, positional: bool) -> CodedRows:
        """What ``state_dict`` described, if it can be rows under ``schema``; one of version ``v`` has ``known[v]``."""
        code = RowCode.from_state(saved.part("code"), schema.n_features)
        arena = np.array(saved.array("arena", (None,), "uint8"))
        lengths = saved.array("lengths", (len(versions),), "uint8", "uint16", "uint32")
        formats = np.array(saved.array("formats", (len(versions),), "uint8")) if saved.has("formats") else None
        if int(lengths.sum(dtype=np.int64)) != arena.size or lengths.dtype != narrow(lengths).dtype:
            saved.refuse("lengths", f"must be those of rows that take {arena.size} bytes together")
        if formats is not None and (formats == IN_CODE).all():
            saved.refuse("formats", "must be there for rows that are not in code only")
        rows = cls(code, arena, np.array(lengths), formats)
        for chunk in rows.chunks():
            fault = rows._fault_in(chunk, known, versions, schema, positional)
            if fault is not None:
                saved.refuse("arena", fault)
        return rows

    @classmethod
    def _of(cls, code: RowCode, arena: Bytes, lengths: NDArray[Any], formats: Bytes) -> CodedRows:
        return cls(code, arena, narrow(lengths), None if (formats == IN_CODE).all() else formats)

    @property
    def _formats(self) -> Bytes:
        return np.full(len(self), IN_CODE, dtype=np.uint8) if self.formats is None else self.formats

    def _arrays(self) -> list[NDArray[Any]]:
        return [self.arena, self.lengths, *([] if self.formats is None else [self.formats])]

    def _locate(self, index: Ints) -> tuple[Ints, Ints]:
        ends = self.lengths.cumsum(dtype=np.int64)
        lengths = self.lengths[index].astype(np.int64)
        return ends[index] - lengths, lengths

    def _parts(self, index: Ints) -> tuple[Ints, Ints]:
        """Which of these rows are in code, and which are not."""
        if self.formats is None:
            return np.arange(len(index)), index[:0]
        coded = self.formats[index] == IN_CODE
        return np.flatnonzero(coded), np.flatnonzero(~coded)

    def _numbered(self, index: Ints, schema: Schema) -> Nonzeros:
        """Rows in code, by feature id and number of level."""
        found = self.code.read(self.arena, *self._locate(index))
        assert found is not None
        return self.code.order.find(found, schema)

    def _plain(self, index: Ints, schema: Schema) -> Nonzeros:
        return decode_nonzeros(Encoded(self.arena, *self._locate(index), self._formats[index]), schema)

    def _fault_in(self, index: Ints, known: Bools, versions: Bytes, schema: Schema, positional: bool) -> str | None:
        coded, plain = self._parts(index)
        starts, lengths = self._locate(index)
        if len(plain):
            fault = fault_in(
                Encoded(self.arena, starts[plain], lengths[plain], self._formats[index[plain]]), schema, positional
            )
            if fault is not None:
                return fault
        columns = self.code.read(self.arena, starts[coded], lengths[coded])
        if columns is None:
            return "holds a row that does not end where it should"
        if (columns.ids >= len(schema)).any():
            return "holds a row with features out of its schema"
        numbered = self.code.order.find(columns, schema)
        again = self.code.write(columns)
        same = np.array_equal(again.lengths, lengths[coded])
        if not same or not np.array_equal(again.arena, self.arena[spans(starts[coded], lengths[coded])]):
            return "holds a row that is not written as its code would write it"
        for found, which in ((numbered, coded), (self._plain(index[plain], schema), plain)):
            if len(found.known_to(known, versions[index[which]]).ids) < len(found.ids):
                return "holds a row with features that its version does not know"
        return None

    def chunks(self) -> Iterator[Ints]:
        """Consecutive rows, a bounded number of them that take a bounded number of bytes together."""
        ends = self.lengths.cumsum(dtype=np.int64)
        cuts = np.searchsorted(ends, np.arange(0, self.arena.size, _CHUNK_NBYTES), side="right")
        borders = np.unique(np.concatenate([cuts, np.arange(0, len(self), _CHUNK_ROWS), [len(self)]])).tolist()
        for first, end in pairwise(borders):
            yield np.arange(first, end)


def in_code(rows: Iterable[Nonzeros], code: RowCode, schema: Schema, positional: bool) -> CodedRows:
    """Rows by feature id and value, written in ``code``."""
    return CodedRows.concatenate(code, [_coded(code, chunk, schema, positional) for chunk in rows])


def _coded(code: RowCode, rows: Nonzeros, schema: Schema, positional: bool) -> CodedRows:
    numbered = code.levels.numbered(rows)
    codable = code.codable(code.order.place(numbered, schema))
    if codable.all():
        return _written(code, numbered, schema, positional)
    coded, plain = np.flatnonzero(codable), np.flatnonzero(~codable)
    kept = _written(code, numbered.take(coded), schema, positional)
    return _mixed(code, kept, coded, rows.take(plain), plain, schema, positional)


def _written(code: RowCode, numbered: Nonzeros, schema: Schema, positional: bool) -> CodedRows:
    """Rows by feature id and number of level, all of them codable."""
    coded = code.write(code.order.place(numbered, schema))
    return CodedRows._of(code, coded.arena, coded.lengths, np.full(len(numbered), IN_CODE, dtype=np.uint8))


def _mixed(
    code: RowCode, kept: CodedRows, coded: Ints, exact: Nonzeros, plain: Ints, schema: Schema, positional: bool
) -> CodedRows:
    """Rows in code and rows in formats of their own, at these positions."""
    encoded = encode(exact, schema, positional)
    others = CodedRows._of(code, encoded.arena, encoded.lengths, encoded.formats)
    return CodedRows.concatenate(code, [kept, others]).take(np.argsort(np.concatenate([coded, plain])))


def _in_order(first: Nonzeros, at: Ints, second: Nonzeros, then: Ints) -> Nonzeros:
    return Nonzeros.concatenate([first, second]).take(np.argsort(np.concatenate([at, then])))
