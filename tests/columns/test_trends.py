"""Columns that only rise along the stream are clocks: found on the first rows and as the stream goes, and left out."""

from __future__ import annotations

import itertools
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from smartcl.columns.column_schema import ANY, RISES, WATCHED
from smartcl.columns.recognise import Told, recognised
from smartcl.columns.records import Records
from smartcl.columns.row_encoder import RowEncoder
from smartcl.columns.trends import Trends
from smartcl.saving.saved import Saved

ROWS = 3000


def made(rows: int = ROWS) -> dict[str, NDArray[np.float64]]:
    """Columns, and after how many rows each is no clock; -1: it always is."""
    rng = np.random.default_rng(0)
    at = np.arange(rows, dtype=float)
    return {
        "counter": at,
        "fall": -at,
        "nearly in order": at + rng.normal(0, 20, rows),
        "year": np.where(at < 2000, 2023.0, 2024.0),
        "gaps": np.where(rng.random(rows) < 0.3, np.nan, at),
        "day": (at // 100) % 10 + 1,
        "noise": rng.normal(size=rows),
        "skewed": rng.random(rows) < 0.1,
        "walk": np.cumsum(rng.normal(size=rows)),
        "rare": at == 700,
    }


def gone(values: NDArray[Any]) -> Trends:
    return Trends.none(1).after(np.asarray(values, float)[:, None])


@pytest.mark.parametrize("name", ["counter", "fall", "nearly in order", "year", "gaps"])
def test_what_only_rises_or_falls_is_a_clock(name: str) -> None:
    assert gone(made()[name]).clocks[0]


@pytest.mark.parametrize("name", ["noise", "skewed", "walk", "rare"])
def test_what_does_not_is_none(name: str) -> None:
    assert not gone(made()[name]).clocks[0]


def test_a_cycle_is_a_clock_until_it_has_begun_for_the_third_time() -> None:
    """A cycle of 1,000 rows."""
    day = made()["day"]
    assert gone(day[:2000]).clocks[0]
    assert not gone(day[:2100]).clocks[0]


@settings(max_examples=30, deadline=None)
@given(cuts=st.lists(st.integers(1, 180), min_size=1, max_size=12))
def test_it_does_not_matter_how_calls_cut_the_rows(cuts: list[int]) -> None:
    rows = np.stack(list(made(600).values()), axis=1).astype(float)
    at_once, ends = Trends.none(rows.shape[1]).after(rows[: sum(cuts)]), np.minimum(np.cumsum([0, *cuts]), 600)
    in_parts = Trends.none(rows.shape[1])
    for first, end in itertools.pairwise(ends):
        in_parts = in_parts.after(rows[first:end])
    again = Trends.none(rows.shape[1]).loaded(Saved(in_parts.state_dict()))
    for name, values in at_once.state_dict().items():
        np.testing.assert_array_equal(in_parts.state_dict()[name], values)
        np.testing.assert_array_equal(again.state_dict()[name], values)


@pytest.mark.parametrize("every", [1, 70])
def test_no_value_stays_when_rows_are_forgotten_and_clocks_stay_clocks(every: int) -> None:
    """Also where rows are forgotten again and again."""
    columns = made(1000)
    rows = np.stack(list(columns.values()), axis=1).astype(float)
    rows[:, :7] += np.random.default_rng(1).random(7) / 7  # numbers that no grid has
    without = with_all = Trends.none(rows.shape[1])
    for first in range(0, len(rows), 130):
        part = rows[first : first + 130]
        without, with_all = without.after(part), with_all.after(part)
        if first // 130 % every == 0:
            without = without.without_values()
            kept = np.concatenate([np.ravel(values) for values in without.state_dict().values()])
            assert not np.isin(rows[:, [0, 1, 2, 4, 6, 8]], kept[kept != 0]).any()
    assert without.clocks.tolist() == with_all.clocks.tolist()


def test_an_encoder_whose_rows_were_forgotten_is_saved_as_it_is() -> None:
    columns = table(640)
    encoder = RowEncoder(recognised(Records.of(columns), Told("", classes=2)))
    features(encoder, columns)
    left = encoder.without_values()
    again = RowEncoder(left.schema)
    again.load_state_dict(Saved(left.state_dict()))
    assert left.only_rising == again.only_rising == encoder.only_rising == ["count", "when"]
    assert len(encoder.state_dict()["trends"]["pending"]) == 40
    assert len(left.state_dict()["trends"]["pending"]) == 0


def table(rows: int) -> dict[str, list[Any]]:
    """A row counter, a time stamp that goes on by an hour a row, and a size."""
    start = datetime(2024, 1, 1)
    sizes = np.random.default_rng(1).normal(size=rows).tolist()
    return {
        "count": [7 * row for row in range(rows)],
        "when": [(start + timedelta(hours=row)).isoformat() for row in range(rows)],
        "size": sizes,
    }


def features(encoder: RowEncoder, columns: dict[str, list[Any]]) -> dict[str, NDArray[np.float32]]:
    """The last row's features by name, after all rows were learned; as one row and as a table they are the same."""
    records = Records.of(columns)
    rows = encoder.encoded(encoder.parse(records))
    for first in range(0, len(rows), 50):
        encoder.learn(
            rows.take(np.arange(first, min(first + 50, len(rows)))), np.zeros(min(50, len(rows) - first), int)
        )
    after = encoder.encode(encoder.parse(records)).numpy()[-1]  # type: ignore[union-attr]
    last = {name: values[-1] for name, values in columns.items()}
    alone = encoder.row(last).x.numpy()[0]  # type: ignore[union-attr]
    late = [name.startswith("rate of") for name in encoder.schema.feature_names]
    np.testing.assert_allclose(np.where(late, 0, after), np.where(late, 0, alone), atol=1e-6)
    return dict(zip(encoder.schema.feature_names, after, strict=True))


def test_a_row_counter_and_a_time_stamp_are_left_out_and_cyclic_parts_come_in() -> None:
    columns = table(1000)
    schema = recognised(Records.of(columns), Told("", classes=2))
    assert [column.trend for column in schema.columns] == [RISES, RISES, WATCHED]
    encoder = RowEncoder(schema)
    day = features(encoder, {name: values[:40] for name, values in columns.items()})
    assert day["count"] == np.float32(schema.columns[0].fill)
    assert day["when years"] == 0
    assert not any(day[f"when {part}"] for part in ("hour sin", "hour cos", "week sin", "week cos", "year sin"))
    weeks = features(encoder, columns)
    assert weeks["size"] == np.float32(columns["size"][-1])
    assert abs(np.hypot(weeks["when hour sin"], weeks["when hour cos"]) - 1) < 1e-5
    assert abs(np.hypot(weeks["when week sin"], weeks["when week cos"]) - 1) < 1e-5
    assert weeks["when year sin"] == weeks["when years"] == 0
    said = {line["column"]: line for line in encoder.taken}
    assert "left out" in said["count"]["because"]
    assert said["count"]["otherwise"] == "--numeric"
    assert said["when"]["otherwise"] == "--date"
    assert said["size"]["otherwise"] == "--code"


def test_what_is_asked_for_is_learned_although_it_rises() -> None:
    columns = table(1000)
    told = Told("", classes=2, kinds={"count": "number", "when": "date"})
    schema = recognised(Records.of(columns), told)
    assert [column.trend for column in schema.columns] == [ANY, ANY, WATCHED]
    found = features(RowEncoder(schema), columns)
    assert found["count"] == 7 * 999
    assert found["when years"] != 0
    assert found["when year cos"] != 0


def test_a_column_that_begins_to_wander_comes_in_and_a_constant_that_rises_stays_out() -> None:
    rng = np.random.default_rng(2)
    level = np.concatenate([np.arange(1000.0), rng.uniform(0, 1000, 500)])
    columns = {"level": level.tolist(), "year": [2023] * 1200 + [2024] * 300, "size": rng.normal(size=1500).tolist()}
    first = {name: values[:1000] for name, values in columns.items()}
    schema = recognised(Records.of(first), Told("", classes=2))
    # numbers that go up by one in every row are an id from the start
    assert [column.kind for column in schema.columns] == ["ignored", "number", "number"]
    schema = recognised(Records.of({**first, "level": (2 * level[:1000]).tolist()}), Told("", classes=2))
    encoder = RowEncoder(schema)
    found = features(encoder, {**columns, "level": (2 * level).tolist()})
    assert encoder.only_rising == ["year"]
    assert found["level"] == np.float32(2 * level[-1])
    assert found["year"] == 2023
    state = RowEncoder(schema)
    state.load_state_dict(Saved(encoder.state_dict()))
    assert state.only_rising == ["year"]
