"""Bodies as MLflow's scoring server takes them: frames by records or split, instances, inputs by column, CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from typing import Any

from smartcl.serve.bodies import Item, checked_row, json_of
from smartcl.serve.limits import Limits
from smartcl.serve.refusals import RefusedError

FORMS = ("dataframe_split", "dataframe_records", "instances", "inputs")


def rows_invoked(body: bytes, as_csv: bool, limits: Limits) -> list[Item]:
    """The rows of a body to ``/invocations``.

    >>> rows_invoked(b'{"dataframe_split": {"columns": ["wind"], "data": [[3]]}}', False, Limits())
    [Item(row={'wind': 3}, label=None, id=None)]
    """
    rows = _of_csv(body) if as_csv else _of_json(json_of(body))
    if not rows:
        raise RefusedError(422, "there are no rows in the body")
    if len(rows) > limits.rows:
        raise RefusedError(413, f"a request may have {limits.rows:,} rows, has {len(rows):,}")
    return [Item(checked_row(row, place, limits)) for place, row in enumerate(rows)]


def _of_json(content: Any) -> list[Any]:
    given = [form for form in FORMS if form in content] if isinstance(content, dict) else []
    strangers = set(content) - {*FORMS, "params"} if isinstance(content, dict) else set()
    if len(given) != 1 or strangers or content.get("params"):
        raise RefusedError(422, f"the body must be an object with one of {', '.join(FORMS)}")
    held = content[given[0]]
    if given[0] == "dataframe_split":
        return _split(held)
    if given[0] == "inputs" and isinstance(held, dict):
        return _by_column(held)
    if not isinstance(held, list):
        raise RefusedError(422, f"{given[0]} must be a list of objects")
    return held


def _split(held: Any) -> list[Any]:
    columns, data = (held.get("columns"), held.get("data")) if isinstance(held, dict) else (None, None)
    if (
        not isinstance(columns, list)
        or not isinstance(data, list)
        or not all(isinstance(name, str) for name in columns)
    ):
        raise RefusedError(422, "dataframe_split must have columns, a list of names, and data, a list of rows")
    if len(set(columns)) < len(columns):
        raise RefusedError(422, "the columns of dataframe_split must have different names")
    if not all(isinstance(row, list) and len(row) == len(columns) for row in data):
        raise RefusedError(422, f"each row of dataframe_split.data must be a list of {len(columns)} values")
    return [dict(zip(columns, row, strict=True)) for row in data]


def _by_column(held: Mapping[str, Any]) -> list[Any]:
    columns = {name: values if isinstance(values, list) else [values] for name, values in held.items()}
    if len({len(values) for values in columns.values()}) > 1:
        raise RefusedError(422, "all columns of inputs must have the same number of values")
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _of_csv(body: bytes) -> list[Any]:
    try:
        rows = list(csv.reader(io.StringIO(body.decode("utf-8-sig"), newline=""), strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        raise RefusedError(400, f"the body is not CSV in UTF-8: {error}") from None
    if not rows:
        return []
    header, lines = rows[0], [row for row in rows[1:] if row]
    if not all(len(row) == len(header) for row in lines) or len(set(header)) < len(header):
        raise RefusedError(422, "each line of the CSV must have one value for each different name of its first line")
    return [dict(zip(header, row, strict=True)) for row in lines]
