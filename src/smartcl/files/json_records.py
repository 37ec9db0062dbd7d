"""JSON lines: one object a line, values in their own types; an object in an object gives columns ``outer.inner``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from smartcl.files.records import MOST_COLUMNS, Records, Wanted

#: Objects that lie deeper are passed over.
DEEPEST = 8
#: What is wrong with a line.
NO_OBJECT, TWICE = "not a JSON object", "two values for one column"


class TwiceError(ValueError):
    """A record has two values for one column."""


def json_records(text: bytes, wanted: Wanted | None) -> Records:
    """The records of a piece of text; lists are passed over.

    >>> json_records(b'{"a": 1}\\n[2]\\n{"a": 3, "b": {"c": 4}}\\n', {"a": True})
    Records(columns={'a': [1, 3]}, count=3, at=array([0, 2]), bad={1: 'not a JSON object'}, strangers={'b.c': 2})
    """
    rows: list[dict[str, Any]] = []
    at: list[int] = []
    bad: dict[int, str] = {}
    strangers: dict[str, int] = {}
    lines = [line for line in text.split(b"\n") if line.strip()]
    for number, line in enumerate(lines):
        row = _object(line)
        if isinstance(row, str):
            bad[number] = row
            continue
        rows.append(row)
        at.append(number)
        if wanted is not None and not row.keys() <= wanted.keys():
            for name in row.keys() - wanted.keys():
                strangers.setdefault(name, number)
    columns = columns_of(rows, wanted)
    return Records(columns, len(lines), np.array(at, dtype=np.int64), bad, strangers)


def columns_of(rows: list[dict[str, Any]], wanted: Wanted | None) -> dict[str, list[Any]]:
    """The columns that are there; those that are looked at for the first time with their lists."""
    there = dict.fromkeys(name for row in rows for name in row)
    if wanted is not None:
        return {name: [plain(row.get(name)) for row in rows] for name in wanted if name in there}
    if len(there) > MOST_COLUMNS:
        raise ValueError(f"the first records have {len(there):,} columns: there may be {MOST_COLUMNS:,}")
    return {name: [row.get(name) for row in rows] for name in there}


def flattened(row: Mapping[Any, Any], depth: int = DEEPEST) -> dict[str, Any]:
    """The values of an object and of those inside it.

    >>> flattened({"a": 1, "b": {"c": 2, "d": {"e": 3}}})
    {'a': 1, 'b.c': 2, 'b.d.e': 3}
    >>> flattened({"b": {"c": 2}, "b.c": 3})
    Traceback (most recent call last):
    smartcl.files.json_records.TwiceError: two values for one column: 'b.c'
    """
    flat: dict[str, Any] = {}
    for name, value in row.items():
        inside = isinstance(value, Mapping) and depth
        found = flattened(value, depth - 1).items() if inside else ((None, value),)
        for inner, each in found:
            column = str(name) if inner is None else f"{name}.{inner}"
            if column in flat:
                raise TwiceError(f"{TWICE}: {column!r}")
            flat[column] = each
    return flat


def plain(value: Any) -> Any:
    """The value, unless it is made of others."""
    return None if isinstance(value, Mapping | list | tuple | set | bytes) else value


def _object(line: bytes) -> dict[str, Any] | str:
    """A record, or what is wrong with it."""
    try:
        found = json.loads(line, object_pairs_hook=_each_name_once)
        return flattened(found) if isinstance(found, dict) else NO_OBJECT
    except TwiceError:
        return TWICE
    except (ValueError, RecursionError):
        return NO_OBJECT


def _each_name_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise TwiceError
    return found
