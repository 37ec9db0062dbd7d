"""Bodies of requests as rows: JSON of one row or many, and JSON lines. What cannot be taken is refused, all of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from smartcl.columns.nested import TwiceError, flattened, plain
from smartcl.columns.values import name_of
from smartcl.files.blocks import NO_LABEL
from smartcl.serve.limits import Limits
from smartcl.serve.refusals import RefusedError

#: The names that an object of a request may have.
PREDICT_NAMES, LEARN_NAMES = {"row", "id"}, {"row", "label", "id"}


@dataclass(frozen=True)
class Item:
    """One row of a request: its values by column, its label, its id. A label may come with an id alone."""

    row: Mapping[str, Any] | None
    label: str | None = None
    id: str | None = None


@dataclass(frozen=True)
class RequestRows:
    """The rows of a request, and whether it was about one row."""

    items: Sequence[Item]
    single: bool = False


def json_of(body: bytes) -> Any:
    """What a body says, or a refusal."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise RefusedError(400, f"the body is not JSON: {_short(error)}") from None
    return found


def rows_to_predict(body: bytes, lines: bool, limits: Limits) -> RequestRows:
    """The rows of a body to ``/predict``.

    >>> rows_to_predict(b'{"row": {"wind": 3}, "id": "a"}', False, Limits()).items
    [Item(row={'wind': 3}, label=None, id='a')]
    """
    if lines:
        objects = _objects(body, limits)
        return RequestRows([_item(each, place, PREDICT_NAMES, limits) for place, each in objects])
    content = _object(json_of(body), "the body")
    if "rows" in content:
        return RequestRows(_many(content, {"rows", "ids"}, limits))
    return RequestRows([_item(content, None, PREDICT_NAMES, limits)], single=True)


def rows_to_learn(body: bytes, lines: bool, limits: Limits, label: str) -> RequestRows:
    """The rows and labels of a body to ``/learn``; a row may have its label in the column ``label``.

    >>> rows_to_learn(b'{"id": "a", "label": true}', False, Limits(), "storm").items
    [Item(row=None, label='true', id='a')]
    """
    if lines:
        found = [_item(each, place, LEARN_NAMES, limits) for place, each in _objects(body, limits)]
        return RequestRows([_labelled(item, place, label) for place, item in enumerate(found)])
    content = _object(json_of(body), "the body")
    if "rows" in content:
        many = _many(content, {"rows", "labels", "ids"}, limits)
        return RequestRows([_labelled(item, place, label) for place, item in enumerate(many)])
    return RequestRows([_labelled(_item(content, None, LEARN_NAMES, limits), None, label)], single=True)


def checked_row(row: Any, place: int | None, limits: Limits) -> dict[str, Any]:
    """The values of a row by column, or a refusal that names the row and the column."""
    try:
        flat = flattened(_object(row, _where(place)))
    except TwiceError as error:
        raise RefusedError(422, f"{_where(place)} has {error}") from None
    if not flat:
        raise RefusedError(422, f"{_where(place)} has no values")
    if len(flat) > limits.values:
        raise RefusedError(422, f"{_where(place)} has {len(flat):,} values: it may have {limits.values:,}")
    for name, value in flat.items():
        if len(name) > limits.name or not _is_unicode(name):
            raise RefusedError(422, f"{_where(place)} has a column's name that is no text of {limits.name} characters")
        if isinstance(value, str) and (len(value) > limits.text or not _is_unicode(value)):
            what = f"has {len(value):,} characters" if len(value) > limits.text else "holds half a character"
            told = f"column {_short(name)!r} {what}: it may be a text of {limits.text:,} characters"
            raise RefusedError(422, f"{_where(place)}, {told}")
    return {name: plain(value) for name, value in flat.items()}


def _objects(body: bytes, limits: Limits) -> Iterable[tuple[int, Mapping[str, Any]]]:
    lines = [line for line in body.split(b"\n") if line.strip()]
    _check_count(len(lines), limits)
    for place, line in enumerate(lines):
        try:
            content = _object(json.loads(line), _where(place))
        except (ValueError, RecursionError) as error:
            raise RefusedError(400, f"{_where(place)} is not JSON: {_short(error)}") from None
        # a line with neither a row nor an id is the row itself
        yield place, content if isinstance(content.get("row"), dict) or "id" in content else {"row": content}


def _many(content: Mapping[str, Any], names: set[str], limits: Limits) -> list[Item]:
    _check_names(content, names, "the body")
    rows = content["rows"]
    if not isinstance(rows, list):
        raise RefusedError(422, "rows must be a list of objects")
    _check_count(len(rows), limits)
    beside: dict[str, list[Any]] = {}
    for name in ("labels", "ids"):
        values = content.get(name)
        if values is not None and (not isinstance(values, list) or len(values) != len(rows)):
            raise RefusedError(422, f"{name} must be a list of {len(rows)} values, one for each of the rows")
        beside[name] = [None] * len(rows) if values is None else values
    triples = zip(rows, beside["labels"], beside["ids"], strict=True)
    return [
        Item(checked_row(row, place, limits), _label(label, place, limits), _id(known, place, limits))
        for place, (row, label, known) in enumerate(triples)
    ]


def _item(content: Mapping[str, Any], place: int | None, names: set[str], limits: Limits) -> Item:
    _check_names(content, names, "the body" if place is None else _where(place))
    row = content.get("row")
    found = None if row is None else checked_row(row, place, limits)
    known = _id(content.get("id"), place, limits)
    if found is None and ("label" not in names or known is None):
        raise RefusedError(422, f"{_where(place)} is missing: send {{'row': {{column: value, ...}}}}")
    return Item(found, _label(content.get("label"), place, limits), known)


def _labelled(item: Item, place: int | None, column: str) -> Item:
    """With the label that stands in the row; a row without any is refused."""
    row, label = item.row, item.label
    if row is not None and column in row:
        row = {name: value for name, value in row.items() if name != column}
        label = name_of(item.row[column]) if label is None and item.row is not None else label
    if label is None:
        raise RefusedError(
            422, f"{_where(place)} has {NO_LABEL}: send 'label', or the column {_short(column)!r} in the row"
        )
    if label.endswith("\0"):
        raise RefusedError(422, f"{_where(place)} has a label that ends in the character NUL")
    return Item(row, label, item.id)


def _label(value: Any, place: int | None, limits: Limits) -> str | None:
    if plain(value) is None and value is not None:
        raise RefusedError(422, f"{_where(place)}: the label must be a text, a number or a truth value")
    return _name(name_of(value), "label", place, limits)


def _id(value: Any, place: int | None, limits: Limits) -> str | None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, str | int)):
        raise RefusedError(422, f"{_where(place)}: the id must be a text or a whole number")
    return _name(None if value is None else str(value), "id", place, limits)


def _name(text: str | None, what: str, place: int | None, limits: Limits) -> str | None:
    if text is not None and not (0 < len(text) <= limits.name and _is_unicode(text)):
        raise RefusedError(422, f"{_where(place)}: the {what} must be a text of 1 to {limits.name} characters")
    return text


def _object(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise RefusedError(422, f"{what} must be an object, got {'null' if value is None else type(value).__name__}")
    return value


def _check_names(content: Mapping[str, Any], names: set[str], what: str) -> None:
    stranger = next((name for name in content if name not in names), None)
    if stranger is not None:
        raise RefusedError(422, f"{what} may have {', '.join(sorted(names))}, has {_short(stranger)!r}")


def _check_count(count: int, limits: Limits) -> None:
    if not count:
        raise RefusedError(422, "there are no rows in the body")
    if count > limits.rows:
        raise RefusedError(413, f"a request may have {limits.rows:,} rows, has {count:,}")


def _is_unicode(text: str) -> bool:
    """Whether this is made of whole characters: JSON can name half of one."""
    return text.isascii() or not any("\ud800" <= char <= "\udfff" for char in text)


def _where(place: int | None) -> str:
    return "the row" if place is None else f"row {place}"


def _short(what: object) -> str:
    text = str(what).encode("ascii", "backslashreplace").decode()
    return text if len(text) <= 80 else f"{text[:77]}..."
