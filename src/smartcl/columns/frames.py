"""Tables of pandas, Polars and PyArrow as records: any column, any type, nothing written over."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from smartcl.columns.nested import DEEPEST
from smartcl.columns.records import Records, Values, Wanted
from smartcl.errors import extra
from smartcl.settings import shown

#: Rows that are read together.
BLOCK_ROWS = 1 << 13


def is_frame(table: Any) -> bool:
    """Whether this is a table of pandas, Polars or PyArrow, with columns of any kind."""
    if hasattr(table, "iloc"):
        return hasattr(table, "columns")  # a series has none
    names = ("iter_slices", "collect_schema", "to_batches", "read_next_batch", "num_rows")
    return any(hasattr(table, name) for name in names) and not isinstance(table, np.ndarray)


def is_lazy(table: Any) -> bool:
    """Whether this is a lazy frame of Polars, whose rows must be collected first."""
    return hasattr(table, "collect_schema") and not hasattr(table, "iter_slices")


def all_records(table: Any, wanted: Wanted | None) -> Records:
    """All rows of a table at once; ``wanted`` as readers are asked."""
    parts: list[Records] = [parse(wanted) for _, parse in pieces_of(table)]
    if len(parts) == 1:
        return parts[0]
    names = dict.fromkeys(name for part in parts for name in part.columns)
    if not parts:
        names = dict.fromkeys(map(str, columns_of_frame(table)))
    columns = {name: [value for part in parts for value in part.columns[name]] for name in names}
    count = sum(len(part.at) for part in parts)
    return Records(columns, count, np.arange(count))


def columns_of_frame(table: Any) -> list[Any]:
    """The names of its columns."""
    if hasattr(table, "iloc"):
        return list(table.columns)
    schema = table.collect_schema() if hasattr(table, "collect_schema") else table.schema
    return list(schema.names() if callable(schema.names) else schema.names)


def pieces_of(table: Any) -> Iterator[tuple[int, Any]]:
    """Pieces of a table: how many rows, and how they are read."""
    if is_lazy(table):
        table = table.collect()
    if hasattr(table, "iter_slices"):
        for part in table.iter_slices(BLOCK_ROWS):
            batch = part.to_arrow().combine_chunks().to_batches()
            yield from ((piece.num_rows, _reading(arrow_records, piece)) for piece in batch)
    elif hasattr(table, "iloc"):
        for first in range(0, len(table), BLOCK_ROWS):
            part = table.iloc[first : first + BLOCK_ROWS]
            yield len(part), _reading(pandas_records, part)
    else:
        batches = (
            table.to_batches() if hasattr(table, "to_batches") else [table] if hasattr(table, "num_rows") else table
        )
        yield from ((batch.num_rows, _reading(arrow_records, batch)) for batch in batches)


def _reading(read: Any, part: Any) -> Any:
    return lambda wanted: read(part, wanted)


def pandas_records(frame: Any, wanted: Wanted | None) -> Records:
    """The rows of a pandas frame."""
    names = [str(name) for name in frame.columns]
    columns: dict[str, Values] = {}
    for place, name in enumerate(names):
        if wanted is None or name in wanted:
            column = frame.iloc[:, place]
            is_number = column.dtype.kind in "iuf" and wanted is not None and wanted[name]
            columns[name] = column.to_numpy(dtype=np.float64) if is_number else column.tolist()
    strangers = {} if wanted is None else {name: 0 for name in names if name not in wanted}
    return Records(columns, len(frame), np.arange(len(frame)), {}, strangers)


def arrow_records(batch: Any, wanted: Wanted | None) -> Records:
    """A record batch as records: a struct gives columns ``outer.inner``; lists and bytes count as missing."""
    batch = _flat(batch)
    names = batch.schema.names
    twice = next((name for name in names if names.count(name) > 1), None) if len(set(names)) < len(names) else None
    if twice is not None:
        raise ValueError(f"there is more than one column {shown(twice)}")
    strangers = {} if wanted is None else {name: 0 for name in names if name not in wanted}
    chosen = {name: wanted is not None and wanted[name] for name in names if wanted is None or name in wanted}
    columns = {name: _values(batch.column(name), numbers, wanted is None) for name, numbers in chosen.items()}
    return Records(columns, batch.num_rows, np.arange(batch.num_rows), {}, strangers)


def _flat(batch: Any) -> Any:
    arrow = extra("pyarrow", "parquet")
    for _ in range(DEEPEST):
        if not any(arrow.types.is_struct(kind) for kind in batch.schema.types):
            break
        batch = arrow.Table.from_batches([batch]).flatten().combine_chunks().to_batches()[0]
    return batch


def _values(column: Any, numbers: bool, first_look: bool) -> Values:
    arrow = extra("pyarrow", "parquet")
    kind = column.type
    if arrow.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if arrow.types.is_nested(kind) or arrow.types.is_binary(kind) or arrow.types.is_large_binary(kind):
        return column.to_pylist() if first_look else [None] * len(column)
    if numbers and (arrow.types.is_integer(kind) or arrow.types.is_floating(kind)):
        numeric: Values = column.cast(arrow.float64(), safe=False).to_numpy(zero_copy_only=False)
        return numeric
    if arrow.types.is_timestamp(kind) or arrow.types.is_date(kind):
        # as Python's dates, those outside the years 1 to 9999 could not be held
        return list(column.cast(arrow.timestamp("s"), safe=False).to_numpy(zero_copy_only=False))
    values: Values = column.to_pylist()
    return values
