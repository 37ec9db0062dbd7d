"""One schema for tables whose columns differ, and what the rows and the encoder of each are under it.

What a table never had is missing in its rows: the column's fill stands there, and a feature says that it was missing.
A column that was ignored in a table, because it had one value, is one that the table never had.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import Any

import numpy as np

from smartcl.columns.column_schema import CATEGORY, DATE_PARTS, IGNORED, TEXT, Column, ColumnSchema
from smartcl.columns.recognise import OWN_NAMES
from smartcl.columns.row_encoder import YEAR_DAYS, RowEncoder
from smartcl.data.batch import Floats, Ints
from smartcl.saving.saved import Saved

#: The most names of a column that have features of their own: as many as a schema found on rows gives at the most.
MOST_OWN = 2 * OWN_NAMES


def united_schema(encoders: Sequence[RowEncoder], n_classes: int) -> ColumnSchema:
    """The columns of all, or a ``ValueError`` that says which column cannot be one.

    >>> from smartcl.columns.column_schema import Column
    >>> one, two = (ColumnSchema("y", (Column("a", "number"), Column(name, "truth"))) for name in "bc")
    >>> united_schema([RowEncoder(one), RowEncoder(two)], 2).feature_names[:5]
    ['a', 'b', 'b is missing', 'c', 'c is missing']
    """
    schemas = [encoder.schema for encoder in encoders]
    first = schemas[0]
    for what in ("label", "id", "sparse"):
        found = list(dict.fromkeys(getattr(schema, what) for schema in schemas))
        if len(found) > 1:
            raise ValueError(f"the models cannot be merged: {what} is {found[0]!r} in one and {found[1]!r} in another")
    if first.sparse:
        raise ValueError("models of LIBSVM's features by number have no columns by name that could be put together")
    names = [[column.name for column in schema.columns] for schema in schemas]
    order = names[0] if all(each == names[0] for each in names) else sorted(set().union(*names))
    known = [{column.name: column for column in schema.columns} for schema in schemas]
    columns = []
    for name in order:
        own = sorted({each for encoder in encoders if name in encoder.own for each in encoder.own[name]})
        columns.append(_united([each.get(name) for each in known], name, len(own)))
    widths = {schema.width for schema in schemas if schema.of_kind(TEXT)}
    if len(widths) > 1:
        raise ValueError(f"words are hashed into {' and '.join(map(str, sorted(widths)))} places: give one --width")
    classes = max(n_classes, *(schema.classes for schema in schemas))
    return ColumnSchema(first.label, tuple(columns), max(widths, default=first.width), first.id, classes)


def _united(parts: Sequence[Column | None], name: str, own_names: int) -> Column:
    there = [column for column in parts if column is not None and column.kind != IGNORED]
    if not there:
        return Column(name, IGNORED)
    for what in ("kind", "style"):
        found = sorted({str(getattr(column, what)) for column in there})
        if len(found) > 1:
            raise ValueError(
                f"the column {name!r} has another {what} in each model, {found[0]!r} and {found[1]!r}: "
                "let them go on from one base, or train each with the same --schema"
            )
    slots = 0 if any(not column.slots for column in there) else max(column.slots for column in there)
    return replace(
        there[0],
        missing=len(there) < len(parts) or any(column.missing for column in there),
        fill=fsum(column.fill for column in there) / len(there),
        slots=min(MOST_OWN, max(slots, own_names)) if slots else 0,
        why=min(column.why for column in there),
    )


@dataclass(frozen=True)
class ClassColumns:
    """How columns of classes of one schema become those of another: shares ``@ turn + begin``, differences ``@ turn``.

    The first class has no column: its rate is what the others leave.

    >>> turned = ClassColumns.between(np.array([1, 0]), 1, 2, 1)
    >>> (np.array([[0.25]]) @ turned.turn).tolist(), (np.array([[0.25]]) @ turned.turn + turned.begin).tolist()
    ([[-0.25]], [[0.75]])
    """

    turn: Floats
    begin: Floats
    same: bool

    @classmethod
    def between(cls, at: Ints, width: int, n_classes: int, new_width: int) -> ClassColumns:
        """For classes that stand at these places among all of them."""
        same = width == new_width and np.array_equal(at, np.arange(len(at)))
        if same:
            return cls(np.eye(width, dtype=np.float32), np.zeros(width, np.float32), same)
        if len(at) > width + 1 or n_classes > new_width + 1:
            raise ValueError(
                f"the models know the classes in another order, and beyond {width + 1} of them rates of names are not "
                "told apart: name all classes at first (classes=), or let the models go on from one base"
            )
        turn, begin = np.zeros((width, new_width), np.float32), np.zeros(new_width, np.float32)
        for own, place in enumerate(at.tolist()):
            if place and own:
                turn[own - 1, place - 1] = 1
            elif place:
                turn[:, place - 1], begin[place - 1] = -1, 1
        return cls(turn, begin, same)


class MovedColumns:
    """What rows and names of one encoder are under a schema that has all its columns."""

    def __init__(self, encoder: RowEncoder, schema: ColumnSchema, places: dict[str, dict[str, int]], at: Ints) -> None:
        """``places`` are those of names with features of their own, ``at`` those of the classes among all."""
        own = encoder.schema
        self._from, self._to = encoder, RowEncoder(schema)
        self._places = places
        self._rates = ClassColumns.between(at, own.rates, max(schema.classes, int(at.max()) + 1), schema.rates)
        if own.of_kind(TEXT) and not (np.array_equal(at, np.arange(len(at))) and own.word_rates == schema.word_rates):
            column = own.of_kind(TEXT)[0].name
            raise ValueError(
                f"the words of the column {column!r} lean to classes that stand in another order in each model: "
                "name all classes at first (classes=), or let the models go on from one base"
            )

    def rows(self, x: Floats) -> Floats:
        """Encoded rows."""
        old, new, made = self._from, self._to, self._from.schema.rates
        width = new.schema.rates
        absent = np.asarray(new.row({}).x, dtype=np.float32)
        found = np.repeat(absent, len(x), axis=0)
        late = slice(new._late_at, new._late_at + width)
        found[:, late] = x[:, old._late_at : old._late_at + made] @ self._rates.turn
        found[:, -1] = x[:, -1]
        for column in old.schema.used:
            here, there = old._first[column.name], new._first[column.name]
            target = next(each for each in new.schema.used if each.name == column.name)
            values = self._values(column, target, x[:, here:])
            found[:, there : there + values.shape[1]] = values
            if column.rated:
                rate, rated = old._rate_at[column.name], new._rate_at[column.name]
                found[:, rated : rated + width] = x[:, rate : rate + made] @ self._rates.turn
            if target.missing:
                flag = x[:, old._missing_at[column.name]] if column.missing else 0.0
                found[:, new._missing_at[column.name]] = flag
        return found

    def _values(self, column: Column, target: Column, x: Floats) -> Floats:
        """The features of a column but its rates and the one that says it was missing."""
        match column.kind:
            case "date":
                values = x[:, : len(DATE_PARTS)].copy()
                values[:, 0] += np.float32((column.fill - target.fill) / YEAR_DAYS)
                return values
            case "clock":
                return x[:, :3]
            case "text":
                return x[:, : len(column.features(1, self._from.schema.word_rates)) - column.missing]
            case "category":
                values = np.zeros((len(x), target.slots), np.float32)
                for name in self._from.own.get(column.name, ()) if target.slots else ():
                    if (place := self._places[column.name].get(name)) is not None:
                        values[:, place] = x[:, self._from.own[column.name].place(name)]
                return values
            case _:
                return x[:, :1]

    def encoder(self) -> RowEncoder:
        """What is known of names and words."""
        state, fresh = self._from.state_dict(), self._to.state_dict()
        turn, begin = self._rates.turn, self._rates.begin

        def rates(name: str) -> dict[str, Any]:
            if name not in state["rates"]:
                return dict(fresh["rates"][name])
            known = state["rates"][name]
            return {**known, "rate": (known["rate"] @ turn).clip(-1, 1).astype(np.float32)}

        made = RowEncoder(self._to.schema)
        made.load_state_dict(
            Saved(
                {
                    **fresh,
                    "rows": state["rows"],
                    **{
                        name: (state[name] @ turn + begin).clip(0, 1).astype(np.float32)
                        for name in ("base", "late", "whole")
                    },
                    "rates": {name: rates(name) for name in fresh["rates"]},
                    "own": {name: self._own(name, state["own"].get(name), each) for name, each in fresh["own"].items()},
                    "words": {name: state["words"].get(name, each) for name, each in fresh["words"].items()},
                }
            )
        )
        return made

    def _own(self, column: str, known: dict[str, Any] | None, fresh: dict[str, Any]) -> dict[str, Any]:
        if known is None:
            return fresh
        last = fresh["last"].copy()
        places = {name: place for name, place in self._places[column].items() if name in known["places"]}
        for name, place in places.items():
            last[place] = known["last"][known["places"][name]]
        return {"places": places, "last": last}


def own_places(encoders: Sequence[RowEncoder], schema: ColumnSchema) -> dict[str, dict[str, int]]:
    """For each column that has room for them, the place of each name that has a feature of its own in an encoder."""
    found = {}
    for column in schema.of_kind(CATEGORY):
        names = sorted({name for encoder in encoders for name in encoder.own.get(column.name, ())})
        found[column.name] = {name: place for place, name in enumerate(names[: column.slots])}
    return found
