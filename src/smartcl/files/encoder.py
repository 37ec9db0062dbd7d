"""From records to features, in one pass: first what needs no memory of what came before, then what does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse

from smartcl.data.batch import Ints, Rows
from smartcl.files.columns import AS_NUMBERS, CATEGORY, DATE, DATE_PARTS, INDEXED, TEXT, TRUTH, Column, ColumnSchema
from smartcl.files.hashing import NameBook, counted, words_of
from smartcl.files.json_records import plain
from smartcl.files.recognise import listed
from smartcl.files.records import Records
from smartcl.files.values import UNREADABLE, is_missing, name_of, numbers_of
from smartcl.saved import Saved

DAY_SECONDS = 86400.0
#: Turns a year, a week and a day take, in days; the first of January 1970 was a Thursday.
YEAR_DAYS, WEEK_DAYS = 365.2425, 7.0


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


class Encoder:
    """Rows as a schema says, always the same features.

    It remembers the slot of each category of a dense table, and the first name of each hashed feature.
    """

    def __init__(self, schema: ColumnSchema) -> None:
        self.schema = schema
        self._numeric = schema.of_kind(*AS_NUMBERS)
        self._named = schema.of_kind(CATEGORY, TEXT, INDEXED)
        self.slots: dict[str, dict[str, int]] = {column.name: {} for column in self._named if not schema.sparse}
        self.book = NameBook(len(schema.feature_names), max(1, schema.width))
        widths = [len(column.features(schema.sparse)) for column in schema.used]
        ends = np.cumsum([0, *widths]).tolist()
        #: Where each column's features begin, and where the value and the word "missing" of each number stands.
        self._first = {column.name: first for column, first in zip(schema.used, ends, strict=False)}
        self._value_at = np.array([self._first[column.name] for column in self._numeric], dtype=np.int64)
        self._says_missing = np.flatnonzero([column.missing for column in self._numeric])
        last = {column.name: end - 1 for column, end in zip(schema.used, ends[1:], strict=True)}
        self._missing_at = np.array([last[self._numeric[place].name] for place in self._says_missing], dtype=np.int64)
        self._units = np.array([DAY_SECONDS if column.kind == DATE else 1.0 for column in self._numeric])
        self._fill = np.array([column.fill for column in self._numeric])
        # a sparse row is scaled but never centred: what is usual has to be zero in it
        centred = [column.kind == DATE or (schema.sparse and column.kind != TRUTH) for column in self._numeric]
        self._origin = np.where(centred, self._fill, 0.0) if centred else self._fill
        self._scale = np.array([YEAR_DAYS if column.kind == DATE else 1.0 for column in self._numeric])
        self._places = {column.name: place for place, column in enumerate(self._numeric)}
        self._dates = [(place, self._first[c.name]) for place, c in enumerate(self._numeric) if c.kind == DATE]

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
        labels = columns.get(self.schema.label, absent)
        ids = None if self.schema.id is None else list(map(_id_given, columns.get(self.schema.id, absent)))
        return Parsed(
            numbers,
            {column.name: list(columns.get(column.name, absent)) for column in self._named},
            [name_of(label) for label in labels],
            ids,
        )

    def encode(self, rows: Parsed, odd: Odd) -> Rows:
        """The features of the rows, dense or sparse as the schema says; what was odd about them is counted."""
        own = self._own_features(rows, odd)
        if not self.schema.sparse:
            return torch.from_numpy(own)
        return self._with_hashed(own, rows, odd)

    def name(self, feature: int) -> str:
        """What a feature is called."""
        own = self.schema.feature_names
        if feature >= len(own):
            return self.book.name(feature) or f"feature {feature}"
        return self._slot_names.get(feature, own[feature])

    @property
    def features_of_columns(self) -> dict[str, Ints]:
        """Which features each column has of its own, for those that have any; hashed features belong to no column."""
        widths = {column.name: len(column.features(self.schema.sparse)) for column in self.schema.used}
        return {name: np.arange(self._first[name], self._first[name] + n) for name, n in widths.items() if n}

    @property
    def _slot_names(self) -> dict[int, str]:
        """The categories that own features stand for, by feature."""
        return {
            self._first[column] + slot: f"{column}: {name}"
            for column, slots in self.slots.items()
            for name, slot in slots.items()
        }

    def _own_features(self, rows: Parsed, odd: Odd) -> NDArray[np.float32]:
        features = np.zeros((len(rows), len(self.schema.feature_names)), dtype=np.float32)
        numbers, lost = self._filled(rows.numbers, odd)
        features[:, self._value_at] = (numbers - self._origin) / self._scale
        if lost is not None:
            features[:, self._missing_at] = lost[:, self._says_missing]
        for place, first in self._dates:
            there = None if lost is None else ~lost[:, place]
            features[:, first + 1 : first + len(DATE_PARTS)] = turns(numbers[:, place], there)
        for column in self._named:
            if column.kind == CATEGORY:
                first = self._first[column.name]
                width = len(column.features(self.schema.sparse))
                self._categories_into(features[:, first : first + width], column, rows.names[column.name], odd)
        return features

    def _filled(self, numbers: NDArray[np.float64], odd: Odd) -> tuple[NDArray[np.float64], NDArray[np.bool_] | None]:
        """Numbers in the units of their features, with what is missing filled in, and where that was, if anywhere."""
        numbers = numbers / self._units
        lost = ~np.isfinite(numbers)
        if not lost.any():
            return numbers, None
        unreadable = (numbers == UNREADABLE).sum(axis=0)
        for place in np.flatnonzero(lost.any(axis=0)).tolist():
            name = self._numeric[place].name
            odd.note(odd.unreadable, name, int(unreadable[place]))
            odd.note(odd.missing, name, int(lost[:, place].sum() - unreadable[place]))
        return np.where(lost, self._fill, numbers), lost

    def _categories_into(self, block: NDArray[np.float32], column: Column, values: Sequence[Any], odd: Odd) -> None:
        if self.schema.sparse:
            missing = [row for row, value in enumerate(values) if name_of(value) is None]
            odd.note(odd.missing, column.name, len(missing))
            if column.missing:
                block[missing, -1] = 1.0
            return
        slots = self.slots[column.name]
        for row, value in enumerate(values):
            name = name_of(value)
            if name is None:
                odd.note(odd.missing, column.name, 1)
                if column.missing:
                    block[row, -1] = 1.0
                continue
            if name not in slots:
                if len(slots) < column.slots:
                    slots[name] = len(slots)
                else:
                    odd.note(odd.unseen, column.name, 1)
            block[row, slots.get(name, column.slots)] = 1.0

    def _with_hashed(self, own: NDArray[np.float32], rows: Parsed, odd: Odd) -> Rows:
        indices: list[int] = []
        values: list[float] = []
        ends = [0]
        texts, named = self.schema.of_kind(TEXT), self.schema.of_kind(CATEGORY)
        indexed = self.schema.of_kind(INDEXED)
        for row in range(len(rows)):
            there = np.flatnonzero(own[row])
            indices += there.tolist()
            values += own[row, there].tolist()
            for column in named:
                name = name_of(rows.names[column.name][row])
                if name is not None:
                    indices.append(self.book.feature(f"{column.name}: {name}"))
                    values.append(1.0)
            for column in texts:
                text = name_of(rows.names[column.name][row])
                if text is None:
                    odd.note(odd.missing, column.name, 1)
                    continue
                features, counts = counted(self.book.feature(f"{column.name}: {word}") for word in words_of(text))
                indices += features
                values += counts
            for column in indexed:
                numbers, amounts = rows.names[column.name][row] or ([], [])
                indices += map(self.book.numbered, numbers)
                values += amounts
            ends.append(len(indices))
        data = (np.array(values, dtype=np.float32), np.array(indices, dtype=np.int64), np.array(ends))
        found: Rows = sparse.csr_array(data, shape=(len(rows), self.schema.n_features))
        found.sum_duplicates()  # type: ignore[union-attr]
        return found

    def first_feature(self, column: str) -> int:
        """Where a column's own features begin: the value of a number, the first slot of a category."""
        return int(self._first[column])

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
        return {"slots": {name: list(slots) for name, slots in self.slots.items()}, "book": self.book.state_dict()}

    def load_state_dict(self, saved: Saved) -> None:
        """Go on as the encoder that gave this state, or raise a ``StateError``."""
        slots = saved.part("slots")
        if set(slots) != set(self.slots):
            saved.refuse("slots", "must be those of the columns with categories")
        for column in self._named:
            if column.name in self.slots:
                names = slots.items(column.name)
                fitting = len(names) <= column.slots and all(isinstance(name, str) for name in names)
                if not fitting or len(set(names)) < len(names):
                    slots.refuse(column.name, f"must be up to {column.slots} different names")
                self.slots[column.name] = {name: slot for slot, name in enumerate(names)}
        self.book.load_state_dict(saved.part("book"))


def turns(days: NDArray[np.float64], there: NDArray[np.bool_] | None) -> NDArray[np.float64]:
    """Where days since 1970 stand in the year, the week and the day, as sine and cosine; zeros where there is none.

    >>> turns(np.array([0.25]), None).round(2)
    array([[0.  , 1.  , 0.22, 0.97, 1.  , 0.  ]])
    """
    angles = 2 * np.pi * np.stack([(days % turn) / turn for turn in (YEAR_DAYS, WEEK_DAYS, 1.0)], axis=1)
    found = np.stack([np.sin(angles), np.cos(angles)], axis=2).reshape(len(days), -1)
    return found if there is None else found * there[:, None]


def _id_given(value: Any) -> Any:
    """The id of a row, the empty text if it has none; a text is an id also where it says "NA"."""
    return value if isinstance(value, str) or not (is_missing(value) or plain(value) is None) else ""
