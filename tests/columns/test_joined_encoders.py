"""What encoders that learned apart know together, against one that learned all rows."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest

from smartcl import SmartClassifier, merge, shard_of, subtract
from smartcl.columns.column_schema import Column, ColumnSchema
from smartcl.columns.joined_encoders import Knowing, check_same_columns, joined_encoders

WORDS = {"up": "win a prize today", "down": "meeting at home"}


def rows_of(seed, count, cities=40):
    rng = np.random.default_rng(seed)
    found = []
    for city, size in zip(
        rng.integers(0, cities, count).tolist(), rng.normal(size=count).round(3).tolist(), strict=True
    ):
        label = "up" if (city % 2 == 0) == (rng.random() < 0.9) else "down"
        text = f"{WORDS[label] if rng.random() < 0.8 else 'nothing to say'} {rng.integers(50)}"
        found.append(({"city": f"c{city}", "sky": "grey" if size < 0 else "clear", "size": size, "text": text}, label))
    return [row for row, _ in found], [label for _, label in found]


@pytest.fixture(scope="module")
def learned():
    settings = {"memory": "30kB", "members": ["ridge"], "random_state": 0}
    base = SmartClassifier(**settings).partial_fit(*rows_of(0, 1000)).flush()
    shards = [shard_of(base, k).partial_fit(*rows_of(k, 600)).flush() for k in (1, 2)]
    one = deepcopy(base)
    for k in (1, 2):
        one.partial_fit(*rows_of(k, 600))
    return base, shards, one.flush()


def test_names_and_words_are_known_as_one_machine_knows_them(learned):
    base, shards, one = learned
    whole = merge(shards, base=base)
    mine, theirs = (model.columns_.state_dict() for model in (whole, one))
    assert mine["rows"] == theirs["rows"] == 2200
    for column in theirs["rates"]:
        places = [
            dict(zip(s["keys"].tolist(), range(len(s["keys"])), strict=True))
            for s in (mine["rates"][column], theirs["rates"][column])
        ]
        assert places[0].keys() == places[1].keys()
        at = [[place[key] for key in sorted(place)] for place in places]
        counts, rates = (
            [s["rates"][column][name][i] for s, i in zip((mine, theirs), at, strict=True)] for name in ("count", "rate")
        )
        np.testing.assert_allclose(counts[0], counts[1], rtol=1e-5)
        np.testing.assert_allclose(rates[0], rates[1], atol=0.05)
    for column in theirs["words"]:
        assert mine["words"][column]["rows"] == theirs["words"][column]["rows"] == 2200
        np.testing.assert_array_equal(mine["words"][column]["places"], theirs["words"][column]["places"])
        np.testing.assert_allclose(mine["words"][column]["seen"], theirs["words"][column]["seen"])
    test, labels = rows_of(9, 500)
    assert whole.score(test, labels) > one.score(test, labels) - 0.03


def test_names_in_other_features_are_refused(learned):
    _, shards, _ = learned
    one, other = (deepcopy(shard.columns_) for shard in shards)
    column = next(iter(one.own))
    place = other.own[column].state_dict()["places"]
    names = list(place)
    other.own[column]._places = {**place, names[0]: place[names[1]], names[1]: place[names[0]]}
    with pytest.raises(ValueError, match="stand in other features"):
        joined_encoders([Knowing(1, 0.5, one), Knowing(1, 0.5, other)])


def test_columns_that_are_others_are_refused():
    rows, labels = rows_of(3, 300)
    one = SmartClassifier("20kB", members=["ridge"], random_state=1).partial_fit(rows, labels)
    sized = [{**row, "size": "large" if row["size"] > 0 else "small"} for row in rows]
    two = SmartClassifier("20kB", members=["ridge"], random_state=2).partial_fit(sized, labels)
    with pytest.raises(ValueError, match="the column 'size' has another kind in each model"):
        merge([one, two])
    fewer = [{name: value for name, value in row.items() if name != "size"} for row in rows]
    part = SmartClassifier("20kB", members=["ridge"], random_state=2).partial_fit(fewer, labels)
    whole = merge([one, part])
    with pytest.raises(ValueError, match="the column 'size' is not in all models"):
        subtract(whole, part)


def test_notes_on_the_first_rows_do_not_keep_models_apart():
    notes = ("2 names", "2 names; alone it tells the label of 99% of later rows")
    schemas = [ColumnSchema("y", (Column("sky", "category", why=why), Column("size", "number"))) for why in notes]
    check_same_columns(*schemas)
    other = ColumnSchema("y", (Column("sky", "text"), Column("size", "number")))
    with pytest.raises(ValueError, match="the column 'sky' has another kind in each model"):
        check_same_columns(schemas[0], other)
