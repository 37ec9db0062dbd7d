"""What kind of column is it? Told from the first rows of a stream."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from smartcl.files.columns import (
    AS_NUMBERS,
    CATEGORY,
    DATE,
    IGNORED,
    INDEXED,
    KINDS,
    NUMBER,
    TEXT,
    TRUTH,
    Column,
    ColumnSchema,
)
from smartcl.files.hashed_width import USUAL_WIDTH
from smartcl.files.json_records import plain
from smartcl.files.libsvm_records import FEATURES, LABEL
from smartcl.files.records import Records
from smartcl.files.values import UNREADABLE, is_missing, name_of, number_of, numbers_of
from smartcl.files.written import READERS, SLIPS, best_style

#: From so many words on the average, names are a text.
WORDS = 3.0
#: A column whose values are all different names in so many rows is the name of the row.
ROWS_OF_NAMES = 20
#: What a column is called that numbers the rows; one whose name ends in ``_id`` is looked at too.
NUMBER_NAMES = ("", "id", "index", "row", "nr", "no", "unnamed: 0", "column 1")
#: Whatever it is called, a column that goes up by one in each of so many rows numbers them.
ROWS_COUNTED = 200
#: A category with more names than this is hashed.
MOST_NAMES = 64
#: Free slots for names that come later: as many as there are names now, and at least this many.
LEAST_FREE = 4
#: More features of their own and a table becomes sparse.
MOST_DENSE = 4096


@dataclass(frozen=True)
class Told:
    """What a user says about the columns, by name."""

    label: str | None = None
    id: str | None = None
    kinds: Mapping[str, str] = field(default_factory=dict)
    width: int = USUAL_WIDTH


def recognised(records: Records, told: Told) -> ColumnSchema:
    """The schema of a stream that begins with these rows."""
    label = told.label
    if FEATURES in records.columns and set(records.columns) <= {LABEL, FEATURES}:
        return ColumnSchema(LABEL, (Column(FEATURES, INDEXED),), sparse=True, width=told.width)
    if label is None:
        raise ValueError(f"name the column of the label: there are {listed(records.columns)}")
    for what, name in (("label", label), ("id", told.id), *(("column", name) for name in told.kinds)):
        if name is not None and name not in records.columns:
            raise ValueError(f"there is no {what} {name!r} among the columns: {listed(records.columns)}")
    check_classes(label, [name_of(value) for value in records.columns[label] if not is_missing(value)])
    features = {name: list(values) for name, values in records.columns.items() if name not in (label, told.id)}
    alone = len(features) == 1
    columns = tuple(_column(name, values, told.kinds.get(name), alone) for name, values in features.items())
    return with_layout(ColumnSchema(label, columns, sparse=True, width=told.width, id=told.id))


def with_layout(schema: ColumnSchema) -> ColumnSchema:
    """The same columns as dense rows, if there are no words and few enough features, else hashed into sparse ones."""
    categories = schema.of_kind(CATEGORY)
    hashed = schema.of_kind(TEXT, INDEXED) or any(not column.slots for column in categories)
    own = sum(len(column.features(sparse=False)) for column in schema.used)
    if not hashed and own <= MOST_DENSE:
        return replace(schema, sparse=False, width=0)
    return schema if hashed or categories else replace(schema, width=0)


def _column(name: str, values: Sequence[Any], kind: str | None, alone: bool) -> Column:
    there = [value for value in values if not is_missing(value)]
    missing = len(there) < len(values)
    if kind is None:
        kind, why = _kind(name, there, alone)
        if kind == IGNORED:
            return Column(name, kind, why=why)
    elif kind not in KINDS:
        raise ValueError(f"the kind of a column must be one of {', '.join(KINDS)}, got {kind!r}")
    if kind in AS_NUMBERS:
        style, _ = best_style(kind, there)
        numbers = numbers_of(there, READERS[kind][style])
        fine = numbers[np.isfinite(numbers)]
        scale = 86400.0 if kind == DATE else 1.0
        fill = float(np.float32(fine.mean() / scale)) if len(fine) else 0.0
        return Column(name, kind, missing, fill, style=style)
    if kind == CATEGORY:
        names = len({name_of(value) for value in there})
        slots = names + max(LEAST_FREE, names) if names <= MOST_NAMES else 0
        return Column(name, kind, missing, slots=slots)
    return Column(name, kind)


def _kind(name: str, there: Sequence[Any], alone: bool) -> tuple[str, str]:
    """The kind of a column with these values, and why it is ignored if it is; alone, it is all there is to learn."""
    if not there:
        return IGNORED, "no value in the first rows"
    if any(plain(value) is None for value in there):
        return IGNORED, "lists and bytes are not read"
    if all(isinstance(value, bool | np.bool_) for value in there):
        return TRUTH, ""
    for kind in (NUMBER, TRUTH, DATE):
        if best_style(kind, there)[1] <= SLIPS:
            numbers_rows = kind == NUMBER and (_called_number(name, there) or (_goes_up_by_one(there) and not alone))
            return (IGNORED, "it numbers the rows") if numbers_rows else (kind, "")
    names = [name_of(value) or "" for value in there]
    if sum(len(name.split()) for name in names) / len(names) >= WORDS:
        return TEXT, ""
    if len(names) >= ROWS_OF_NAMES and len(set(names)) == len(names):
        return IGNORED, "every row has another name"
    return CATEGORY, ""


def _called_number(name: str, there: Sequence[Any]) -> bool:
    """Whether this is called a running number, and never twice the same."""
    called = name.lower() in NUMBER_NAMES or name.lower().endswith("_id")
    return called and len(there) >= ROWS_OF_NAMES and len({name_of(value) for value in there}) == len(there)


def _goes_up_by_one(there: Sequence[Any]) -> bool:
    """Whether many rows, and all of them, are numbered one after the other."""
    if len(there) < ROWS_COUNTED:
        return False
    numbers = numbers_of(there, READERS[NUMBER][best_style(NUMBER, there)[0]])
    return bool(np.isfinite(numbers).all() and (np.diff(numbers) == 1).all())


def check_classes(label: str, names: Sequence[str | None]) -> None:
    """Refuse a label that measures something: its values are no classes."""
    different = len(set(names))
    fractions = sum(number_of(name) % 1 > 0 for name in names if number_of(name) != UNREADABLE)
    if len(names) >= ROWS_OF_NAMES and different > len(names) / 2 and fractions > len(names) / 2:
        raise ValueError(
            f"the label {label!r} has {different:,} different numbers in {len(names):,} rows: it is a quantity, and "
            "what can be learned is a class"
        )


def listed(names: Collection[str]) -> str:
    """Names for a line of text, not too many of them."""
    return ", ".join(map(repr, names)) if len(names) <= 20 else f"{', '.join(map(repr, list(names)[:20]))}, ..."
