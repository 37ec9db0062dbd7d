"""Tables at the estimator's door: frames as they are, rows one by one, arrays with gaps."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from smartcl import SmartClassifier, TableModel, train_stream

QUICK: dict[str, Any] = {"members": ["ridge"], "random_state": 0}


def columns(count: int = 300, seed: int = 0) -> tuple[dict[str, list[Any]], list[str]]:
    """Columns of every kind; the label follows the shop, and the number."""
    rng = np.random.default_rng(seed)
    shops = [f"shop {number}" for number in rng.integers(0, 30, count)]
    sizes = [None if rng.random() < 0.1 else float(size) for size in rng.normal(size=count)]
    made = {
        "size": sizes,
        "shop": [None if rng.random() < 0.05 else shop for shop in shops],
        "colour": rng.choice(["red", "green"], count).tolist(),
        "sold": (rng.random(count) < 0.5).tolist(),
        "day": [f"2024-{1 + row % 12:02}-{1 + row % 28:02}" for row in range(count)],
        "note": [f"some words about number {rng.integers(9)} and more {rng.integers(999)}" for _ in range(count)],
    }
    good = [int(shop.split()[1]) % 2 == 0 or (size or 0) > 1 for shop, size in zip(shops, sizes, strict=True)]
    return made, ["yes" if each else "no" for each in good]


def pandas_frame(made: dict[str, list[Any]]) -> Any:
    return pytest.importorskip("pandas").DataFrame(made)


def typed_frame(made: dict[str, list[Any]]) -> Any:
    pd = pytest.importorskip("pandas")
    kinds = {"size": "Float64", "shop": "category", "colour": "string", "sold": "boolean"}
    frame = pd.DataFrame(made).astype(kinds)
    return frame.assign(day=pd.to_datetime(frame["day"]))


def polars_frame(made: dict[str, list[Any]]) -> Any:
    return pytest.importorskip("polars").DataFrame(made)


def arrow_table(made: dict[str, list[Any]]) -> Any:
    return pytest.importorskip("pyarrow").table(made)


def dicts(made: dict[str, list[Any]]) -> Any:
    return [dict(zip(made, row, strict=True)) for row in zip(*made.values(), strict=True)]


MAKERS = (pandas_frame, typed_frame, polars_frame, arrow_table, dicts)


def learned(make: Callable[[dict[str, list[Any]]], Any]) -> SmartClassifier:
    made, labels = columns()
    return SmartClassifier("20kB", **QUICK).partial_fit(make(made), labels)


@pytest.fixture(scope="module")
def by_dicts() -> SmartClassifier:
    return learned(dicts)


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_frames_are_taken_as_they_are_and_learn_the_same(make: Callable[[Any], Any], by_dicts: SmartClassifier) -> None:
    model, (few, _) = learned(make), columns(40, seed=1)
    assert model.columns_ is not None
    kinds = {column.name: column.kind for column in model.columns_.schema.columns}
    assert kinds == {
        **{"size": "number", "shop": "category", "colour": "category", "sold": "truth"},
        **{"day": "date", "note": "text"},
    }
    np.testing.assert_allclose(model.predict_proba(make(few)), by_dicts.predict_proba(dicts(few)), atol=1e-12)


def test_the_estimator_and_train_stream_recognise_alike(by_dicts: SmartClassifier) -> None:
    made, labels = columns()
    table = train_stream(pandas_frame({**made, "y": labels}), "y", memory="20kB", **QUICK)
    assert by_dicts.columns_ is not None
    assert by_dicts.columns_.schema.columns == table.schema.columns


def test_any_iterable_of_frames_is_a_stream(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    made, labels = columns()
    pd.DataFrame({**made, "y": labels}).to_csv(tmp_path / "rows.csv", index=False)
    by_chunks = train_stream(pd.read_csv(tmp_path / "rows.csv", chunksize=70), "y", memory="20kB", **QUICK)
    whole = train_stream(tmp_path / "rows.csv", "y", memory="20kB", **QUICK)
    few, _ = columns(20, seed=2)
    assert by_chunks.progress.rows == whole.progress.rows == 300
    np.testing.assert_allclose(by_chunks.predict_proba(dicts(few)), whole.predict_proba(dicts(few)), atol=1e-12)
    rest = train_stream((polars_frame({**made, "y": labels}) for _ in range(2)), "y", memory="20kB", **QUICK)
    assert rest.progress.rows == 600


def test_names_beyond_the_first_rows_are_known_and_rows_stay_dense() -> None:
    """A column of very many names makes no table wide, and a name that comes late is learned."""
    rng, model = np.random.default_rng(0), SmartClassifier("100kB", **QUICK)
    for batch in range(40):
        shops = [f"s{number}" for number in rng.integers(0, 40 if batch < 10 else 400, 50)]
        labels = [int(shop[1:]) % 2 for shop in shops]
        right = (model.predict(pandas_frame({"shop": shops})) == labels).mean() if batch else 0.0
        model.partial_fit(pandas_frame({"shop": shops}), labels)
    assert model.columns_ is not None
    assert model.columns_.schema.n_features < 20
    assert right > 0.7


def test_fit_forgets_and_predict_checks_names_as_scikit_learn_does() -> None:
    made, labels = columns(120)
    frame = pandas_frame(made)
    model = SmartClassifier("20kB", **QUICK).fit(frame, labels)
    assert model.n_features_in_ == 6
    assert model.feature_names_in_.tolist() == list(made)
    assert model.classes_.tolist() == ["no", "yes"]
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame.rename(columns={"size": "other"}))
    again = clone(model).fit(frame, labels)
    np.testing.assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))
    assert set(model.predict(frame)) <= {"no", "yes"}
    model.fit(np.eye(4), [0, 1, 0, 1])
    assert model.columns_ is None


def test_a_model_of_frames_is_saved_pickled_and_goes_on(tmp_path: Path) -> None:
    made, _ = columns()
    model = learned(pandas_frame)
    model.save(tmp_path / "m")
    more, more_labels = columns(70, seed=3)
    answers = []
    for each in (model, SmartClassifier.load(tmp_path / "m"), pickle.loads(pickle.dumps(model))):
        each.partial_fit(pandas_frame(more), more_labels)
        answers.append(each.predict_proba(pandas_frame(made)))
    np.testing.assert_array_equal(answers[0], answers[1])
    np.testing.assert_array_equal(answers[0], answers[2])
    assert "names and words" in model.model_


@pytest.mark.parametrize("rows", [30, 170])
def test_a_call_that_fails_changes_nothing(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    model = learned(pandas_frame)
    made, labels = columns(rows, seed=4)
    question = pandas_frame(columns(30, seed=5)[0])
    before, state = model.predict_proba(question), pickle.dumps(model.columns_.state_dict())  # type: ignore[union-attr]
    kind, follow = type(model.learner_), type(model.learner_).follow
    calls: list[int] = []

    def failing(self: Any, *given: Any) -> None:
        follow(self, *given)
        calls.append(1)
        if len(calls) == (1 if rows < 50 else 3):
            raise KeyboardInterrupt

    monkeypatch.setattr(kind, "follow", failing)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(pandas_frame(made), labels)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.partial_fit(pandas_frame(made), labels[:-1])
    assert pickle.dumps(model.columns_.state_dict()) == state  # type: ignore[union-attr]
    np.testing.assert_array_equal(model.predict_proba(question), before)


def test_one_row_at_a_time_is_the_same_path() -> None:
    made, labels = columns()
    rows, model = dicts(made), SmartClassifier("20kB", **QUICK)
    assert model.predict_one(rows[0]) is None
    right = []
    for row, label in zip(rows, labels, strict=True):
        right.append(model.predict_one(row) == label)
        model.learn_one(row, label)
    model.flush()
    assert np.mean(right[-100:]) > 0.6
    alone = [model.predict_proba_one(row) for row in rows[:20]]
    # what the last labels say of the next row fades in the rows of one call
    long = np.concatenate([model.predict_proba([row]) for row in rows[:20]])
    np.testing.assert_allclose([list(each.values()) for each in alone], long, atol=1e-6)
    assert list(alone[0]) == model.classes_.tolist()
    whole = SmartClassifier("20kB", **QUICK)
    for first in range(0, 300, 50):
        whole.partial_fit(rows[first : first + 50], labels[first : first + 50])
    # the rates of names are those of the row before, not of the batch before: bounded, not the same
    few = dicts(columns(200, seed=6)[0])
    assert np.abs(model.predict_proba(few) - whole.predict_proba(few)).mean() < 0.1


def test_a_table_model_takes_rows_one_by_one(tmp_path: Path) -> None:
    made, labels = columns()
    model = train_stream(pandas_frame({**made, "y": labels}), "y", memory="20kB", **QUICK)
    row = dicts(made)[0]
    model.learn_one(row, labels[0])
    model.learn_one({"size": 1.0}, "maybe")
    assert set(model.predict_proba_one(row)) == {"no", "yes", "maybe"}
    assert model.predict_one(row) in ("no", "yes")
    model.catch_up()
    model.save(tmp_path / "m")
    loaded = TableModel.load(tmp_path / "m")
    assert loaded.predict_proba_one(row) == model.predict_proba_one(row)
    assert loaded.progress.rows == 302
    # the same folder by the estimator's door
    frame = pandas_frame({name: values[:9] for name, values in made.items()})
    by_estimator = SmartClassifier.load(tmp_path / "m").predict_proba(frame)
    np.testing.assert_array_equal(by_estimator, model.predict_proba(frame))


def test_gaps_of_an_array_are_missing_values(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 3)), rng.integers(0, 2, 400)
    X[y == 1, 1] = np.where(rng.random((y == 1).sum()) < 0.8, np.nan, X[y == 1, 1])
    model = SmartClassifier("20kB", **QUICK).partial_fit(X[:300], y[:300])
    assert (model.predict(X[300:]) == y[300:]).mean() > 0.75, "that a value is missing tells the class"
    assert model.n_features_in_ == 3
    model.save(tmp_path / "m")
    np.testing.assert_array_equal(SmartClassifier.load(tmp_path / "m").predict_proba(X), model.predict_proba(X))
    model.partial_fit(np.full((2, 3), np.nan), [0, 1])
    whole = SmartClassifier("20kB", **QUICK).partial_fit(np.nan_to_num(X[:300]), y[:300])
    assert np.isfinite(whole.predict_proba(X[300:])).all(), "a gap in a column that never had one is its mean"
    with pytest.raises(ValueError, match="infinity"):
        model.predict(np.full((1, 3), np.inf))


def test_a_frame_of_numbers_is_an_array_with_names() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 4)), rng.integers(0, 2, 200)
    frame = pytest.importorskip("pandas").DataFrame(X, columns=list("abcd"))
    by_frame, by_array = (SmartClassifier("20kB", **QUICK).fit(each, y) for each in (frame, X))
    np.testing.assert_array_equal(by_frame.predict_proba(frame), by_array.predict_proba(X))


def test_a_column_that_tells_the_label_is_warned_of() -> None:
    delay = np.random.default_rng(0).normal(0, 30, 400)
    with pytest.warns(UserWarning, match="the column 'delay' alone tells the label of 100"):
        SmartClassifier("20kB", **QUICK).partial_fit(
            pandas_frame({"delay": delay, "shop": ["a", "b"] * 200}), delay > 15
        )


def test_a_table_without_rows_is_answered_with_none() -> None:
    days = [f"2024-01-{1 + n % 28:02d}" for n in range(60)]
    rows = [{"day": day, "size": n % 7, "name": "abc"[n % 3]} for n, day in enumerate(days)]
    model = SmartClassifier("20kB", **QUICK).partial_fit(rows, ["x", "y"] * 30)
    assert model.predict([]).tolist() == []
    assert model.predict_proba([]).shape == (0, 2)


BAD_FIRST: list[tuple[Any, Any, str]] = [
    ({"a": 1}, None, "y must hold a label"),
    ({"a": 1}, float("nan"), "y must hold a label|contains NaN"),
    ({"a": 1}, [1], "y must be the label of the row"),
    ({"a": 1}, "x\0", "character NUL"),
    ({"a": 1}, 0.5, "label type"),
    ({"a": 1}, 3, "y must hold text, as before"),
    ({1: 2, "1": 3}, "x", "two values for one column"),
    ([1, 2], "x", "x must be a row as a dict"),
    (None, "x", "x must be a row as a dict"),
]


@pytest.mark.parametrize("begun", [False, True])
@pytest.mark.parametrize(("row", "label", "message"), BAD_FIRST)
def test_a_row_that_cannot_be_learned_keeps_no_other_from_it(row: Any, label: Any, message: str, begun: bool) -> None:
    model = SmartClassifier("8kB", **QUICK)
    for number in range(60 if begun else 1):
        model.learn_one({"a": number % 7, "b": "pq"[number % 2]}, "xy"[number % 3 % 2])
    if begun and message.startswith("two"):
        return  # a column by another key is a stranger then
    with pytest.raises(ValueError, match=message):
        model.learn_one(row, label)
    for number in range(60):
        model.learn_one({"a": number % 7, "b": "pq"[number % 2]}, "xy"[number % 3 % 2])
    model.flush()
    assert model.classes_.tolist() == ["x", "y"]
    assert model.learner_.counts.total == (120 if begun else 61)


def test_a_label_that_is_missing_becomes_no_class_whatever_holds_it() -> None:
    rows, arrays = [{"a": n % 7, "b": "pq"[n % 2]} for n in range(60)], np.arange(120.0).reshape(60, 2)
    for labels in (["x", float("nan")] * 30, ["x", None] * 30, np.array(["x", np.nan] * 30, dtype=object)):
        for given in (rows, arrays):
            with pytest.raises(ValueError, match=r"y must hold a label for each row, got (nan|None) in row 1"):
                SmartClassifier("8kB", **QUICK).partial_fit(given, labels)


def test_frames_that_are_lazy_or_hold_nothing() -> None:
    import pandas as pd
    import polars as pl

    rows = {"a": [n % 7 for n in range(60)], "b": ["p", "q"] * 30}
    labels = ["x", "y", "y"] * 20
    lazy = SmartClassifier("8kB", **QUICK).partial_fit(pl.LazyFrame(rows), labels)
    assert lazy.partial_fit(pl.LazyFrame(rows), labels).predict(pl.LazyFrame(rows)).shape == (60,)
    for empty, what in (
        (pd.DataFrame({"a": [], "b": []}), "0 sample"),
        (pd.DataFrame(index=range(60)), "at least one column"),
    ):
        with pytest.raises(ValueError, match=what):
            SmartClassifier("8kB", **QUICK).partial_fit(empty, labels[: len(empty)])
    with pytest.raises(ValueError, match="X and y must hold numbers that fit a float"):
        SmartClassifier("8kB", **QUICK).partial_fit(np.array([[10**400, 1]] * 60, dtype=object), labels)


def test_a_table_model_with_ids_learns_and_forgets_single_rows() -> None:
    rows = [{"nr": f"n{n}", "size": n % 7, "y": "ab"[n % 2]} for n in range(60)]
    model = train_stream(rows, "y", id="nr", memory="20kB", **QUICK)
    model.learn_one({"nr": "single", "size": 3}, "a")
    with pytest.raises(ValueError, match="character NUL"):
        model.learn_one({"nr": "other", "size": 3}, "a\0")
    assert model.forget(["single", "other"]) == 1
