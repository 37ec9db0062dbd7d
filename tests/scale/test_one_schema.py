"""Tables whose columns differ, merged: what a shard never had is missing in its samples, as in rows that lack it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from smartcl import SmartClassifier, merge
from smartcl.columns.column_schema import Column, ColumnSchema
from smartcl.columns.records import Records
from smartcl.columns.row_encoder import RowEncoder
from smartcl.columns.united_columns import ClassColumns, MovedColumns
from smartcl.learners.ensemble.ensemble import Ensemble
from smartcl.memory.export import stored_rows

Rows = list[dict[str, Any]]


def rows_of(count: int, seed: int, *columns: str) -> tuple[Rows, list[str]]:
    """Rows with some of the columns; the label follows three of them, the names by a pattern."""
    rng = np.random.default_rng(seed)
    rows, labels = [], []
    for _ in range(count):
        row: dict[str, Any] = {
            "size": round(float(rng.normal()), 3),
            "weight": round(float(rng.normal(5)), 3),
            "city": str(rng.choice(["Oslo", "Rome", "Bonn"])),
            "day": f"20{rng.integers(10, 14)}-0{rng.integers(1, 9)}-1{rng.integers(0, 9)}",
            "shop": f"shop {rng.integers(50)}",
        }
        labels.append("yes" if row["size"] + (row["weight"] - 5) + (row["city"] == "Rome") > 0.3 else "no")
        rows.append({name: row[name] for name in columns})
    return rows, labels


def learned(rows: Rows, labels: list[str], seed: int, **settings: Any) -> SmartClassifier:
    given = {"memory": "50kB", "members": "ridge", "random_state": seed, **settings}
    return SmartClassifier(**given).partial_fit(rows, labels)


def features_of(model: SmartClassifier) -> dict[str, np.ndarray[Any, Any]]:
    """The stored samples by the names of their features."""
    learner, encoder = model.learner_, model.columns_
    assert isinstance(learner, Ensemble)
    assert encoder is not None
    store = learner.memory.store
    found = np.asarray(stored_rows(store, np.arange(len(store))))
    return {encoder.name(place): found[:, place] for place in range(found.shape[1])}


def test_what_a_model_never_had_is_missing_in_its_samples() -> None:
    one_rows, one_labels = rows_of(400, 0, "size", "city", "day", "shop")
    two_rows, two_labels = rows_of(400, 1, "weight", "city", "day", "shop")
    one, two = learned(one_rows, one_labels, 0), learned(two_rows, two_labels, 1)
    whole = merge([one, two])
    assert isinstance(whole, SmartClassifier)
    found = features_of(whole)
    lacks = found["weight is missing"] == 1
    assert (lacks == (found["size is missing"] == 0)).all()
    assert 0.3 < lacks.mean() < 0.7
    assert np.allclose(found["weight"][lacks], 5, atol=0.2)  # the mean of the rows that had it, and not zero
    assert (found["values missing"] == 0).all()
    cities = np.stack([found[f"city: {name}"] for name in ("Oslo", "Rome", "Bonn")])
    assert (cities.sum(axis=0) == 1).all()
    mine = features_of(one)
    for name in ("size", "city: Rome", "day year sin", "shop: rate"):
        here, there = (np.sort(values) for values in (found[name][lacks], mine[name]))
        assert np.isin(here, there).all(), name
    both, labels = rows_of(500, 2, "size", "weight", "city", "day", "shop")
    held_by = [np.mean(model.predict(both) == labels) for model in (one, two, whole)]
    assert held_by[2] > max(held_by[:2]) - 0.02
    assert whole.learner_.counts.total == 800
    again = SmartClassifier(memory="50kB", members="ridge", random_state=2)
    again.partial_fit(one_rows + two_rows, one_labels + two_labels)  # one machine, rows that lack a column
    assert held_by[2] > np.mean(again.predict(both) == labels) - 0.05


def test_any_order_of_the_models_gives_the_same_columns_and_samples() -> None:
    models = [
        learned(*rows_of(300, seed, *names), seed)
        for seed, names in enumerate((("size", "city"), ("weight", "city", "shop"), ("size", "shop", "day")))
    ]
    one, two = merge(models), merge(models[::-1])
    assert isinstance(one, SmartClassifier)
    assert isinstance(two, SmartClassifier)
    mine, theirs = features_of(one), features_of(two)
    assert mine.keys() == theirs.keys()
    assert all(np.array_equal(np.sort(mine[name]), np.sort(theirs[name])) for name in mine)


def test_dates_keep_their_day_though_the_middle_is_another() -> None:
    rows, labels = rows_of(200, 0, "day", "size")
    late = [{**row, "day": row["day"].replace("201", "203")} for row in rows]
    whole = merge([learned(rows, labels, 0), learned(late, labels, 1)])
    assert isinstance(whole, SmartClassifier)
    years = features_of(whole)["day years"]
    gap = np.sort(years)[len(years) // 2 :].mean() - np.sort(years)[: len(years) // 2].mean()
    assert gap == pytest.approx(20, abs=0.7)


def test_rates_of_names_are_of_the_same_classes_though_these_came_in_another_order() -> None:
    labels = ["yes" if number % 2 else "no" for number in range(500)]
    rows = [{"shop": f"{label} {number % 30}", "size": number % 7} for number, label in enumerate(labels)]
    models = []
    for seed, first in enumerate(("yes", "no")):
        begun = learned(
            [{"shop": f"{first} {number % 30}", "size": number % 7} for number in range(60)], [first] * 60, seed
        )
        models.append(begun.partial_fit(rows, labels))
    assert [list(model.classes_) for model in models] == [["yes", "no"], ["no", "yes"]]
    whole = merge(models)
    assert isinstance(whole, SmartClassifier)
    assert list(whole.classes_) == ["no", "yes"]
    found, store = features_of(whole)["shop: rate"], whole.learner_.memory.store
    assert np.corrcoef(found, store.labels)[0, 1] > 0.5
    encoder = whole.columns_
    assert encoder is not None
    at = encoder.schema.feature_names.index("shop: rate")
    yes, no = (
        np.mean([float(encoder.row({"shop": f"{label} {n}"}).x[0, at]) for n in range(30)]) for label in ("yes", "no")
    )
    assert yes > 0.1 > -0.1 > no


@pytest.mark.parametrize(("n_classes", "seed"), [(2, 0), (3, 1), (5, 2)])
def test_columns_of_classes_are_turned_exactly(n_classes: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.ones(n_classes), size=10)
    at = rng.permutation(n_classes)
    wanted = np.zeros_like(shares)
    wanted[:, at] = shares
    turned = ClassColumns.between(at, n_classes - 1, n_classes, n_classes - 1)
    assert np.allclose(shares[:, 1:] @ turned.turn + turned.begin, wanted[:, 1:], atol=1e-6)
    less = shares - shares.mean(axis=0)
    assert np.allclose(less[:, 1:] @ turned.turn, (wanted - wanted.mean(axis=0))[:, 1:], atol=1e-6)


def test_the_rate_of_the_last_labels_is_of_the_same_class_though_classes_came_in_another_order() -> None:
    schema = ColumnSchema("y", (Column("size", "number"),), classes=2)
    labels = np.arange(300) % 3 // 2
    labels[-100:] = 1  # of late more often than in all rows
    as_they_are, other_way = RowEncoder(schema), RowEncoder(schema)
    made = []
    for encoder, classes in ((as_they_are, labels), (other_way, 1 - labels)):
        for start in range(0, 300, 50):
            rows = encoder.encoded(encoder.parse(Records.of({"size": [1.0, 2.0] * 25})))
            encoder.learn(rows, classes[start : start + 50])
        made.append(np.asarray(rows.x))
    moved = MovedColumns(as_they_are, schema, {}, np.array([1, 0]))
    assert np.abs(made[0] - made[1]).max() > 0.1
    np.testing.assert_allclose(moved.rows(made[0]), made[1], atol=1e-6)
    now = np.zeros(1, np.int64)
    np.testing.assert_allclose(moved.encoder().late(now), other_way.late(now), atol=1e-6)


def test_a_column_of_another_kind_is_refused() -> None:
    one = learned([{"a": number / 3, "b": "xyz"[number % 3]} for number in range(120)], ["u", "v"] * 60, 0)
    two = learned([{"a": number / 3, "b": number / 7} for number in range(120)], ["u", "v"] * 60, 1)
    with pytest.raises(ValueError, match="'b' has another kind in each model, 'category' and 'number'"):
        merge([one, two])
