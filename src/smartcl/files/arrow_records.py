"""Arrow's columns as records: Parquet files, PyArrow tables and data sets, and Polars' frames."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from smartcl.errors import extra
from smartcl.files.json_records import DEEPEST
from smartcl.files.records import Block, Mark, Records, Values, Wanted

BLOCK_ROWS = 1 << 13


def parquet_blocks(name: str, mark: Mark) -> Iterator[Block]:
    """The blocks of a Parquet file from a mark on; a place is the number of a row."""
    parquet = extra("pyarrow.parquet", "parquet")
    with _told(name), open(name, "rb") as raw, parquet.ParquetFile(raw) as file:  # noqa: PTH123
        place = 0
        for group in range(file.num_row_groups):
            rows = file.metadata.row_group(group).num_rows
            if place + rows <= mark.place:
                place += rows
                continue
            for batch in file.iter_batches(BLOCK_ROWS, row_groups=[group], use_threads=False):
                if place >= mark.place:
                    yield Block(name, place, _parser(batch), mark.records if place == mark.place else 0)
                place += batch.num_rows


@contextmanager
def _told(name: str) -> Iterator[None]:
    """Inside, what Arrow finds wrong with a file is a ``ValueError``."""
    arrow = extra("pyarrow", "parquet")
    try:
        yield
    except (arrow.ArrowException, UnicodeDecodeError) as error:
        raise ValueError(f"{name} is not a Parquet file, or damaged: {error}") from None
    except OSError as error:
        if error.errno is None:
            raise ValueError(f"{name} is damaged: {error}") from None
        raise


def _parser(batch: Any) -> Any:
    return lambda wanted: arrow_records(batch, wanted)


def arrow_records(batch: Any, wanted: Wanted | None) -> Records:
    """A record batch as records: a struct gives columns ``outer.inner``; lists and bytes count as missing."""
    batch = _flat(batch)
    names = batch.schema.names
    twice = next((name for name in names if names.count(name) > 1), None) if len(set(names)) < len(names) else None
    if twice is not None:
        raise ValueError(f"there is more than one column {twice!r}")
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
