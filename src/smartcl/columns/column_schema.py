"""Schema of a table's columns: what they are and which features they become; readable, and a user's to change."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

from smartcl.columns.hashed_width import MOST_WIDTH
from smartcl.columns.records import MOST_COLUMNS, Wanted
from smartcl.columns.word_rates import WordRates
from smartcl.columns.written import READERS, ReadValue
from smartcl.saving.persistence import path_of
from smartcl.saving.saved import Saved, StateError
from smartcl.settings import shown

#: The kinds of columns. A ``clock`` is a time of the day; a ``code`` a number that is also a name; ``indexed`` a row of
#: LIBSVM's format: features by number.
NUMBER, TRUTH, DATE, CLOCK, CODE, CATEGORY, TEXT, INDEXED, IGNORED = KINDS = (
    *("number", "truth", "date", "clock", "code", "category", "text", "indexed", "ignored"),
)
#: The kinds that are read as numbers.
AS_NUMBERS = tuple(READERS)
#: The names of the two columns of LIBSVM's format.
INDEXED_LABEL, INDEXED_FEATURES = "label", "features"

#: What a date becomes: the years since the mean of the first rows, and its place in the year, the week and the day.
DATE_PARTS = ("years", "year sin", "year cos", "week sin", "week cos", "hour sin", "hour cos")

#: What is done about numbers that only rise along the stream, or only fall.
ANY, WATCHED, RISES = TRENDS = ("any", "watched", "rises")

MOST_SLOTS = 1 << 16
#: The most columns of classes that rates are kept in, of names and of words; classes beyond them share.
NAME_RATES, WORD_RATES = 4, 32


@dataclass(frozen=True)
class Column:
    """One column. ``fill``, the mean of the first rows (of a date in days since 1970), stands where a value is missing,
    and ``missing`` adds a feature that says so.

    A category has ``slots`` columns for names of its own, if it has few names. ``why`` is the reason for which it was
    taken for what it is. ``style`` is an example of how its numbers or dates are written, where they are not plain
    numbers or ISO's dates. ``trend`` says whether a number is left out while it only rises along the stream, or only
    falls: never (``any``), as soon as it is seen (``watched``), or from the first row on (``rises``).
    """

    name: str
    kind: str
    missing: bool = False
    fill: float = 0.0
    slots: int = 0
    why: str = ""
    style: str = ""
    trend: str = "any"

    @property
    def reader(self) -> ReadValue:
        """What makes a number of a value."""
        return READERS[self.kind][self.style]

    @property
    def constant(self) -> bool:
        """Whether the first rows had one value only."""
        return "; always " in self.why

    @property
    def rated(self) -> bool:
        """Whether rates of its names are kept."""
        return self.kind in (CODE, CATEGORY)

    def features(self, rates: int, word_rates: int) -> list[str]:
        """The names of its features, each with ``rates`` columns of classes.

        >>> Column("age", "number", missing=True, fill=40.0).features(1, 1)
        ['age', 'age is missing']
        >>> Column("shop", "code").features(1, 1)
        ['shop', 'shop: rate']
        """
        match self.kind:
            case "number" | "truth" | "code":
                names = [self.name]
            case "date":
                names = [f"{self.name} {part}" for part in DATE_PARTS]
            case "clock":
                names = [self.name, f"{self.name} sin", f"{self.name} cos"]
            case "category":
                names = [f"{self.name} #{slot}" for slot in range(self.slots)]
            case "text":
                names = WordRates.feature_names(self.name, word_rates)
            case _:
                names = []
        if self.rated:
            names += numbered(f"{self.name}: rate", rates)
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
            checked.choice("trend", *TRENDS),
        )


#: By kind, the option of ``smartcl train`` that makes a column that; and by the kind that a column was taken for, what
#: it most likely is where that was wrong.
OPTIONS = {
    **{NUMBER: "--numeric", CATEGORY: "--categorical", DATE: "--date", TEXT: "--text", IGNORED: "--ignore"},
    **{CLOCK: "--clock", CODE: "--code"},
}
OTHERWISE = {
    **{NUMBER: CODE, CODE: NUMBER, CLOCK: NUMBER, DATE: CATEGORY, TRUTH: CATEGORY, CATEGORY: TEXT, TEXT: CATEGORY},
    **{IGNORED: CATEGORY, INDEXED: IGNORED},
}
#: What is said of a column that only rises.
LEFT_OUT = {
    **dict.fromkeys((NUMBER, CODE), "; only rises or falls along the stream: left out while it does"),
    DATE: "; only rises along the stream: its hour, weekday and season count once they have come twice",
}


def numbered(name: str, count: int) -> list[str]:
    """
    >>> numbered("rate", 1), numbered("rate", 2)
    (['rate'], ['rate 1', 'rate 2'])
    """
    return [name] if count == 1 else [f"{name} {number + 1}" for number in range(count)]


@dataclass(frozen=True)
class ColumnSchema:
    """All columns of a stream, in order, and for how many classes there is room in the rates of names and words.

    ``label`` is empty where labels come beside the rows.

    Words are hashed into ``width`` places; so are the features of LIBSVM's format, the only one whose rows are sparse.

    >>> schema = ColumnSchema("spam", (Column("length", "number"), Column("sender", "category")))
    >>> schema.feature_names
    ['length', 'sender: rate', 'rate of the last labels', 'values missing']
    """

    label: str
    columns: tuple[Column, ...]
    width: int = 0
    id: str | None = None
    classes: int = 2

    def __post_init__(self) -> None:
        names = [*([self.label] if self.label else []), *(column.name for column in self.columns)]
        twice = next((name for name in names if names.count(name) > 1), None) if len(set(names)) < len(names) else None
        if twice is not None:
            raise ValueError(f"there is more than one column {shown(twice)}")
        if not self.used:
            beside = f" beside the label {shown(self.label)}" if self.label else ""
            raise ValueError(f"there is no column to learn from{beside}")

    @cached_property
    def used(self) -> tuple[Column, ...]:
        return tuple(column for column in self.columns if column.kind != IGNORED)

    @cached_property
    def sparse(self) -> bool:
        """Whether rows are sparse."""
        return any(column.kind == INDEXED for column in self.columns)

    @property
    def rates(self) -> int:
        """How many columns of classes the rates of names have."""
        return max(1, min(self.classes - 1, NAME_RATES))

    @property
    def word_rates(self) -> int:
        """The same of words."""
        return max(1, min(self.classes - 1, WORD_RATES))

    @cached_property
    def feature_names(self) -> list[str]:
        """Of the features before those by number."""
        names = [name for column in self.used for name in column.features(self.rates, self.word_rates)]
        return names if self.sparse else [*names, *numbered("rate of the last labels", self.rates), "values missing"]

    @property
    def n_features(self) -> int:
        return len(self.feature_names) + (self.width if self.sparse else 0)

    def in_any_order(self) -> ColumnSchema:
        """The same for rows whose order says nothing: no number is left out because it only rises."""
        return replace(self, columns=tuple(replace(column, trend=ANY) for column in self.columns))

    def of_kind(self, *kinds: str) -> tuple[Column, ...]:
        return tuple(column for column in self.columns if column.kind in kinds)

    def without_notes(self) -> ColumnSchema:
        """The same without what was noted on why each column is what it is."""
        return replace(self, columns=tuple(replace(column, why="") for column in self.columns))

    @property
    def taken(self) -> list[dict[str, str]]:
        """What each column was taken for, why, and which option of ``smartcl train`` says otherwise."""
        return [
            {
                "column": column.name,
                "taken_for": column.kind,
                "because": column.why
                + (LEFT_OUT[column.kind] if column.trend == RISES and not column.constant else ""),
                "otherwise": OPTIONS[column.kind if column.trend == RISES else OTHERWISE[column.kind]],
            }
            for column in self.columns
        ]

    @property
    def wanted(self) -> Wanted:
        """What a reader has to read; ignored columns are known, not strange."""
        columns = {column.name: column.kind in (NUMBER, CODE) and not column.style for column in self.columns}
        beside = [name for name in (self.label, self.id) if name]
        return {**columns, **dict.fromkeys(beside, False)}

    def as_dict(self) -> dict[str, Any]:
        return {
            "label": self.label,
            "id": self.id,
            "width": self.width,
            "classes": self.classes,
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
            saved.whole("width", 0, MOST_WIDTH),
            saved.text("id") if saved.has("id") else None,
            saved.whole("classes", 1, 1 << 31),
        )


def read_schema(path: str) -> ColumnSchema:
    """A schema from a file that ``as_text`` made and somebody may have changed."""
    file = path_of(path, "schema")
    try:
        return ColumnSchema.from_state(Saved(json.loads(file.read_text(encoding="utf-8")), "schema"))
    except (ValueError, RecursionError) as error:
        told = str(error).removeprefix("the saved state is damaged: ")
        raise ValueError(f"{path} is not a schema of columns: {told}") from None
