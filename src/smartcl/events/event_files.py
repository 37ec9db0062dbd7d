"""Reader of a file of keyword counts and a file of events, which become a calendar of days."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import astuple, dataclass
from datetime import date
from pathlib import Path

import numpy as np
from scipy import sparse

from smartcl.data.batch import Ints
from smartcl.events.calendar import EventDays
from smartcl.events.counts import count_table
from smartcl.events.event_columns import EventColumn, count_of, day_of, read_columns, text_of

#: A longer calendar, or more days in a row without counts, have a mistyped date in them.
MOST_DAYS = 36_525
MOST_SILENT_DAYS = 366


@dataclass(frozen=True)
class ColumnNames:
    """The columns of the counts: place, date, keyword and count. Events have the first two, under the same names."""

    place: str = "place"
    date: str = "date"
    keyword: str = "keyword"
    count: str = "count"

    def __post_init__(self) -> None:
        for name in astuple(self):
            text_of(name)
        name, times = Counter(astuple(self)).most_common(1)[0]
        if times > 1:
            raise ValueError(
                f"place, date, keyword and count must be four columns, but {name!r} is named {times} times"
            )


def read_event_days(counts: Path, events: Path, names: ColumnNames) -> EventDays:
    """The calendar from the first to the last day with counts, for every place with counts.

    Counts of the same place, day and keyword add up; a place and day without any has no keyword. An event on a day
    outside the calendar, or at a place without counts, is left out with a warning.
    """
    place, when, keyword, count = read_columns(counts, astuple(names))
    places, place_of = _named(place)
    keywords, keyword_of = _named(keyword)
    day_of_row = _day_numbers(when)
    values = np.array(count.parsed(count_of))[count.codes]
    first, last = int(day_of_row.min()), int(day_of_row.max())
    if last - first >= MOST_DAYS:
        raise ValueError(
            f"{when.path}, column {when.name!r}: the days reach from {date.fromordinal(first)} "
            f"to {date.fromordinal(last)}, more than 100 years"
        )
    n_days = last - first + 1
    rows = (day_of_row - first) * len(places) + place_of
    table = sparse.coo_array((values, (rows, keyword_of)), shape=(n_days * len(places), len(keywords)))
    happened = np.zeros((n_days, len(places)), dtype=np.bool_)
    happened[_inside(events, names, places, date.fromordinal(first), date.fromordinal(last))] = True
    return EventDays(date.fromordinal(first), places, keywords, count_table(table), happened)


def _day_numbers(when: EventColumn) -> Ints:
    """The day of each row as a number; refused if they lie too far apart to be of one calendar."""
    day_of_code = np.array([day.toordinal() for day in when.parsed(day_of)])
    day_of_row = day_of_code[when.codes]
    known = np.unique(day_of_code)
    silent = np.diff(known) - 1
    if silent.max(initial=0) > MOST_SILENT_DAYS:
        before, after = known[silent.argmax() :][:2].tolist()
        lonely, other = (before, after) if (day_of_row <= before).mean() < 0.5 else (after, before)
        raise ValueError(
            f"{when.where(int(np.argmax(day_of_code == lonely)))}, column {when.name!r}: "
            f"{date.fromordinal(lonely)} is mistyped, or rows are missing: "
            f"{silent.max():,} days without counts lie between it and {date.fromordinal(other)}"
        )
    return day_of_row


def _inside(path: Path, names: ColumnNames, places: tuple[str, ...], first: date, last: date) -> tuple[Ints, Ints]:
    """The day and the place of each event inside the calendar."""
    place, when = read_columns(path, (names.place, names.date))
    number = {name: i for i, name in enumerate(places)}
    its_place = np.array([number.get(name, -1) for name in place.parsed(text_of)])[place.codes]
    its_day = np.array([(day - first).days for day in when.parsed(day_of)])[when.codes]
    elsewhere = its_place < 0
    outside = ~elsewhere & ((its_day < 0) | (its_day > (last - first).days))
    if elsewhere.all():
        raise ValueError(
            f"{path}, column {names.place!r}: no event is at a place with counts; "
            f"events are at {_some(place.parsed(text_of))}, counts at {_some(places)}"
        )
    inside = ~elsewhere & ~outside
    if not inside.any():
        raise ValueError(f"{path}, column {names.date!r}: no event falls on a day with counts, {first} to {last}")
    for left_out, why in (
        (elsewhere, f"at places without counts ({_some(sorted(set(place.parsed(text_of)) - set(places)))})"),
        (outside, f"outside the days with counts, {first} to {last}"),
    ):
        if left_out.any():
            warnings.warn(f"{path}: {left_out.sum():,} of {len(left_out):,} events are left out: {why}", stacklevel=2)
    return its_day[inside], its_place[inside]


def _named(column: EventColumn) -> tuple[tuple[str, ...], Ints]:
    """The distinct names in order, and each row's position among them."""
    names, position = np.unique(np.array(column.parsed(text_of), dtype=object), return_inverse=True)
    return tuple(names.tolist()), position[column.codes]


def _some(names: tuple[str, ...] | list[str], most: int = 3) -> str:
    shown = ", ".join(repr(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
