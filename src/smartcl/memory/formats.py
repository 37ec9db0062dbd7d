"""The formats a row can take, what each costs, and which is the smallest.

A format is one byte: how positions are written (layout) times how values are written (value type).
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smartcl.data.batch import Bools, Ints
from smartcl.memory.nonzeros import Floats, Nonzeros
from smartcl.memory.schema import Schema


class Layout(IntEnum):
    """How a row says where its values belong. Of two that cost the same, the first is taken."""

    DENSE = 0  #: all features of the schema in order, zeros too
    MASK = 1  #: one bit per feature of the schema, then the non-zero values
    GAPS8 = 2  #: for each value one byte, the ids skipped since the one before; then the values
    INDEX16 = 3  #: for each value its feature id in two bytes; then the values
    INDEX32 = 4  #: the same in four bytes


class Kind(IntEnum):
    """How a row's values are written: the smallest type that is exact for all of them."""

    ONES = 0  #: every non-zero is 1: nothing to write
    UINT8 = 1
    FLOAT16 = 2
    FLOAT32 = 3


#: Little-endian on every machine, so that a saved memory can be read on another.
VALUE_DTYPES: dict[Kind, np.dtype[Any]] = {
    Kind.UINT8: np.dtype("u1"),
    Kind.FLOAT16: np.dtype("<f2"),
    Kind.FLOAT32: np.dtype("<f4"),
}
VALUE_NBYTES = np.array([0, 1, 2, 4])
ID_DTYPES: dict[Layout, np.dtype[Any]] = {
    Layout.GAPS8: np.dtype("u1"),
    Layout.INDEX16: np.dtype("<u2"),
    Layout.INDEX32: np.dtype("<u4"),
}

_KINDS = len(Kind)
_IMPOSSIBLE = np.iinfo(np.int64).max


def pair(code: int) -> tuple[Layout, Kind]:
    """The layout and the value type of a format byte.

    >>> pair(5)
    (<Layout.MASK: 1>, <Kind.UINT8: 1>)
    """
    return Layout(code // _KINDS), Kind(code % _KINDS)


def possible_formats(positional: bool) -> list[int]:
    """The format bytes that ``smallest_formats`` can come to."""
    pairs = [(layout, kind) for layout in Layout for kind in Kind if (layout, kind) != (Layout.DENSE, Kind.ONES)]
    return [layout * _KINDS + kind for layout, kind in pairs if positional or layout >= Layout.GAPS8]


def smallest_formats(rows: Nonzeros, schema: Schema, positional: bool) -> tuple[NDArray[np.uint8], Ints]:
    """Each row's smallest exact format, and the bytes the row then takes.

    Without ``positional`` only layouts that write feature ids are considered.
    """
    kinds, counts = smallest_kinds(rows), rows.counts
    width = VALUE_NBYTES[kinds]
    dense_kinds = np.maximum(kinds, Kind.UINT8)
    costs = np.stack(
        [
            len(schema) * VALUE_NBYTES[dense_kinds],
            mask_nbytes(len(schema)) + counts * width,
            np.where(_all_of(rows, gaps(rows) < 2**8), counts * (1 + width), _IMPOSSIBLE),
            np.where(_all_of(rows, rows.ids < 2**16), counts * (2 + width), _IMPOSSIBLE),
            counts * (4 + width),
        ]
    )
    if not positional:
        costs[: Layout.GAPS8] = _IMPOSSIBLE
    layouts = costs.argmin(axis=0)
    formats = layouts * _KINDS + np.where(layouts == Layout.DENSE, dense_kinds, kinds)
    return formats.astype(np.uint8), costs.min(axis=0)


def smallest_kinds(rows: Nonzeros) -> Ints:
    """For each row the smallest value type that is exact for all its non-zeros."""
    values = rows.values
    exact = {Kind.ONES: values == 1, Kind.UINT8: _survives(values, Kind.UINT8)}
    if not exact[Kind.UINT8].all():
        exact[Kind.FLOAT16] = _survives(values, Kind.FLOAT16)
    kinds = np.full(len(rows.counts), Kind.FLOAT32, dtype=np.int64)
    for kind in reversed(exact):
        kinds[_all_of(rows, exact[kind])] = kind
    return kinds


def gaps(rows: Nonzeros) -> Ints:
    """For each non-zero, how many feature ids lie between it and the one before in its row."""
    starts = (rows.counts.cumsum() - rows.counts)[rows.counts > 0]
    skipped = np.diff(rows.ids, prepend=0) - 1
    skipped[starts] = rows.ids[starts]
    return skipped


def ids_of_gaps(skipped: Ints, counts: Ints) -> Ints:
    """The feature ids that have these gaps, in rows of ``counts`` non-zeros: the inverse of ``gaps``."""
    reached: Ints = np.cumsum(skipped + 1)
    before: Ints = np.concatenate([[0], reached])[counts.cumsum() - counts]
    return reached - np.repeat(before, counts) - 1


def mask_nbytes(n_features: int) -> int:
    """The bytes of one bit per feature."""
    return -(-n_features // 8)


def _all_of(rows: Nonzeros, holds: Bools) -> Bools:
    """For each row: does it hold for all its non-zeros?"""
    if holds.all():
        return np.ones(len(rows.counts), dtype=np.bool_)
    failures: Ints = np.bincount(rows.rows[~holds], minlength=len(rows.counts))
    return np.equal(failures, 0)


def _survives(values: Floats, kind: Kind) -> Bools:
    with np.errstate(over="ignore", invalid="ignore"):
        back: Floats = values.astype(VALUE_DTYPES[kind]).astype(np.float32)
    return np.equal(back, values)
