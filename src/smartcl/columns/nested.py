"""Records that hold others: an object in an object gives columns ``outer.inner``; lists are no values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from smartcl.columns.records import MOST_COLUMNS, Wanted
from smartcl.settings import shown

#: Objects that lie deeper are passed over.
DEEPEST = 8
#: What is wrong with such a record.
TWICE = "two values for one column"


class TwiceError(ValueError):
    """A record has two values for one column."""


def columns_of(rows: list[dict[str, Any]], wanted: Wanted | None) -> dict[str, list[Any]]:
    """The columns that are there; those that are looked at for the first time with their lists."""
    there = dict.fromkeys(name for row in rows for name in row)
    if wanted is not None:
        return {name: [plain(row.get(name)) for row in rows] for name in wanted if name in there}
    if len(there) > MOST_COLUMNS:
        raise ValueError(f"the first records have {len(there):,} columns: there may be {MOST_COLUMNS:,}")
    return {name: [row.get(name) for row in rows] for name in there}


def check_record(row: Any) -> None:
    """Refuse what is no record."""
    if not isinstance(row, Mapping):
        raise ValueError(f"x must be a row as a dict of its columns, got {type(row).__name__}")


def flattened(row: Mapping[Any, Any], depth: int = DEEPEST) -> dict[str, Any]:
    """The values of an object and of those inside it.

    >>> flattened({"a": 1, "b": {"c": 2, "d": {"e": 3}}})
    {'a': 1, 'b.c': 2, 'b.d.e': 3}
    >>> flattened({"b": {"c": 2}, "b.c": 3})
    Traceback (most recent call last):
    smartcl.columns.nested.TwiceError: two values for one column: 'b.c'
    """
    flat: dict[str, Any] = {}
    for name, value in row.items():
        inside = isinstance(value, Mapping) and depth
        found = flattened(value, depth - 1).items() if inside else ((None, value),)
        for inner, each in found:
            column = str(name) if inner is None else f"{name}.{inner}"
            if column in flat:
                raise TwiceError(f"{TWICE}: {shown(column)}")
            flat[column] = each
    return flat


def plain(value: Any) -> Any:
    """The value, unless it is made of others."""
    return None if isinstance(value, Mapping | list | tuple | set | bytes) else value
