"""Conversion of rows to bytes and back, each row in the smallest format that is exact for it.

A format is one byte: how positions are written (layout) times how values are written (value type). Nothing but
positions and values is written: a row's length says how many values it has. A zero is a zero: -0.0 reads back as 0.0.
Rows of one format are written and read together.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from smartcl.data.batch import Bools, Floats, Ints
from smartcl.memory.nonzeros import Nonzeros, nonzeros_of_dense, pieces, spans
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


class Encoded(NamedTuple):
    """Bytes of rows, and what it takes to read them."""

    arena: Bytes
    starts: Ints
    lengths: Ints
    formats: Bytes


class _Group(NamedTuple):
    """Rows of one format, and the places they take when rows are sorted by it."""

    places: slice
    starts: Ints
    lengths: Ints
    layout: Layout
    kind: ValueType


def encode(rows: Nonzeros, schema: Schema, positional: bool) -> Encoded:
    """The rows one after the other in one arena.

    ``rows`` must lie within ``schema``; layouts that refer to it are considered only if ``positional``.

    >>> rows = Nonzeros(np.array([2]), np.array([1, 7]), np.array([1, 0.5], dtype=np.float32))
    >>> encode(rows, Schema.full(1000), positional=True).arena
    array([ 1,  5,  0, 60,  0, 56], dtype=uint8)
    """
    formats, lengths = smallest_formats(rows, schema, positional)
    starts = lengths.cumsum() - lengths
    arena = np.empty(int(lengths.sum()), dtype=np.uint8)
    for code in np.unique(formats):
        which = np.flatnonzero(formats == code)
        _write(arena, starts[which], rows.take(which), *pair(int(code)), schema)
    return Encoded(arena, starts, lengths, formats)


def decode_dense(rows: Encoded, schema: Schema) -> Floats:
    """Rows over the features of the schema they were written under."""
    cells = np.zeros((len(rows.starts), len(schema)), dtype=np.float32)
    groups, order = _groups(rows)
    for group in groups:
        block = cells[group.places]
        if group.layout >= Layout.GAPS8:
            found = _read_ids(rows.arena, group)
            block.reshape(-1)[found.rows * len(schema) + columns_of(found.ids, schema)] = found.values
        else:
            _read_cells(rows.arena, group, into=block)
    return cells if order is None else cells[np.argsort(order)]


def decode_nonzeros(rows: Encoded, schema: Schema) -> Nonzeros:
    """Rows as their non-zeros, by feature id."""
    groups, order = _groups(rows)
    found = Nonzeros.concatenate([_nonzeros(rows.arena, group, schema) for group in groups])
    return found if order is None else found.take(np.argsort(order))


def fault_in(rows: Encoded, schema: Schema, positional: bool) -> str | None:
    """The reason why ``encode`` cannot have written these bytes under this schema, or None."""
    if not np.isin(rows.formats, possible_formats(positional)).all():
        return "holds a row of a format that there is not"
    for group in _groups(rows)[0]:
        if not _lengths_fit(rows.arena, group, schema):
            return "holds a row too short or too long for its format"
        found = _nonzeros(rows.arena, group, schema)
        if (found.gaps < 0).any():
            return "holds a row whose feature ids do not ascend"
        if found.ids.max(initial=0) >= schema.n_features or not schema.mask[found.ids].all():
            return "holds a row with features out of its schema"
        if not np.isfinite(found.values).all():
            return "must be finite: it holds a row with NaN or infinity"
        if (found.values == 0).any():
            return "holds a row that writes zeros as values"
    return None


def ids_of_gaps(skipped: Ints, counts: Ints) -> Ints:
    """The feature ids that have these gaps, in rows of ``counts`` non-zeros: the inverse of ``Nonzeros.gaps``."""
    reached: Ints = np.cumsum(skipped + 1)
    before: Ints = np.concatenate([[0], reached])[counts.cumsum() - counts]
    return reached - np.repeat(before, counts) - 1


def _lengths_fit(arena: Bytes, group: _Group, schema: Schema) -> bool:
    """Whether the rows are as long as their format makes them."""
    value, n_features = VALUE_NBYTES[group.kind], len(schema)
    if group.layout is Layout.DENSE:
        return bool((group.lengths == n_features * value).all())
    if group.layout is Layout.MASK:
        head = mask_nbytes(n_features)
        if (group.lengths < head).any():
            return False
        bits = np.unpackbits(_windows(arena, head)[group.starts], axis=1)
        fits = group.lengths == head + bits.sum(axis=1, dtype=np.int64) * value
        return bool(fits.all()) and not bits[:, n_features:].any()
    return not (group.lengths % (ID_DTYPES[group.layout].itemsize + value)).any()


def _groups(rows: Encoded) -> tuple[list[_Group], Ints | None]:
    """The rows by format, and the order that sorts them so; None if they are all alike."""
    keys, starts, lengths, order = rows.formats, rows.starts, rows.lengths, None
    if (keys[1:] != keys[:-1]).any():
        order = np.argsort(keys, kind="stable")
        keys, starts, lengths = keys[order], starts[order], lengths[order]
    borders = (np.flatnonzero(keys[1:] != keys[:-1]) + 1).tolist()
    pieces = zip([0, *borders], [*borders, len(keys)], strict=True)
    groups = [
        _Group(slice(first, end), starts[first:end], lengths[first:end], *pair(int(keys[first])))
        for first, end in pieces
        if first < end
    ]
    return groups, order


def _write(arena: Bytes, starts: Ints, rows: Nonzeros, layout: Layout, kind: ValueType, schema: Schema) -> None:
    if layout is Layout.DENSE:
        cells = np.zeros((len(starts), len(schema)), dtype=VALUE_DTYPES[kind])
        cells[rows.rows, columns_of(rows.ids, schema)] = rows.values
        _windows(arena, cells.itemsize * len(schema))[starts] = cells.view(np.uint8)
        return
    if layout is Layout.MASK:
        bits = np.zeros((len(starts), len(schema)), dtype=np.bool_)
        bits[rows.rows, columns_of(rows.ids, schema)] = True
        _windows(arena, mask_nbytes(len(schema)))[starts] = np.packbits(bits, axis=1)
        heads = np.full(len(starts), mask_nbytes(len(schema)))
    else:
        ids = (rows.gaps if layout is Layout.GAPS8 else rows.ids).astype(ID_DTYPES[layout])
        heads = rows.counts * ids.itemsize
        arena[spans(starts, heads)] = ids.view(np.uint8)
    if kind is not ValueType.ONES:
        values = rows.values.astype(VALUE_DTYPES[kind])
        arena[spans(starts + heads, rows.counts * values.itemsize)] = values.view(np.uint8)


def _nonzeros(arena: Bytes, group: _Group, schema: Schema) -> Nonzeros:
    if group.layout >= Layout.GAPS8:
        return _read_ids(arena, group)
    parts = []
    for piece in pieces(len(group.starts), len(schema)):
        some = group._replace(starts=group.starts[piece], lengths=group.lengths[piece])
        cells = np.zeros((len(some.starts), len(schema)), dtype=np.float32)
        _read_cells(arena, some, into=cells)
        parts.append(nonzeros_of_dense(cells, schema))
    return Nonzeros.concatenate(parts)


def _read_cells(arena: Bytes, group: _Group, into: Floats) -> None:
    """Rows of a dense or mask layout, over the features of their own schema; ``into`` is all zero before."""
    n_features = into.shape[1]
    if group.layout is Layout.DENSE:
        dtype = VALUE_DTYPES[group.kind]
        into[:] = _windows(arena, n_features * dtype.itemsize)[group.starts].view(dtype)
        return
    head = mask_nbytes(n_features)
    bits = np.unpackbits(_windows(arena, head)[group.starts], axis=1, count=n_features)
    # Assigning through the mask is faster for long runs of non-zeros, but three times slower without.
    at = np.flatnonzero(bits.view(np.bool_))
    into.reshape(-1)[at] = _read_values(arena, group.starts + head, group.lengths - head, group.kind, len(at))


def _read_ids(arena: Bytes, group: _Group) -> Nonzeros:
    """Rows of a layout that writes feature ids."""
    dtype = ID_DTYPES[group.layout]
    counts = group.lengths // (dtype.itemsize + VALUE_NBYTES[group.kind])
    head = counts * dtype.itemsize
    ids = arena[spans(group.starts, head)].view(dtype).astype(np.int64)
    if group.layout is Layout.GAPS8:
        ids = ids_of_gaps(ids, counts)
    values = _read_values(arena, group.starts + head, group.lengths - head, group.kind, len(ids))
    return Nonzeros(counts, ids, values)


def _read_values(arena: Bytes, starts: Ints, lengths: Ints, kind: ValueType, count: int) -> Floats:
    if kind is ValueType.ONES:
        return np.ones(count, dtype=np.float32)
    values: Floats = arena[spans(starts, lengths)].view(VALUE_DTYPES[kind]).astype(np.float32)
    return values


def _windows(arena: Bytes, width: int) -> Bytes:
    """All windows of ``width`` bytes of the arena, as a view: ``_windows(arena, width)[start]`` is one."""
    return np.ndarray((arena.size - width + 1, width), np.uint8, arena, strides=(1, 1))


def columns_of(ids: Ints, schema: Schema) -> Ints:
    """The positions of these features among the schema's features."""
    return ids if schema.is_full else (schema.mask.cumsum() - 1)[ids]
