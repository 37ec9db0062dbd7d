"""Rows of tables: the same by every way, never with their own label, bounded, and undone with the call."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smartcl.columns import name_rates
from smartcl.columns.change_log import ChangeLog
from smartcl.columns.column_schema import Column, ColumnSchema
from smartcl.columns.name_rates import NameRates, key_of
from smartcl.columns.nested import columns_of
from smartcl.columns.own_names import LONG_UNSEEN, OwnNames
from smartcl.columns.records import Records
from smartcl.columns.row_encoder import RowEncoder
from smartcl.columns.word_rates import WordRates
from smartcl.saving.saved import Saved

SCHEMA = ColumnSchema(
    "",
    (
        Column("number", "number", missing=True, fill=2.0),
        Column("money", "number", fill=1.0, style="1,234.5"),
        Column("truth", "truth", fill=0.5),
        Column("day", "date", missing=True, fill=19_000.0),
        Column("clock", "clock", fill=12.0),
        Column("code", "code", fill=3.0),
        Column("few", "category", missing=True, slots=3),
        Column("many", "category"),
        Column("text", "text", missing=True),
        Column("gone", "ignored"),
    ),
    width=256,
)
NUMBERS = st.one_of(
    st.none(), st.integers(-5, 5), st.floats(-1e3, 1e3), st.sampled_from(["7", "", "soon", 10**400, float("nan")])
)
NAMES = st.one_of(st.none(), st.sampled_from(["a", "b", " c ", "NA", "", "d", 7, 7.0, True]))
ROWS = st.fixed_dictionaries(
    {},
    optional={
        "number": NUMBERS,
        "money": st.one_of(NUMBERS, st.sampled_from(["$1,234.50", "7%"])),
        "truth": st.sampled_from([True, False, "yes", "no", None, "maybe"]),
        "day": st.sampled_from(
            ["2024-02-03", "2024-02-03T04:05:06Z", date(2020, 1, 1), datetime(2021, 1, 1, 5), None, "x"]
        ),
        "clock": st.sampled_from([1730, "05:15", time(3, 4), None, 1799, "25:00"]),
        "code": st.sampled_from([1, 2.0, "3", None, 0, -0.0, timedelta(seconds=3)]),
        "few": NAMES,
        "many": NAMES,
        "text": st.sampled_from([None, "good words come", "bad words go", "", "a b"]),
        "gone": st.just("anything"),
        "strange": st.just([1]),
    },
)


def taught(rows: list[dict[str, Any]]) -> RowEncoder:
    encoder = RowEncoder(SCHEMA)
    found = encoder.encoded(encoder.parse(Records.of(columns_of(rows, SCHEMA.wanted) or {"few": [None] * len(rows)})))
    encoder.learn(found, np.arange(len(rows)) % 2)
    return encoder


@settings(max_examples=60, deadline=None)
@given(st.lists(ROWS, min_size=1, max_size=8), ROWS)
def test_one_row_is_encoded_as_many_are(before: list[dict[str, Any]], row: dict[str, Any]) -> None:
    encoder = taught(before)
    columns = columns_of([{"few": None, **row}], SCHEMA.wanted)
    wanted = encoder.encode(encoder.parse(Records.of(columns))).numpy()
    np.testing.assert_allclose(encoder.row(row).x.numpy(), wanted, atol=2e-6)


@settings(max_examples=30, deadline=None)
@given(st.lists(ROWS, min_size=1, max_size=6), st.lists(ROWS, min_size=1, max_size=6))
def test_what_is_undone_never_was_and_what_is_saved_goes_on(before: list[Any], rows: list[Any]) -> None:
    encoder, twin, journal = taught(before), taught(before), ChangeLog()
    columns = Records.of(columns_of([{"few": None, **row} for row in rows], SCHEMA.wanted))
    question = encoder.parse(columns)
    encoder.learn(encoder.encoded(question), np.zeros(len(rows), np.int64), journal)
    loaded = RowEncoder(SCHEMA)
    loaded.load_state_dict(Saved(encoder.state_dict()))
    assert np.array_equal(loaded.encode(question), encoder.encode(question))
    copied = encoder.copy()
    journal.undo()
    assert np.array_equal(encoder.encode(question), twin.encode(question))
    assert np.array_equal(copied.encode(question), loaded.encode(question))
    for each in (encoder, twin):
        each.learn(each.encoded(question), np.ones(len(rows), np.int64))
    assert np.array_equal(encoder.encode(question), twin.encode(question))


def test_a_row_never_knows_its_own_label() -> None:
    """Names of which each comes once say nothing, whatever the labels are; the encoder before and after differs."""
    encoder = RowEncoder(ColumnSchema("", (Column("name", "category"), Column("text", "text")), width=1024))
    rng = np.random.default_rng(0)
    for batch in range(20):
        names = [f"n{batch}-{row}" for row in range(50)]
        texts = [f"word{batch}x{row} other{row}y{batch}" for row in range(50)]
        found = encoder.encoded(encoder.parse(Records.of({"name": names, "text": texts})))
        rates = found.x[:, encoder.learned_features()[:-1]]
        assert not rates[:, 0].any(), "of a name that is new nothing is known"
        encoder.learn(found, rng.integers(0, 2, 50))


def test_a_rate_is_the_shrunk_mean_of_what_came_before() -> None:
    rates, rng = NameRates(1), np.random.default_rng(1)
    sums: dict[int, list[float]] = {}
    for row in range(0, 500, 10):
        keys, residuals = rng.integers(0, 7, 10).tolist(), rng.uniform(-1, 1, (10, 1)).astype(np.float32)
        for key in range(8):
            seen = sums.get(key, [])
            wanted = sum(seen) / (len(seen) + name_rates.SHRINK_ROWS)
            assert rates.feature(key)[0] == pytest.approx(wanted, abs=0.6 * name_rates.GRAIN)
        rates.learn(keys, residuals, row)
        for key, residual in zip(keys, residuals[:, 0].tolist(), strict=True):
            sums.setdefault(key, []).append(residual)
    one_by_one, together = NameRates(1), NameRates(1)
    for key, residual in zip(keys, residuals, strict=True):
        one_by_one.learn([key], residual[None], 1)
    together.learn(keys, residuals, 1)
    np.testing.assert_allclose(one_by_one.features(range(7)), together.features(range(7)), atol=2 * name_rates.GRAIN)


def test_names_are_bounded_and_the_ones_seen_last_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(name_rates, "MOST_NAMES", 100)
    rates = NameRates(2)
    for row in range(1000):
        keys = [key_of("always"), *(key_of(f"{row}-{number}") for number in range(7))]
        rates.learn(keys, np.full((8, 2), 0.25, np.float32), row)
        assert len(rates) <= 100
    assert rates.feature(key_of("always"))[0] > 0.2
    assert rates.feature(key_of("999-3"))[0] > 0
    assert rates.feature(key_of("3-3")) == [0.0, 0.0]
    rates.learn([key_of(f"flood {number}") for number in range(5000)], np.zeros((5000, 2), np.float32), 1000)
    assert len(rates) <= 100


def test_a_name_that_is_new_tomorrow_gets_the_column_of_one_long_unseen() -> None:
    own = OwnNames(2)
    own.learn(["may", "june"], 0)
    own.learn(["july"], 100)
    assert own.place("july") is None
    own.learn(["june"], LONG_UNSEEN)
    own.learn(["july"], LONG_UNSEEN + 1)
    assert (own.place("may"), own.place("july"), own.place("june")) == (None, 0, 1)


def test_words_that_tell_lead_and_small_words_do_not() -> None:
    rng, rates = np.random.default_rng(0), WordRates(1, 4096)
    filler = ["the", "for", "a", "and", "of", "sample", "port"]
    for _ in range(400):
        label = rng.integers(2)
        words = [*rng.choice(filler, 6), ["lovely", "awful"][label]]
        rates.learn([rates.words(" ".join(rng.permutation(words)))], np.array([[label]], np.float32))
    assert set(rates.strongest(2)) == {"lovely", "awful"}
    assert "a" not in rates.strongest(100)
    good, bad = (rates.features(rates.words(f"the sample was {word}")) for word in ("lovely", "awful"))
    assert good[1] < 0 < bad[1]


def test_more_classes_than_columns_share_them_and_a_class_may_come_later() -> None:
    schema = ColumnSchema("", (Column("name", "category"),), classes=3)
    encoder = RowEncoder(schema)
    for _ in range(40):
        found = encoder.encoded(encoder.parse(Records.of({"name": ["x", "y", "z", "w"]})))
        encoder.learn(found, np.array([0, 1, 2, 5]))
    rates = encoder.encode(encoder.parse(Records.of({"name": ["x", "y", "z", "w"]})))[:, :2].numpy()
    assert rates[0].max() < 0
    assert rates[1].argmax() == 0
    assert rates[2].argmax() == 1
    assert rates[3].argmax() == 1, "class 5 shares the column of class 2"
