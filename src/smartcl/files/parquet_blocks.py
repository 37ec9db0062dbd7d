"""Parquet files as blocks of records, from a mark on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from smartcl.columns.frames import BLOCK_ROWS, arrow_records
from smartcl.errors import extra
from smartcl.files.blocks import Block, Mark


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
