"""What columns are taken for, and why; which labels are refused, and which columns are warned of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from smartcl.columns.determines import leaks
from smartcl.columns.recognise import Told, recognised
from smartcl.columns.records import Records

RNG = np.random.default_rng(0)


def column(name: str, values: list[Any], **kinds: str) -> Any:
    records = Records.of(
        {name: values, "other": RNG.normal(size=len(values)).tolist(), "y": ["p", "q"] * (len(values) // 2)}
    )
    return recognised(records, Told("y", kinds=kinds)).columns[0]


TIMES = [
    int(hour) * 100 + int(minute)
    for hour, minute in zip(RNG.integers(5, 24, 400), RNG.integers(0, 60, 400), strict=True)
]


@pytest.mark.parametrize(
    ("name", "values", "kind"),
    [
        ("sched_dep_time", TIMES, "clock"),
        ("x", TIMES, "clock"),
        ("x", [f"{time // 100:02}:{time % 100:02}" for time in TIMES], "clock"),
        ("price", [value + 70 for value in TIMES], "number"),
        ("price", RNG.choice([100, 250, 1250, 900], 400).tolist(), "code"),
        ("RAC1P", RNG.integers(1, 10, 400).tolist(), "code"),
        ("flight", RNG.integers(1, 4000, 1000).tolist(), "code"),
        ("zipcode", RNG.choice([10115, 80331, 20095, 50667], 400).tolist(), "code"),
        ("zipcode", RNG.choice(RNG.integers(10_000, 99_999, 90), 1000).tolist(), "code"),
        ("age", RNG.integers(18, 90, 400).tolist(), "number"),
        ("share", RNG.random(400).round(2).tolist(), "number"),
        ("flag", RNG.integers(0, 2, 400).tolist(), "number"),
        ("day", [f"2024-01-{day:02}" for day in RNG.integers(1, 29, 400)], "date"),
        ("type", ["Fixed wing multi engine", "Fixed wing single engine"] * 200, "category"),
        ("customer_id", RNG.permutation(400).tolist(), "ignored"),
    ],
)
def test_what_a_column_is_taken_for(name: str, values: list[Any], kind: str) -> None:
    found = column(name, values)
    assert found.kind == kind
    assert found.why


def test_a_constant_is_said_to_be_one() -> None:
    assert "always '2013' so far" in column("year", [2013] * 100).why


def test_every_choice_can_be_overruled_by_the_option_that_the_table_names() -> None:
    records = Records.of({"time": TIMES, "n": RNG.normal(size=400).tolist(), "y": ["p", "q"] * 200})
    taken = recognised(records, Told("y")).taken
    assert [(line["column"], line["taken_for"], line["otherwise"]) for line in taken] == [
        ("time", "clock", "--numeric"),
        ("n", "number", "--code"),
    ]
    for kind in ("number", "code", "category", "text", "ignored"):
        assert column("time", TIMES, time=kind).kind == kind


@pytest.mark.parametrize("as_text", [False, True])
def test_a_label_that_measures_something_is_refused(as_text: bool) -> None:
    delays = [str(value) if as_text else int(value) for value in RNG.normal(0, 60, 1000).round().astype(int)]
    records = Records.of({"a": list(range(1000)), "b": [0.5] * 1000, "delay": delays})
    with pytest.raises(ValueError, match=r"'delay' measures something: \d+ different numbers in 1,000 rows.*whether"):
        recognised(records, Told("delay"))
    assert recognised(records, Told("delay", kinds={"delay": "category"})).label == "delay"


@pytest.mark.parametrize("labels", [RNG.integers(0, 10, 1000).tolist(), [f"k{row}" for row in range(1000)]])
def test_digits_and_names_are_classes(labels: list[Any]) -> None:
    records = Records.of({"a": [0.5, 1.5] * 500, "y": labels})
    assert recognised(records, Told("y")).label == "y"


def test_a_column_that_the_label_was_made_of_is_found_and_a_good_one_is_not() -> None:
    delay = RNG.normal(0, 30, 1000)
    late = ["yes" if minutes > 15 else "no" for minutes in delay]
    good = [minutes + noise for minutes, noise in zip(delay, RNG.normal(0, 20, 1000), strict=True)]
    code = [label.upper() for label in late]
    columns = {"delay": delay.tolist(), "good": good, "code": code, "y": late}
    records = Records.of(columns)
    found = leaks(recognised(records, Told("y")), records, late)
    assert [leak.column for leak in found] == ["delay", "code"]
    assert all(leak.accuracy > 0.99 for leak in found)
    assert "alone tells the label of" in str(found[0])
    assert "--ignore 'delay'" in str(found[0])
