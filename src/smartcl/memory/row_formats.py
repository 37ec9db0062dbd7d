"""The formats that a row can be written in, and which of them is the smallest that is exact for it.

A format is one byte: how positions are written (layout) times how values are written (value type).
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np

from smartcl.data.batch import Bools, Floats, Ints
from smartcl.memory.nonzeros import Nonzeros
from smartcl.memory.schema import Bytes, Schema, mask_nbytes


class Layout(IntEnum):
    """How a row says where its values belong. Of two that cost the same, the first is taken."""

    DENSE = 0  #: all features of the schema in order, zeros too
    MASK = 1  #: one bit per feature of the schema, then the non-zero values
    GAPS8 = 2  #: for each value one byte, the ids skipped since the one before; then the values
    INDEX16 = 3  #: for each value its feature id in two bytes; then the values
    INDEX32 = 4  #: the same in four bytes


class ValueType(IntEnum):
    """How a row's values are written: the smallest type that is exact for all of them."""

    ONES = 0  #: every non-zero is 1: nothing to write
    UINT8 = 1
    FLOAT16 = 2
    FLOAT32 = 3


#: Little-endian on every machine, so that a saved memory can be read on another.
VALUE_DTYPES: dict[ValueType, np.dtype[Any]] = {
    ValueType.UINT8: np.dtype("u1"),
    ValueType.FLOAT16: np.dtype("<f2"),
    ValueType.FLOAT32: np.dtype("<f4"),
}
VALUE_NBYTES = np.array([0, 1, 2, 4])
ID_DTYPES: dict[Layout, np.dtype[Any]] = {
    Layout.GAPS8: np.dtype("u1"),
    Layout.INDEX16: np.dtype("<u2"),
    Layout.INDEX32: np.dtype("<u4"),
}

_VALUE_TYPES = len(ValueType)
_IMPOSSIBLE = np.iinfo(np.int64).max


def pair(code: int) -> tuple[Layout, ValueType]:
    """The layout and the value type of a format byte.

    >>> pair(5)
    (<Layout.MASK: 1>, <ValueType.UINT8: 1>)
    """
    return Layout(code // _VALUE_TYPES), ValueType(code % _VALUE_TYPES)


def possible_formats(positional: bool) -> list[int]:
    """The format bytes that ``smallest_formats`` can come to."""
    pairs = [
        (layout, kind) for layout in Layout for kind in ValueType if (layout, kind) != (Layout.DENSE, ValueType.ONES)
    ]
    return [layout * _VALUE_TYPES + kind for layout, kind in pairs if positional or layout >= Layout.GAPS8]


def smallest_formats(rows: Nonzeros, schema: Schema, positional: bool) -> tuple[Bytes, Ints]:
    """Each row's smallest exact format, and the bytes the row then takes.

    Without ``positional`` only layouts that write feature ids are considered.
    """
    kinds, counts = smallest_value_types(rows), rows.counts
    width = VALUE_NBYTES[kinds]
    dense_kinds = np.maximum(kinds, ValueType.UINT8)
    costs = np.stack(
        [
            len(schema) * VALUE_NBYTES[dense_kinds],
            mask_nbytes(len(schema)) + counts * width,
            np.where(rows.all_of(rows.gaps < 2**8), counts * (1 + width), _IMPOSSIBLE),
            np.where(rows.all_of(rows.ids < 2**16), counts * (2 + width), _IMPOSSIBLE),
            counts * (4 + width),
        ]
    )
    if not positional:
        costs[: Layout.GAPS8] = _IMPOSSIBLE
    layouts = costs.argmin(axis=0)
    formats = layouts * _VALUE_TYPES + np.where(layouts == Layout.DENSE, dense_kinds, kinds)
    return formats.astype(np.uint8), costs.min(axis=0)


def smallest_value_types(rows: Nonzeros) -> Ints:
    """For each row the smallest value type that is exact for all its non-zeros."""
    values = rows.values
    exact = {ValueType.ONES: values == 1, ValueType.UINT8: _survives(values, ValueType.UINT8)}
    if not exact[ValueType.UINT8].all():
        exact[ValueType.FLOAT16] = _survives(values, ValueType.FLOAT16)
    kinds = np.full(len(rows.counts), ValueType.FLOAT32, dtype=np.int64)
    for kind in reversed(exact):
        kinds[rows.all_of(exact[kind])] = kind
    return kinds


def _survives(values: Floats, kind: ValueType) -> Bools:
    with np.errstate(over="ignore", invalid="ignore"):
        back: Floats = values.astype(VALUE_DTYPES[kind]).astype(np.float32)
    return np.equal(back, values)
