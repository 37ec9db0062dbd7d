"""JSON lines: one object a line, values in their own types."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from smartcl.files.records import MOST_COLUMNS, Records, Wanted


def json_records(text: bytes, wanted: Wanted | None) -> Records:
    """The records of a piece of text; what is nested in an object or a list is passed over.

    >>> json_records(b'{"a": 1}\\n[2]\\n{"a": 3, "b": {}}\\n', {"a": True})
    Records(columns={'a': [1, 3]}, count=3, at=array([0, 2]), bad={1: 'not a JSON object'}, strangers={'b': 2})
    """
    rows: list[dict[str, Any]] = []
    at: list[int] = []
    bad: dict[int, str] = {}
    strangers: dict[str, int] = {}
    lines = [line for line in text.split(b"\n") if line.strip()]
    for number, line in enumerate(lines):
        row = _object(line)
        if row is None:
            bad[number] = "not a JSON object"
            continue
        rows.append(row)
        at.append(number)
        if wanted is not None and not row.keys() <= wanted.keys():
            for name in row.keys() - wanted.keys():
                strangers.setdefault(name, number)
    names = list(wanted) if wanted is not None else list(dict.fromkeys(name for row in rows for name in row))
    if len(names) > MOST_COLUMNS:
        raise ValueError(f"the first records have {len(names):,} columns: there may be {MOST_COLUMNS:,}")
    columns = {name: [_plain(row.get(name)) for row in rows] for name in names}
    return Records(columns, len(lines), np.array(at, dtype=np.int64), bad, strangers)


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _plain(value: Any) -> Any:
    return value if isinstance(value, str | int | float) else None
