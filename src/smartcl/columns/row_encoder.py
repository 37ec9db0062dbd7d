"""From records to rows of numbers, by what is known of their names and words so far.

A row is encoded once, when it comes, with what rows before it have taught, and stored like that. What it teaches itself
is learned after it was predicted and learned (``learn``): no feature ever knows its own row's label.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from math import cos, nan, pi, sin
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse

from smartcl.columns.change_log import ChangeLog
from smartcl.columns.column_schema import (
    ANY,
    AS_NUMBERS,
    CATEGORY,
    CLOCK,
    CODE,
    DATE,
    DATE_PARTS,
    INDEXED,
    NUMBER,
    RISES,
    TEXT,
    WATCHED,
    Column,
    ColumnSchema,
)
from smartcl.columns.hashing import NameBook
from smartcl.columns.name_rates import GRAIN, NameRates, key_of
from smartcl.columns.nested import check_record, flattened, plain
from smartcl.columns.own_names import OwnNames
from smartcl.columns.recognise import listed
from smartcl.columns.records import Records
from smartcl.columns.trends import KNOWN_CYCLES, Trends, finite, with_gaps
from smartcl.columns.values import LARGEST, MISSING, UNREADABLE, is_missing, name_of, numbers_of
from smartcl.columns.word_rates import WordRates, Words, words_from, words_state
from smartcl.data.batch import Floats, Ints, Rows, take_rows
from smartcl.saving.saved import Saved

DAY_SECONDS = 86400.0
#: Turns a year, a week and a day take, in days; the first of January 1970 was a Thursday.
YEAR_DAYS, WEEK_DAYS = 365.2425, 7.0
DAY_HOURS = 24.0
#: The days of the cycle of each part of a date after the years.
CYCLE_DAYS = np.array([YEAR_DAYS, YEAR_DAYS, WEEK_DAYS, WEEK_DAYS, 1.0, 1.0])

#: Rows over which the rate of all is averaged, and what a row leaves of the late rate before it. 0.98 is a memory of 50
#: rows; 0.9 and 0.998 beside it gave nothing on flights after the first 100,000.
BASE_ROWS, LATE = 500.0, 0.98
#: Rows for which the late rate stays as it is, a batch: fading within it cost 0.01 AUC on flights after the first
#: 100,000.
FRESH_ROWS = 50
#: Whole numbers below are floats without further ado.
WHOLE = 2**53
#: The key of a value that is missing.
NO_NAME = 0


@dataclass(frozen=True)
class Parsed:
    """Rows read as what their columns are: numbers [rows, columns], names and texts by column, labels and ids."""

    numbers: NDArray[np.float64]
    names: Mapping[str, Sequence[Any]]
    labels: Sequence[str | None]
    ids: Sequence[Any] | None

    def __len__(self) -> int:
        return len(self.numbers)

    def take(self, rows: slice | Ints) -> Parsed:
        """Some of the rows."""

        def some(values: Sequence[Any]) -> Sequence[Any]:
            return values[rows] if isinstance(rows, slice) else [values[row] for row in rows.tolist()]

        names = {name: some(values) for name, values in self.names.items()}
        return Parsed(self.numbers[rows], names, some(self.labels), None if self.ids is None else some(self.ids))

    @classmethod
    def joined(cls, parts: Sequence[Parsed]) -> Parsed:
        if len(parts) == 1:
            return parts[0]
        first = parts[0]
        return cls(
            np.concatenate([part.numbers for part in parts]),
            {name: [value for part in parts for value in part.names[name]] for name in first.names},
            [label for part in parts for label in part.labels],
            None if first.ids is None else [known for part in parts for known in part.ids or ()],
        )


@dataclass
class Odd:
    """What was odd about values that were encoded, by column: how many were missing, unreadable or new names."""

    missing: dict[str, int] = field(default_factory=dict)
    unreadable: dict[str, int] = field(default_factory=dict)
    unseen: dict[str, int] = field(default_factory=dict)

    def note(self, counts: dict[str, int], column: str, count: int) -> None:
        if count:
            counts[column] = counts.get(column, 0) + count

    def add(self, other: Odd) -> None:
        """Count what was odd about others too."""
        for mine, theirs in ((self.missing, other.missing), (self.unreadable, other.unreadable)):
            for column, count in theirs.items():
                self.note(mine, column, count)
        for column, count in other.unseen.items():
            self.note(self.unseen, column, count)


@dataclass(frozen=True, eq=False)
class EncodedRows:
    """Rows as a learner takes them, and what of them will be learned by the encoder: names by key, words by place."""

    x: Rows
    keys: Mapping[str, list[int]]
    names: Mapping[str, list[str | None]]
    words: Mapping[str, list[Words | None]]
    #: The numbers that are left out while they only rise.
    numbers: NDArray[np.float64]

    @classmethod
    def to_predict(cls, x: Rows) -> EncodedRows:
        """Features of which nothing will be learned."""
        return cls(x, {}, {}, {}, np.zeros((x.shape[0], 0)))

    def __len__(self) -> int:
        return int(self.x.shape[0])

    def take(self, rows: Ints) -> EncodedRows:
        """Some of the rows."""
        if len(rows) == len(self) and (np.diff(rows) == 1).all():
            return self
        keys = {name: [each[row] for row in rows] for name, each in self.keys.items()}
        names = {name: [each[row] for row in rows] for name, each in self.names.items()}
        words = {name: [each[row] for row in rows] for name, each in self.words.items()}
        return EncodedRows(take_rows(self.x, rows), keys, names, words, self.numbers[rows])

    def state_dict(self) -> dict[str, Any]:
        """What is beside the features; of words their places, not their letters."""
        return {
            "keys": {name: np.array(each, np.int64) for name, each in self.keys.items()},
            "names": {name: list(each) for name, each in self.names.items()},
            "words": {name: words_state(each) for name, each in self.words.items()},
            "numbers": finite(self.numbers),
        }


@dataclass(frozen=True, eq=False)
class LeftOut:
    """What is left out of rows because it only rises: columns by name and by place, and parts of dates by place."""

    names: frozenset[str]
    places: Ints
    parts: Mapping[int, NDArray[np.float64]]


class RowEncoder:
    """Rows as a schema says, always the same features.

    >>> schema = ColumnSchema("", (Column("size", "number"), Column("shop", "category")))
    >>> encoder = RowEncoder(schema)
    >>> rows = encoder.parse(Records.of({"size": [1, 2], "shop": ["north", "south"]}))
    >>> found = encoder.encoded(rows)
    >>> encoder.learn(found, np.array([1, 0]))
    >>> dict(zip(schema.feature_names, encoder.encode(rows)[0].tolist()))
    {'size': 1.0, 'shop: rate': 0.046875, 'rate of the last labels': -0.001953125, 'values missing': 0.0}
    """

    def __init__(self, schema: ColumnSchema) -> None:
        self.schema = schema
        #: Rows that were learned.
        self.rows = 0
        self._numeric = schema.of_kind(*AS_NUMBERS)
        self._named = schema.of_kind(CATEGORY, TEXT, INDEXED)
        self._texts = schema.of_kind(TEXT)
        self._rated = tuple(column for column in schema.used if column.rated)
        self.rates = {column.name: NameRates(schema.rates) for column in self._rated}
        self.own = {column.name: OwnNames(column.slots) for column in schema.of_kind(CATEGORY) if column.slots}
        self.words = {column.name: WordRates(schema.word_rates, max(1, schema.width)) for column in self._texts}
        self.book = NameBook(len(schema.feature_names), max(1, schema.width))
        self._base = np.zeros(schema.rates, np.float32)
        self._late = np.zeros(schema.rates, np.float32)
        self._watched = np.flatnonzero([column.trend != ANY for column in self._numeric])
        self._trends = Trends.none(len(self._watched))
        self._left_out = self._leaving_out(self._trends)
        self._whole = np.zeros(schema.rates, np.float32)
        self._lay_out()

    def _lay_out(self) -> None:
        """Where everything stands in a row."""
        schema, numeric = self.schema, self._numeric
        widths = [len(column.features(schema.rates, schema.word_rates)) for column in schema.used]
        ends = np.cumsum([0, *widths]).tolist()
        self._first = {column.name: first for column, first in zip(schema.used, ends, strict=False)}
        last = {column.name: end - 1 for column, end in zip(schema.used, ends[1:], strict=True)}
        self._missing_at = {column.name: last[column.name] for column in schema.used if column.missing}
        self._rate_at = {column.name: last[column.name] + 1 - column.missing - schema.rates for column in self._rated}
        self._late_at = ends[-1]
        self._value_at = np.array([self._first[column.name] for column in numeric], dtype=np.int64)
        says = [place for place, column in enumerate(numeric) if column.missing]
        self._says_missing = np.array(says, dtype=np.int64)
        self._says_at = np.array([self._missing_at[numeric[place].name] for place in says], dtype=np.int64)
        self._says_not = np.array([place for place in range(len(numeric)) if place not in set(says)], dtype=np.int64)
        self._units = np.array([DAY_SECONDS if column.kind == DATE else 1.0 for column in numeric])
        self._fill = np.array([column.fill for column in numeric])
        self._origin = np.where([column.kind == DATE for column in numeric], self._fill, 0.0)
        self._scale = np.array([YEAR_DAYS if column.kind == DATE else 1.0 for column in numeric])
        self._places = {column.name: place for place, column in enumerate(numeric)}
        self._dates = [(place, self._first[c.name]) for place, c in enumerate(numeric) if c.kind == DATE]
        self._clocks = [(place, self._first[c.name]) for place, c in enumerate(numeric) if c.kind == CLOCK]
        self._plan: list[_Step] | None = None

    def take_names(self, records: Records) -> None:
        """Give columns of their own to the names of the first rows."""
        for name, own in self.own.items():
            for each in dict.fromkeys(map(name_of, records.columns.get(name, ()))):
                if each is not None:
                    own.take(each)

    def check_columns(self, name: str, records: Records) -> None:
        """Refuse the first records of an input that has none of the columns."""
        wanted = [column.name for column in self.schema.used]
        if len(records.at) and not records.columns.keys() & set(wanted):
            here = listed([*records.columns, *records.strangers])
            raise ValueError(f"{name} has none of the columns that were learned, {listed(wanted)}: it has {here}")

    def parse(self, records: Records) -> Parsed:
        """The rows of some records; a column that is not there is missing in all of them."""
        rows, columns = len(records.at), records.columns
        numbers = np.full((rows, len(self._numeric)), np.nan)
        for place, column in enumerate(self._numeric):
            if column.name in columns:
                numbers[:, place] = numbers_of(columns[column.name], column.reader)
        absent = [None] * rows
        labels = columns.get(self.schema.label, absent) if self.schema.label else absent
        ids = None if self.schema.id is None else list(map(_id_given, columns.get(self.schema.id, absent)))
        return Parsed(
            numbers,
            {column.name: list(columns.get(column.name, absent)) for column in self._named},
            [name_of(label) for label in labels],
            ids,
        )

    def encode(self, rows: Parsed, odd: Odd | None = None) -> Rows:
        """The features of the rows; what was odd about them is counted."""
        return self.encoded(rows, odd).x

    def encoded(self, rows: Parsed, odd: Odd | None = None, after: int = 0) -> EncodedRows:
        """The same, with what is needed to learn them; ``after`` is the number of rows before them without labels."""
        odd = Odd() if odd is None else odd
        features = np.zeros((len(rows), len(self.schema.feature_names)), dtype=np.float32)
        lost = self._numbers_into(features, rows.numbers, odd)
        numbers = rows.numbers[:, self._watched] / self._units[self._watched]
        numbers = np.where(np.isfinite(numbers), numbers, np.nan)
        keys = {column.name: self._code_keys(column, rows.numbers) for column in self._rated if column.kind == CODE}
        names: dict[str, list[str | None]] = {}
        for column in self.schema.of_kind(CATEGORY):
            found = names[column.name] = list(map(name_of, rows.names[column.name]))
            known = {name: key_of(name) for name in dict.fromkeys(found) if name is not None}
            keys[column.name] = [NO_NAME if name is None else known[name] for name in found]
            self._names_into(features, column, found, odd, lost)
        for name, each in keys.items():
            at = self._rate_at[name]
            if name not in self._left_out.names:
                features[:, at : at + self.schema.rates] = self.rates[name].features(each)
            odd.note(odd.unseen, name, self.rates[name].unseen(each) if self.rows else 0)
        words = {column.name: self._texts_into(features, column, rows, odd, lost) for column in self._texts}
        if self.schema.sparse:
            return EncodedRows(self._with_indexed(features, rows), keys, names, words, numbers)
        features[:, self._late_at : self._late_at + self.schema.rates] = self.late(np.arange(after, after + len(rows)))
        features[:, -1] = lost
        return EncodedRows(torch.from_numpy(features), keys, names, words, numbers)

    def learn(self, rows: EncodedRows, classes: Ints, journal: ChangeLog | None = None) -> None:
        """Learn which classes came with these names and words; what changes is noted in the journal."""
        targets = self._targets(classes)
        residuals = targets - self._base
        if journal is not None:
            for name in ("rows", "_base", "_late", "_whole", "_trends", "_left_out"):
                journal.attribute(self, name)
        if len(self._watched):
            before, self._trends = self._trends, self._trends.after(rows.numbers)
            if self._trends.blocks > before.blocks:
                self._left_out = self._leaving_out(self._trends)
        for name, keys in rows.keys.items():
            self.rates[name].learn(keys, residuals, self.rows + len(keys), journal)
        for name, own in self.own.items():
            own.learn(rows.names[name], self.rows, journal)
        for name, words in self.words.items():
            words.learn(rows.words[name], self._targets(classes, self.schema.word_rates), journal)
        count = len(targets)
        self.rows += count
        share = np.float32(count / min(max(self.rows, count), max(BASE_ROWS, count)))
        self._base = self._base + share * (targets.mean(axis=0) - self._base)
        weights = (LATE ** np.arange(count - 1, -1, -1)).astype(np.float32) * np.float32(1 - LATE)
        begun = self._late if self.rows > count else targets.mean(axis=0)
        self._late = (np.float32(LATE**count) * begun + weights @ targets).astype(np.float32)
        self._whole = self._whole + np.float32(count / self.rows) * (targets.mean(axis=0) - self._whole)

    def encoded_from(self, saved: Saved, x: Rows) -> EncodedRows:
        """EncodedRows rows as they were saved, with these features, or a ``StateError``."""
        rows = int(x.shape[0])
        keys, names, words = (saved.part(part) for part in ("keys", "names", "words"))
        named = {column.name for column in self.schema.of_kind(CATEGORY)}
        if set(keys) != set(self.rates) or set(names) != named or set(words) != set(self.words):
            saved.refuse("keys", "must be of the columns of the schema, as names and words")
        kept: dict[str, list[str | None]] = {}
        for name in names:
            kept[name] = names.items(name)
            if len(kept[name]) != rows or not all(each is None or isinstance(each, str) for each in kept[name]):
                names.refuse(name, f"must be {rows} texts")
        numbers = with_gaps(saved.array("numbers", (rows, len(self._watched)), "float64"))
        return EncodedRows(
            x,
            {name: keys.array(name, (rows,), "int64").tolist() for name in keys},
            kept,
            {name: words_from(words.part(name), rows, self.words[name].places) for name in words},
            numbers,
        )

    def row(self, record: Mapping[Any, Any]) -> EncodedRows:
        """One record as ``encoded(parse(...))`` makes it, a short way."""
        check_record(record)
        if any(isinstance(value, Mapping) for value in record.values()):
            record = flattened(record)
        if self._plan is None:
            self._plan = self._planned()
        out = [0.0] * len(self.schema.feature_names)
        state = _Row(out)
        for step in self._plan:
            step(record, state)
        if not self.schema.sparse:
            out[self._late_at : -1] = self.late(np.zeros(1, np.int64))[0].tolist()
            out[-1] = float(state.lost)
        made = torch.from_numpy(np.array([out], dtype=np.float32))
        numbers = np.array([[state.numbers[place] for place in self._watched.tolist()]])
        return EncodedRows(made, state.keys, state.names, state.words, numbers)

    def id_of(self, record: Mapping[Any, Any]) -> Any:
        """The id of one record, as ``parse`` gives it; None where rows have none."""
        return None if self.schema.id is None else _id_given(flattened(record).get(self.schema.id))

    def name(self, feature: int) -> str:
        """What a feature is called."""
        known = self.schema.feature_names
        if feature >= len(known):
            return self.book.name(feature) or f"feature {feature}"
        for column, own in self.own.items():
            place = feature - self._first[column]
            if 0 <= place < own.width and (name := own.name(place)) is not None:
                return f"{column}: {name}"
        return known[feature]

    @property
    def nbytes(self) -> int:
        """Of all that is known of names and words."""
        return sum(each.nbytes for kept in (self.rates, self.own, self.words) for each in kept.values())

    def without_values(self) -> RowEncoder:
        """One whose trends hold no value of any row."""
        made = self.copy()
        made._trends = self._trends.without_values()
        made._left_out = made._leaving_out(made._trends)
        return made

    def copy(self) -> RowEncoder:
        """One that can be changed by itself."""
        made = copy(self)
        made.rates = {name: each.copy() for name, each in self.rates.items()}
        made.own = {name: each.copy() for name, each in self.own.items()}
        made.words = {name: each.copy() for name, each in self.words.items()}
        made.book = self.book.copy()
        made._plan = None
        return made

    def late(self, after: Ints) -> Floats:
        """How much more often than in all rows each class came lately, after this number of rows without labels.

        What the last labels say of the next rows they say less and less of those beyond a batch: it fades to nothing.
        It is 0 only then, and before anything was learned.
        """
        far = np.maximum(0, after[:, None] - FRESH_ROWS).astype(np.float64)
        faded = (self._late - self._whole) * LATE**far
        known = (np.abs(faded) >= GRAIN) | (far == 0) if self.rows else False
        found: Floats = np.where(known, (np.floor(np.round(faded / GRAIN, 3)) + 0.5) * GRAIN, 0.0).astype(np.float32)
        return found

    def _leaving_out(self, trends: Trends) -> LeftOut:
        """What is left out now. Parts of a date come in when their cycle has been gone through."""
        columns = [self._numeric[place] for place in self._watched]
        clocks = trends.clocks if trends.sure else np.array([column.trend == RISES for column in columns], np.bool_)
        names = frozenset(columns[at].name for at in np.flatnonzero(clocks))
        known = {
            int(place): (trends.span[at] >= KNOWN_CYCLES * CYCLE_DAYS).astype(np.float64)
            for at, place in enumerate(self._watched)
            if clocks[at] and self._numeric[place].kind == DATE
        }
        return LeftOut(names, self._watched[clocks], known)

    def trend_of(self, column: Column) -> str:
        """What is done about the column as things are now."""
        return column.trend if column.trend == ANY else RISES if column.name in self._left_out.names else WATCHED

    @property
    def taken(self) -> list[dict[str, str]]:
        """What each column was taken for, and whether it is left out now because it only rises."""
        return replace(self.schema, columns=tuple(map(self._as_now, self.schema.columns))).taken

    def _as_now(self, column: Column) -> Column:
        return replace(column, trend=self.trend_of(column))

    @property
    def only_rising(self) -> list[str]:
        """The columns that are left out because they only rise or only fall so far; of dates, parts may be learned."""
        return sorted(self._left_out.names)

    def _targets(self, classes: Ints, rates: int | None = None) -> Floats:
        """The columns of classes: the first class has none, classes beyond the columns share them with it."""
        width = self.schema.rates if rates is None else rates
        group = classes % (width + 1)
        found: Floats = (group[:, None] == np.arange(1, width + 1)).astype(np.float32)
        return found

    def _numbers_into(self, features: Floats, numbers: NDArray[np.float64], odd: Odd) -> Floats:
        """Numbers in the units of their features, filled in where they are missing; how many were so unsaid, by row."""
        numbers = numbers / self._units
        lost = ~np.isfinite(numbers)
        any_lost = bool(lost.any())
        if any_lost:
            unreadable = (numbers == UNREADABLE).sum(axis=0)
            for place in np.flatnonzero(lost.any(axis=0)).tolist():
                name = self._numeric[place].name
                odd.note(odd.unreadable, name, int(unreadable[place]))
                odd.note(odd.missing, name, int(lost[:, place].sum() - unreadable[place]))
            numbers = np.where(lost, self._fill, numbers)
            features[:, self._says_at] = lost[:, self._says_missing]
        values = (numbers - self._origin) / self._scale
        if len(self._left_out.places):
            values[:, self._left_out.places] = ((self._fill - self._origin) / self._scale)[self._left_out.places]
        features[:, self._value_at] = values
        for place, first in self._dates:
            there = ~lost[:, place] if any_lost else None
            found = turns(numbers[:, place], there)
            if place in self._left_out.parts:
                found *= self._left_out.parts[place]
            features[:, first + 1 : first + len(DATE_PARTS)] = found
        for place, first in self._clocks:
            angles = 2 * np.pi / DAY_HOURS * numbers[:, place]
            there = ~lost[:, place]
            features[:, first + 1] = np.sin(angles) * there
            features[:, first + 2] = np.cos(angles) * there
        unsaid: Floats = lost[:, self._says_not].sum(axis=1).astype(np.float32)
        return unsaid

    def _code_keys(self, column: Column, numbers: NDArray[np.float64]) -> list[int]:
        values = np.ascontiguousarray(numbers[:, self._places[column.name]])
        keys: list[int] = np.where(np.isfinite(values), (values + 0.0).view(np.int64), NO_NAME - 1).tolist()
        return keys

    def _names_into(self, features: Floats, column: Column, names: list[str | None], odd: Odd, lost: Floats) -> None:
        missing = [row for row, name in enumerate(names) if name is None]
        odd.note(odd.missing, column.name, len(missing))
        if column.missing:
            features[missing, self._missing_at[column.name]] = 1.0
        else:
            lost[missing] += 1
        if column.name in self.own:
            first, own = self._first[column.name], self.own[column.name]
            for row, name in enumerate(names):
                place = own.place(name)
                if place is not None:
                    features[row, first + place] = 1.0

    def _texts_into(self, features: Floats, column: Column, rows: Parsed, odd: Odd, lost: Floats) -> list[Words | None]:
        rates, first, found = self.words[column.name], self._first[column.name], []
        for row, value in enumerate(rows.names[column.name]):
            text = name_of(value)
            words = None if text is None else rates.words(text)
            found.append(words)
            if words is not None:
                values = rates.features(words)
                features[row, first : first + len(values)] = values
                continue
            odd.note(odd.missing, column.name, 1)
            if column.missing:
                features[row, self._missing_at[column.name]] = 1.0
            else:
                lost[row] += 1
        return found

    def _with_indexed(self, own: Floats, rows: Parsed) -> Rows:
        indices: list[int] = []
        values: list[float] = []
        ends = [0]
        for row in range(len(rows)):
            there = np.flatnonzero(own[row])
            indices += there.tolist()
            values += own[row, there].tolist()
            for column in self.schema.of_kind(INDEXED):
                numbers, amounts = rows.names[column.name][row] or ([], [])
                indices += map(self.book.numbered, numbers)
                values += amounts
            ends.append(len(indices))
        data = (np.array(values, dtype=np.float32), np.array(indices, dtype=np.int64), np.array(ends))
        found: Rows = sparse.csr_array(data, shape=(len(rows), self.schema.n_features))
        found.sum_duplicates()  # type: ignore[union-attr]
        return found

    def _planned(self) -> list[_Step]:
        """What a record goes through, column by column."""
        steps: list[_Step] = []
        for place, column in enumerate(self._numeric):
            steps.append(self._number_step(place, column))
        for column in self._named:
            if column.kind == INDEXED:
                raise ValueError("rows of LIBSVM's format are learned from files, not one by one")
            steps.append(self._name_step(column) if column.kind == CATEGORY else self._text_step(column))
        return steps

    def _number_step(self, place: int, column: Column) -> _Step:
        name, reader, at = column.name, column.reader, self._first[column.name]
        plain_number = column.kind in (NUMBER, CODE)
        unit, fill, origin, scale = (
            float(each[place]) for each in (self._units, self._fill, self._origin, self._scale)
        )
        missing = self._missing_at.get(name)

        def step(record: Mapping[Any, Any], row: _Row) -> None:
            value = record.get(name)
            # what most values are needs no reader
            quick = plain_number and (type(value) is float or (type(value) is int and abs(value) < WHOLE))
            read = float(value) if quick else reader(plain(value))  # type: ignore[arg-type]
            there = -LARGEST <= read <= LARGEST
            number = read / unit if there else fill
            row.numbers[place] = number if there else nan
            row.out[at] = ((fill if name in self._left_out.names else number) - origin) / scale
            if not there:
                row.miss(missing)
            if column.kind == DATE:
                if there:
                    parts = self._left_out.parts.get(place)
                    turned = turns_of(number) if parts is None else (parts * turns_of(number)).tolist()
                    row.out[at + 1 : at + len(DATE_PARTS)] = turned
            elif column.kind == CLOCK and there:
                angle = 2 * np.pi / DAY_HOURS * number
                row.out[at + 1], row.out[at + 2] = sin(angle), cos(angle)
            elif column.kind == CODE:
                key = _code_key(read) if there else NO_NAME - 1
                row.keys[name] = [key]
                if name not in self._left_out.names:
                    row.rate(self.rates[name], name, key, self._rate_at[name])

        return step

    def _name_step(self, column: Column) -> _Step:
        name, first, missing = column.name, self._first[column.name], self._missing_at.get(column.name)

        def step(record: Mapping[Any, Any], row: _Row) -> None:
            value = plain(record.get(name))
            found = _name(value)
            row.names[name] = [found]
            if found is None:
                row.miss(missing)
            own = self.own.get(name)
            if own is not None and (place := own.place(found)) is not None:
                row.out[first + place] = 1.0
            row.rate(self.rates[name], name, NO_NAME if found is None else key_of(found), self._rate_at[name])

        return step

    def _text_step(self, column: Column) -> _Step:
        name, first, missing = column.name, self._first[column.name], self._missing_at.get(column.name)

        def step(record: Mapping[Any, Any], row: _Row) -> None:
            text = _name(plain(record.get(name)))
            if text is None:
                row.words[name] = [None]
                row.miss(missing)
                return
            rates = self.words[name]
            words = rates.words(text)
            row.words[name] = [words]
            values = rates.features(words)
            row.out[first : first + len(values)] = values

        return step

    def first_feature(self, column: str) -> int:
        """Where a column's own features begin: the value of a number, the first slot of a category."""
        return int(self._first[column])

    @property
    def features_of_columns(self) -> dict[str, Ints]:
        """Which features each column has of its own, for those that have any."""
        rates, words = self.schema.rates, self.schema.word_rates
        widths = {column.name: len(column.features(rates, words)) for column in self.schema.used}
        return {name: np.arange(self._first[name], self._first[name] + n) for name, n in widths.items() if n}

    @property
    def momentary(self) -> Ints:
        """The features that tell of the newest labels."""
        first = int(self._late_at)
        return np.arange(first, first + (0 if self.schema.sparse else self.schema.rates))

    def learned_features(self) -> Ints:
        """The features that hold what was learned of other rows: rates of names, words, late rows."""
        rates = [at + each for at in self._rate_at.values() for each in range(self.schema.rates)]
        words = [
            self._first[column.name] + place
            for column in self._texts
            for place in range(1, len(WordRates.feature_names("", self.schema.word_rates)))
        ]
        return np.array(sorted([*rates, *words, *self.momentary.tolist()]), dtype=np.int64)

    def fill_of(self, column: str) -> float:
        """What stands where a number is missing, in the units of its feature."""
        return float(self._fill[self._places[column]])

    def features_of(self, column: str, values: NDArray[np.float64]) -> NDArray[np.float32]:
        """Numbers as their feature."""
        place = self._places[column]
        found: NDArray[np.float32] = ((values - self._origin[place]) / self._scale[place]).astype(np.float32)
        return found

    def values_of(self, column: str, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """The numbers that a feature stands for."""
        place = self._places[column]
        found: NDArray[np.float64] = features.astype(np.float64) * self._scale[place] + self._origin[place]
        return found

    def state_dict(self) -> dict[str, Any]:
        return {
            "rows": self.rows,
            **{"base": self._base, "late": self._late, "whole": self._whole},
            "trends": self._trends.state_dict(),
            "rates": {name: each.state_dict() for name, each in self.rates.items()},
            "own": {name: each.state_dict() for name, each in self.own.items()},
            "words": {name: each.state_dict() for name, each in self.words.items()},
            "book": self.book.state_dict(),
        }

    def load_state_dict(self, saved: Saved) -> None:
        """Go on as the encoder that gave this state, or raise a ``StateError``."""
        self.rows = saved.whole("rows", 0, 2**62)
        for name in ("base", "late", "whole"):
            rate = np.array(saved.array(name, (self.schema.rates,), "float32"))
            if not ((rate >= 0) & (rate <= 1.001)).all():
                saved.refuse(name, "must be from 0 to 1")
            vars(self)[f"_{name}"] = rate
        self._trends = self._trends.loaded(saved.part("trends"))
        self._left_out = self._leaving_out(self._trends)
        for part, kept in (("rates", self.rates), ("own", self.own), ("words", self.words)):
            found = saved.part(part)
            if set(found) != set(kept):
                saved.refuse(part, "must be of the columns of the schema")
            for name, each in kept.items():
                each.load_state_dict(found.part(name))
        self.book.load_state_dict(saved.part("book"))


@dataclass(frozen=True, eq=False)
class TableRows:
    """Rows of a table that were read already, the encoder to begin with, and what it has made of them, if it has.

    A single row needs nothing but what was made of it.
    """

    rows: Parsed | None
    encoder: RowEncoder
    made: EncodedRows | None = None

    def __len__(self) -> int:
        return len(self.rows) if self.rows is not None else len(self.made or ())

    def taken(self, encoder: RowEncoder, index: Ints) -> EncodedRows:
        """Some of the rows, as they were encoded, or by what this encoder knows."""
        if self.made is not None:
            return self.made.take(index)
        assert self.rows is not None
        return encoder.encoded(self.rows.take(index))


@dataclass(frozen=True)
class FeatureNames(Sequence[str]):
    """The names of all features, each made when it is asked for."""

    encoder: RowEncoder

    def __len__(self) -> int:
        return self.encoder.schema.n_features

    def __getitem__(self, feature: Any) -> Any:
        return self.encoder.name(feature)


#: One column of a record into a row.
_Step = Callable[[Mapping[Any, Any], "_Row"], None]


class _Row:
    """A row in the making."""

    def __init__(self, out: list[float]) -> None:
        self.out, self.lost = out, 0
        self.numbers: dict[int, float] = {}
        self.keys: dict[str, list[int]] = {}
        self.names: dict[str, list[str | None]] = {}
        self.words: dict[str, list[Words | None]] = {}

    def miss(self, at: int | None) -> None:
        """A value is missing, which a feature says, or else the count of all."""
        if at is None:
            self.lost += 1
        else:
            self.out[at] = 1.0

    def rate(self, rates: NameRates, name: str, key: int, at: int) -> None:
        self.keys[name] = [key]
        self.out[at : at + rates.width] = rates.feature(key)


def _code_key(value: float) -> int:
    return int(np.float64(value + 0.0).view(np.int64))


def _name(value: Any) -> str | None:
    """``name_of``, where it is a text at once."""
    if type(value) is str:
        text = value.strip()
        return None if text in MISSING else text
    return name_of(value)


def turns(days: NDArray[np.float64], there: NDArray[np.bool_] | None) -> NDArray[np.float64]:
    """Where days since 1970 stand in the year, the week and the day, as sine and cosine; zeros where there is none.

    >>> turns(np.array([0.25]), None).round(2)
    array([[0.  , 1.  , 0.22, 0.97, 1.  , 0.  ]])
    """
    angles = 2 * np.pi * np.stack([(days % turn) / turn for turn in (YEAR_DAYS, WEEK_DAYS, 1.0)], axis=1)
    found = np.stack([np.sin(angles), np.cos(angles)], axis=2).reshape(len(days), 2 * angles.shape[1])
    return found if there is None else found * there[:, None]


def turns_of(day: float) -> list[float]:
    """The same of one day.

    >>> [round(turn, 2) for turn in turns_of(0.25)]
    [0.0, 1.0, 0.22, 0.97, 1.0, 0.0]
    """
    angles = [2 * pi * ((day % turn) / turn) for turn in (YEAR_DAYS, WEEK_DAYS, 1.0)]
    return [part for angle in angles for part in (sin(angle), cos(angle))]


def _id_given(value: Any) -> Any:
    """The id of a row, the empty text if it has none; a text is an id also where it says "NA"."""
    return value if isinstance(value, str) or not (is_missing(value) or plain(value) is None) else ""
