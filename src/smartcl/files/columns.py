"""What the columns of a table are and which features they become: declared once, readable, and a user's to change."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from smartcl.files.hashed_width import MOST_WIDTH
from smartcl.files.records import MOST_COLUMNS, Wanted
from smartcl.files.written import READERS, ReadValue
from smartcl.persistence import path_of
from smartcl.saved import Saved, StateError

#: The kinds of columns. ``indexed`` is a row of LIBSVM's format: features by number.
NUMBER, TRUTH, DATE, CATEGORY, TEXT, INDEXED, IGNORED = KINDS = (
    *("number", "truth", "date", "category", "text", "indexed", "ignored"),
)
#: The kinds that are read as numbers.
AS_NUMBERS = tuple(READERS)

#: What a date becomes: the years since the mean of the first rows, and its place in the year, the week and the day.
DATE_PARTS = ("years", "year sin", "year cos", "week sin", "week cos", "hour sin", "hour cos")

MOST_SLOTS = 1 << 16


@dataclass(frozen=True)
class Column:
    """One column. ``fill``, the mean of the first rows (of a date in days since 1970), stands where a value is missing,
    and ``missing`` adds a feature that says so.

    A category of a dense table has ``slots``: each name takes the next free one, and what comes when all are taken
    shares the last. ``why`` is the reason for which a column is ignored. ``style`` is an example of how its numbers or
    dates are written, where they are not plain numbers or ISO's dates.
    """

    name: str
    kind: str
    missing: bool = False
    fill: float = 0.0
    slots: int = 0
    why: str = ""
    style: str = ""

    @property
    def reader(self) -> ReadValue:
        """What makes a number of a value."""
        return READERS[self.kind][self.style]

    def features(self, sparse: bool) -> list[str]:
        """The names of the features of its own; what is hashed has none.

        >>> Column("age", "number", missing=True, fill=40.0).features(sparse=False)
        ['age', 'age is missing']
        """
        own = {NUMBER: [self.name], TRUTH: [self.name], DATE: [f"{self.name} {part}" for part in DATE_PARTS]}
        names = own.get(self.kind, [])
        if self.kind == CATEGORY and not sparse:
            names = [*(f"{self.name} #{slot}" for slot in range(self.slots)), f"{self.name} is another"]
        return [*names, f"{self.name} is missing"] if self.missing else names

    def as_dict(self) -> dict[str, Any]:
        """What is not as usual, for people to read."""
        usual = asdict(Column(self.name, self.kind))
        return {key: value for key, value in asdict(self).items() if key in ("name", "kind") or value != usual[key]}

    @classmethod
    def from_state(cls, saved: Saved) -> Column:
        """A column as it was written, or a ``StateError``."""
        usual = asdict(cls("", NUMBER))
        stranger = next((name for name in saved if name not in usual), None)
        if stranger is not None:
            raise StateError(saved.where, f"may have {', '.join(usual)}, has {stranger!r}")
        checked = Saved({**usual, **{name: saved.value(name) for name in saved}}, saved.where)
        kind = checked.choice("kind", *KINDS)
        return cls(
            checked.text("name"),
            kind,
            checked.flag("missing"),
            checked.number("fill", -3.4e38, 3.4e38),
            checked.whole("slots", 0, MOST_SLOTS),
            checked.text("why"),
            checked.choice("style", *READERS.get(kind, {"": None})),
        )


@dataclass(frozen=True)
class ColumnSchema:
    """All columns of a stream, in order. A sparse one hashes categories and words into ``width`` features.

    >>> schema = ColumnSchema("spam", (Column("length", "number"), Column("body", "text")), sparse=True, width=1024)
    >>> schema.n_features, schema.feature_names
    (1025, ['length'])
    """

    label: str
    columns: tuple[Column, ...]
    sparse: bool
    width: int = 0
    id: str | None = None

    def __post_init__(self) -> None:
        names = [self.label, *(column.name for column in self.columns)]
        twice = next((name for name in names if names.count(name) > 1), None) if len(set(names)) < len(names) else None
        if twice is not None:
            raise ValueError(f"there is more than one column {twice!r}")
        if not self.used:
            raise ValueError(f"there is no column to learn from beside the label {self.label!r}")

    @cached_property
    def used(self) -> tuple[Column, ...]:
        return tuple(column for column in self.columns if column.kind != IGNORED)

    @cached_property
    def feature_names(self) -> list[str]:
        """Of the features before the hashed ones."""
        return [name for column in self.used for name in column.features(self.sparse)]

    @property
    def n_features(self) -> int:
        return len(self.feature_names) + (self.width if self.sparse else 0)

    def of_kind(self, *kinds: str) -> tuple[Column, ...]:
        return tuple(column for column in self.columns if column.kind in kinds)

    @property
    def wanted(self) -> Wanted:
        """What a reader has to read; ignored columns are known, not strange."""
        columns = {column.name: column.kind == NUMBER and not column.style for column in self.columns}
        return {**columns, self.label: False, **({self.id: False} if self.id is not None else {})}

    def as_dict(self) -> dict[str, Any]:
        return {
            "label": self.label,
            "id": self.id,
            "sparse": self.sparse,
            "width": self.width,
            "columns": [column.as_dict() for column in self.columns],
        }

    def as_text(self) -> str:
        """JSON, one column a line."""
        head = {name: value for name, value in self.as_dict().items() if name != "columns"}
        lines = ",\n  ".join(json.dumps(column.as_dict(), ensure_ascii=False) for column in self.columns)
        return json.dumps(head, ensure_ascii=False)[:-1] + f', "columns": [\n  {lines}\n]}}\n'

    @classmethod
    def from_state(cls, saved: Saved) -> ColumnSchema:
        """A schema as it was written, or a ``ValueError`` that says what is wrong with it."""
        columns = saved.parts("columns")
        if len(columns) > MOST_COLUMNS:
            saved.refuse("columns", f"may be {MOST_COLUMNS:,}, are {len(columns):,}")
        return cls(
            saved.text("label"),
            tuple(map(Column.from_state, columns)),
            saved.flag("sparse"),
            saved.whole("width", 0, MOST_WIDTH),
            saved.text("id") if saved.has("id") else None,
        )


def read_schema(path: str) -> ColumnSchema:
    """A schema from a file that ``as_text`` made and somebody may have changed."""
    file = path_of(path, "schema")
    try:
        return ColumnSchema.from_state(Saved(json.loads(file.read_text(encoding="utf-8")), "schema"))
    except (ValueError, RecursionError) as error:
        told = str(error).removeprefix("the saved state is damaged: ")
        raise ValueError(f"{path} is not a schema of columns: {told}") from None
