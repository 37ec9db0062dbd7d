"""Recognition of columns: the kind of each, and why, from the first rows of a stream."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smartcl.columns.column_schema import (
    ANY,
    AS_NUMBERS,
    CATEGORY,
    CLOCK,
    CODE,
    DATE,
    IGNORED,
    INDEXED,
    INDEXED_FEATURES,
    INDEXED_LABEL,
    KINDS,
    NUMBER,
    RISES,
    TEXT,
    TRUTH,
    WATCHED,
    Column,
    ColumnSchema,
)
from smartcl.columns.hashed_width import USUAL_WIDTH
from smartcl.columns.nested import plain
from smartcl.columns.records import Records
from smartcl.columns.trends import Trends
from smartcl.columns.values import UNREADABLE, clock_of, is_missing, name_of, number_of, numbers_of
from smartcl.columns.written import READERS, SLIPS, ReadValue, best_style
from smartcl.settings import shown

#: Rows by which the columns are recognised.
FIRST_ROWS = 1000
#: Characters of the names of columns in an error, which is to be a line that is read.
MOST_LISTED = 200
#: Names of this number of words on average are a text,
WORDS = 3.0
#: unless there are at most this number of names, each in this number of rows: a category of long names.
LONG_NAMES, REPEATED = 64, 4.0
#: A column that is called an id, with a different value in each of this number of rows, names the row.
ROWS_OF_NAMES = 20
#: What a column is called that numbers the rows; one whose name ends in ``_id`` is looked at too.
NUMBER_NAMES = ("", "id", "index", "row", "rownames", "__index_level_0__", "nr", "no", "unnamed: 0", "column 1")
#: A column that goes up by one in each of this number of rows, or has another name in each, names them.
ROWS_COUNTED = 200
#: A category with no more names than this has a column for each, and for each that comes later one of the free ones.
OWN_NAMES, LEAST_FREE = 20, 8
#: Whole numbers of at most this number of values, each in this number of rows, may be names: both are kept.
FEW_VALUES, ROWS_A_VALUE = 32, 8.0
#: Numbers of more values are names if for each value this number is skipped, and each comes in as many rows.
GAPS = 4.0
#: The different minutes that a clock shows at least, if it is not called one.
MINUTES = 12
#: Numbers of more different values than this, in fewer rows each, measure something: they are no classes.
MOST_CLASSES, ROWS_A_CLASS = 50, 20.0

CODE_NAME = re.compile(
    r"(^|[_ .-])(id|code|zip|zipcode|postcode|plz|type|group|flight|route|line|store|shop|item|product|sku|user|"
    r"customer|client|account|region|state|country|county|district|station|gate|terminal|port|channel|segment|"
    r"category|class|num|number|nr|no)$",
    re.IGNORECASE,
)
CLOCK_NAME = re.compile(r"time|clock|hour|uhr|hhmm|depart|arriv|(^|_)(dep|arr|at)($|_)", re.IGNORECASE)


@dataclass(frozen=True)
class Told:
    """What a user says about the columns, by name; a label that is told to be a category has classes for sure."""

    label: str | None = None
    id: str | None = None
    kinds: Mapping[str, str] = field(default_factory=dict)
    width: int = USUAL_WIDTH
    #: How many classes there are, where labels come beside the rows: the label is then called ``""``.
    classes: int = 0


def recognised(records: Records, told: Told) -> ColumnSchema:
    """The schema of a stream that begins with these rows."""
    label = told.label
    if INDEXED_FEATURES in records.columns and set(records.columns) <= {INDEXED_LABEL, INDEXED_FEATURES}:
        column = Column(INDEXED_FEATURES, INDEXED, why="features by number, as LIBSVM writes them")
        return ColumnSchema(INDEXED_LABEL, (column,), width=told.width)
    if label is None:
        raise ValueError(f"name the column of the label: there are {listed(records.columns)}")
    for what, name in (("label", label), ("id", told.id), *(("column", name) for name in told.kinds)):
        if name and name not in records.columns:
            raise ValueError(f"there is no {what} {shown(name)} among the columns: {listed(records.columns)}")
    given = records.columns[label] if label else ()
    labels = [name_of(value) for value in given if not is_missing(value)]
    if told.kinds.get(label) != CATEGORY:
        check_classes(label, labels)
    beside = [name for name in (label, told.id) if name]
    features = {name: list(values) for name, values in records.columns.items() if name not in beside}
    alone = len(features) == 1
    columns = tuple(_column(name, values, told.kinds.get(name), alone) for name, values in features.items())
    width = told.width if any(column.kind == TEXT for column in columns) else 0
    return ColumnSchema(label, columns, width, told.id, max(2, told.classes, len(set(labels))))


def _column(name: str, values: Sequence[Any], kind: str | None, alone: bool) -> Column:
    there = [value for value in values if not is_missing(value)]
    missing = len(there) < len(values)
    why, asked = "as asked", kind is not None
    if kind is None:
        kind, why = _kind(name, there, alone)
        if kind == IGNORED:
            return Column(name, kind, why=why)
        if len({name_of(value) for value in there}) == 1 and len(there) >= ROWS_OF_NAMES:
            why = f"{why}; always {name_of(there[0])!r} so far"
    elif kind not in KINDS:
        raise ValueError(f"the kind of a column must be one of {', '.join(KINDS)}, got {kind!r}")
    if kind in AS_NUMBERS:
        style, _ = best_style(kind, there)
        numbers = numbers_of(there, READERS[kind][style])
        fine = numbers[np.isfinite(numbers)]
        scale = 86400.0 if kind == DATE else 1.0
        fill = float(np.float32(fine.mean() / scale)) if len(fine) else 0.0
        trend = ANY if asked or kind in (CLOCK, TRUTH) else _trend(values, READERS[kind][style], scale)
        return Column(name, kind, missing, fill, why=why, style=style, trend=trend)
    if kind == CATEGORY:
        names = len({name_of(value) for value in there})
        slots = names + max(LEAST_FREE, names) if names <= OWN_NAMES else 0
        return Column(name, kind, missing, slots=slots, why=why)
    return Column(name, kind, missing and kind == TEXT, why=why)


def _trend(values: Sequence[Any], read: ReadValue, scale: float) -> str:
    """Whether these numbers, in the order of the rows, only rise or only fall."""
    numbers = numbers_of(values, read) / scale
    gone = Trends.none(1).after(np.where(np.isfinite(numbers), numbers, np.nan)[:, None])
    return RISES if gone.sure and gone.clocks[0] else WATCHED


def _kind(name: str, there: Sequence[Any], alone: bool) -> tuple[str, str]:
    """The kind of a column with these values, and why; alone, it is all there is to learn."""
    if not there:
        return IGNORED, "no value in the first rows"
    if any(plain(value) is None for value in there):
        return IGNORED, "lists and bytes are not read"
    if all(isinstance(value, bool | np.bool_) for value in there):
        return TRUTH, "true or false"
    if _share_unread(there, number_of) > SLIPS and _share_unread(there, clock_of) <= SLIPS:
        return CLOCK, "times of the day"
    for kind, why in ((NUMBER, ""), (TRUTH, "true or false"), (DATE, "dates")):
        style, unread = best_style(kind, there)
        if unread > SLIPS:
            continue
        if kind != NUMBER:
            return kind, f"{why}, written as {style}" if style else why
        if _called_number(name, there) or (_goes_up_by_one(there) and not alone):
            return IGNORED, "it numbers the rows"
        return _kind_of_number(name, numbers_of(there, READERS[NUMBER][style]), style)
    return _kind_of_name(name, [name_of(value) or "" for value in there])


def _kind_of_number(name: str, numbers: NDArray[np.float64], style: str) -> tuple[str, str]:
    """Whether numbers are times of the day, names or just numbers, and why."""
    written = f"numbers, written as {style}" if style else "numbers"
    fine = numbers[np.isfinite(numbers)]
    values = np.unique(fine)
    if not len(fine) or (fine % 1 != 0).any() or len(values) < 3:
        return NUMBER, written
    if _is_clock(name, values):
        return CLOCK, f"whole numbers to {int(values[-1])} whose last two digits stay below 60: 1730 is half past five"
    each = len(fine) / len(values)
    if len(values) <= FEW_VALUES and each >= ROWS_A_VALUE:
        return CODE, f"{len(values)} whole numbers: each is also a name"
    if each > 1 and CODE_NAME.search(name):
        return CODE, f"whole numbers that come again, called {name!r}"
    if each >= ROWS_A_VALUE and values[-1] - values[0] + 1 >= GAPS * len(values):
        return CODE, f"{len(values)} whole numbers with gaps between them come again"
    return NUMBER, written


def _is_clock(name: str, values: NDArray[np.float64]) -> bool:
    minutes = values % 100
    if values[0] < 0 or values[-1] > 2400 or values[-1] < 100 or minutes.max() >= 60 or not minutes.any():
        return False
    many = len(np.unique(minutes)) >= MINUTES and len(values) >= 4 * MINUTES
    return many or CLOCK_NAME.search(name) is not None


def _kind_of_name(column: str, names: Sequence[str]) -> tuple[str, str]:
    """Whether these are texts, categories or names of the rows, and why."""
    different = len(set(names))
    words = sum(len(name.split()) for name in names) / len(names)
    if words >= WORDS and not (different <= LONG_NAMES and len(names) >= REPEATED * different):
        return TEXT, f"{words:.0f} words a row"
    enough = ROWS_OF_NAMES if _called(column) else ROWS_COUNTED
    if len(names) >= enough and different == len(names):
        return IGNORED, "every row has another name"
    return CATEGORY, "1 name" if different == 1 else f"{different:,} names"


def _share_unread(there: Sequence[Any], read: Any) -> float:
    return float(np.mean(numbers_of(there[:ROWS_COUNTED], read) == UNREADABLE))


def _called(name: str) -> bool:
    """Whether a column of this name may well name its rows."""
    return name.lower() in NUMBER_NAMES or name.lower().endswith("_id")


def _called_number(name: str, there: Sequence[Any]) -> bool:
    """Whether this is called a running number, and never twice the same."""
    return _called(name) and len(there) >= ROWS_OF_NAMES and len({name_of(value) for value in there}) == len(there)


def _goes_up_by_one(there: Sequence[Any]) -> bool:
    """Whether many rows, and all of them, are numbered one after the other."""
    if len(there) < ROWS_COUNTED:
        return False
    numbers = numbers_of(there, READERS[NUMBER][best_style(NUMBER, there)[0]])
    return bool(np.isfinite(numbers).all() and (np.diff(numbers) == 1).all())


def check_classes(label: str, names: Sequence[str | None]) -> None:
    """Refuse a label that measures something: its values are no classes."""
    numbers = numbers_of([name for name in names if name is not None])
    different = len(set(names))
    if len(names) < ROWS_OF_NAMES or not np.isfinite(numbers).all():
        return
    fractions = different > len(names) / 2 and (numbers % 1 > 0).sum() > len(names) / 2
    if fractions or (different > MOST_CLASSES and len(names) < ROWS_A_CLASS * different):
        middle, name = f"{np.median(numbers):g}", shown(label)
        raise ValueError(
            f"the label {name} measures something: {different:,} different numbers in {len(names):,} rows, and what "
            f"can be learned is a class. Make a column of classes first, such as whether {name} is above {middle}; "
            f"or, if its numbers are names, say --categorical {name} (in Python columns={{{name}: 'category'}})"
        )


def commonest(values: Sequence[Any], count: int = 3) -> list[str]:
    """The names that come most often, for people."""
    names = Counter(name for value in values if (name := name_of(value)) is not None)
    return [name for name, _ in names.most_common(count)]


def listed(names: Iterable[str]) -> str:
    """Names for a line of text, as many as ``MOST_LISTED`` characters hold.

    >>> listed(["size", "x" * 1000]), listed(map(str, range(1000)))[-15:]
    ("'size', 'xxxxxxxxxxxxxxxxxxxxxxxxxxx...xxxxxxxxxxxxxxxxxxxxxxxxxxxx'", "'33', '34', ...")
    """
    text, every = "", list(names)
    for place, name in enumerate(every):
        more = f"{', ' if place else ''}{shown(name)}"
        if len(text) + len(more) > MOST_LISTED:
            return f"{text}, ..."
        text += more
    return text
