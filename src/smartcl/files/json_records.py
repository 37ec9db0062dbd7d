"""JSON lines: one object a line, values in their own types; an object in an object gives columns ``outer.inner``."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from smartcl.columns.nested import TWICE, TwiceError, columns_of, flattened
from smartcl.columns.records import Records, Wanted

#: What is wrong with a line.
NO_OBJECT = "not a JSON object"


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
