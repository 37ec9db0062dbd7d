from __future__ import annotations

from datetime import date
from pathlib import Path

import numpy as np
import pytest

from event_examples import example_days, write_files
from smartcl.events.event_files import ColumnNames, read_event_days

NAMES = ColumnNames("city", "day")
COUNTS = "city,day,keyword,count\n"


def read(folder: Path, counts: str, events: str) -> object:
    (folder / "counts.csv").write_text(counts)
    (folder / "events.csv").write_text(events)
    return read_event_days(folder / "counts.csv", folder / "events.csv", NAMES)


def test_files_of_a_calendar_give_it_back(tmp_path: Path) -> None:
    days = example_days()
    got = read_event_days(*write_files(days, tmp_path), NAMES)
    assert (got.first, got.places, got.keywords) == (days.first, days.places, days.keywords)
    np.testing.assert_array_equal(got.counts.toarray(), days.counts.toarray())
    np.testing.assert_array_equal(got.events, days.events)


def test_duplicates_add_up_and_silent_days_are_days(tmp_path: Path) -> None:
    counts = (
        COUNTS + "B,2014-01-03T05:00,strike,2\nA,2014-01-01,march,1\nB,2014-01-03T21:30,strike, 3\nA,2014-01-01,x,0\n"
    )
    got = read(tmp_path, counts, "day,city,kind\n2014-01-02 09:00,B ,riot\n2014-01-02,B,strike\n")
    assert (got.first, got.last) == (date(2014, 1, 1), date(2014, 1, 3))
    assert (got.places, got.keywords) == (("A", "B"), ("march", "strike", "x"))
    expected = np.zeros((3, 2, 3))
    expected[0, 0, 0], expected[2, 1, 1] = 1, 5
    np.testing.assert_array_equal(got.counts.toarray(), expected.reshape(6, 3))
    assert np.argwhere(got.events).tolist() == [[1, 1]]


GOOD = COUNTS + "A,2014-01-01,x,1\nB,2014-01-03,x,1\n"
MISTAKES = {
    "count": (COUNTS + "A,2014-01-01,x,1\nA,2014-01-02,x,-1\n", "record 2, column 'count': expected a count"),
    "date": (COUNTS + "A,01.02.2014,x,1\n", "record 1, column 'day': expected an ISO date"),
    "place": (COUNTS + ",2014-01-01,x,1\n", "record 1, column 'city': expected a name"),
    "keyword": (COUNTS + "A,2014-01-01,,1\n", "record 1, column 'keyword': expected a name"),
    "column": ("town,day,keyword,count\nA,2014-01-01,x,1\n", "no column 'city'"),
    "typing error": (
        COUNTS + "A,2014-01-01,x,1\nA,2014-01-02,x,1\nA,2078-01-01,x,1\n",
        "record 3, column 'day': 2078-01-01 is mistyped, .*: 23,374 days without counts lie between it and 2014-01-02",
    ),
    "two typing errors": (
        COUNTS + "A,0214-01-01,x,1\nA,2014-01-01,x,1\nA,2014-01-01,y,1\nA,2017-01-01,x,1\n",
        "record 1, column 'day': 0214-01-01 is mistyped",
    ),
    "century": (
        COUNTS + "".join(f"A,{year}-01-01,x,1\n" for year in range(1900, 2002)),
        "from 1900-01-01 to 2001-01-01, more than 100 years",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_in_counts_are_named(mistake: str, tmp_path: Path) -> None:
    text, message = MISTAKES[mistake]
    with pytest.raises(ValueError, match=message):
        read(tmp_path, text, "city,day\nA,2014-01-01\n")


@pytest.mark.parametrize(
    ("events", "message"),
    [
        ("city,day\nC,2014-01-02\n", "no event is at a place with counts; events are at 'C', counts at 'A', 'B'"),
        ("city,day\nA,2015-01-02\n", "no event falls on a day with counts, 2014-01-01 to 2014-01-03"),
        ("city,day\n", "events.csv has no rows"),
        ("city,day\nA,soon\n", "events.csv, record 1, column 'day'"),
    ],
)
def test_mistakes_in_events_are_named(events: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        read(tmp_path, GOOD, events)


def test_events_that_cannot_be_used_are_told(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="left out") as told:
        got = read(tmp_path, GOOD, "city,day\nA,2014-01-02\nC,2014-01-02\nA,2014-01-04\nB,2013-12-31\n")
    assert [str(warning.message).partition("events.csv: ")[2] for warning in told] == [
        "1 of 4 events are left out: at places without counts ('C')",
        "2 of 4 events are left out: outside the days with counts, 2014-01-01 to 2014-01-03",
    ]
    assert np.argwhere(got.events).tolist() == [[1, 0]]


def test_columns_must_differ() -> None:
    with pytest.raises(ValueError, match="must be four columns, but 'day' is named 2 times"):
        ColumnNames("day", "day")
