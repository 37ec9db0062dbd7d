"""Records that are not what they seem: their neighbours are not lost with them, and it is told what is wrong."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartcl import SmartClassifier, TableModel, train_stream
from smartcl.columns.column_schema import read_schema
from smartcl.columns.nested import flattened
from smartcl.events.event_columns import read_columns
from smartcl.files import record_formats as module
from smartcl.files.record_formats import csv_records, json_records
from smartcl.files.training import forget_in_folder, ids_in_file
from smartcl.saving.persistence import load_state, save_state

QUICK: dict[str, Any] = {"method": "smart", "hidden": (2,), "iterations": 1, "random_state": 0}


# --- quotation marks ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("odd", ['"x,1,a', 'x,"1,a', 'x,1,"a'])
@pytest.mark.parametrize("twice", [False, True])
@pytest.mark.parametrize("arrow", [False, True])
def test_a_quotation_mark_that_is_not_closed_takes_its_own_line_only(
    odd: str, twice: bool, arrow: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not arrow:
        monkeypatch.setattr(module, "find_spec", lambda name: None)
    rows = [f"t{n},{n},{'ab'[n % 2]}" for n in range(400)]
    lines = [*rows[:100], odd, *rows[100:300], *([odd] if twice else []), *rows[300:]]
    found = csv_records("\n".join(lines).encode() + b"\n", ["t", "n", "y"], ",", {"t": False, "n": True, "y": False})
    assert found.count == len(lines)
    assert [float(value) for value in found.columns["n"]] == list(range(400))
    assert set(found.bad) == {100, 301} if twice else {100}
    assert set(found.bad.values()) == {"a quotation mark that is not closed"}


FIELD = st.text(st.sampled_from('ab ,"\r\n'), max_size=5)


@given(st.lists(st.lists(FIELD, min_size=3, max_size=3), min_size=1, max_size=9), st.booleans())
def test_what_is_written_well_is_read_as_it_was(rows: list[list[str]], first_look: bool) -> None:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(rows)
    wanted = None if first_look else dict.fromkeys("xyz", False)
    found = csv_records(text.getvalue().encode(), ["x", "y", "z"], ",", wanted)
    assert not found.bad
    assert [list(row) for row in zip(*(found.columns[name] for name in "xyz"), strict=True)] == rows


@given(st.lists(st.text(st.sampled_from('a,"\n'), max_size=7), max_size=12))
def test_rows_without_quotation_marks_are_never_lost(odd: list[str]) -> None:
    """Between any lines, rows that are whole, have no marks and stand between rows of their kind are all there."""
    lines = [line for number, each in enumerate(odd) for line in (each.replace("\n", ""), f"r{number},1,2")]
    found = csv_records("\n".join(lines).encode() + b"\n", ["x", "y", "z"], ",", None)
    seen = "".join(found.columns["x"]) + "".join(found.columns["y"]) + "".join(found.columns["z"])
    quoted = [number for number, each in enumerate(odd) if '"' in each]
    for number in range(len(odd)):
        if not quoted or number > quoted[-1]:
            assert f"r{number}" in seen


def test_a_training_tells_of_the_mark_and_learns_the_rest(tmp_path: Path) -> None:
    rows = [f"{n % 7},{'ab'[n % 7 > 3]}" for n in range(400)]
    rows.insert(100, '"3,a')
    (tmp_path / "t.csv").write_text("n,y\n" + "\n".join(rows) + "\n")
    model = train_stream(tmp_path / "t.csv", "y", **QUICK)
    assert model.progress.rows == 400
    assert model.progress.skipped == {"a quotation mark that is not closed": 1}


def test_a_table_of_events_with_an_open_mark_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('n,y\n1,a\n2,"b\n3,c\n')
    with pytest.raises(ValueError, match=r"t.csv, record 2: a quotation mark that is not closed"):
        read_columns(tmp_path / "t.csv", ["n", "y"])


# --- two values for one column --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    ['{"o": {"a": 1}, "o.a": 2}', '{"o.a": 2, "o": {"a": 1}}', '{"o.a": 2, "o.a": 3}', '{"o": {"a": 1, "a": 2}}'],
)
def test_two_values_for_one_column_are_told(line: str, tmp_path: Path) -> None:
    found = json_records(f'{{"o.a": 1}}\n{line}\n{{"o": {{"a": 3}}}}\n'.encode(), None)
    assert found.bad == {1: "two values for one column"}
    assert found.columns == {"o.a": [1, 3]}
    good = "".join(json.dumps({"n": n % 7, "y": "ab"[n % 7 > 3]}) + "\n" for n in range(60))
    (tmp_path / "t.jsonl").write_text(good + line + "\n")
    assert train_stream(tmp_path / "t.jsonl", "y", **QUICK).progress.skipped == {"two values for one column": 1}


def test_rows_with_two_values_for_one_column_are_refused() -> None:
    for row in ({"o": {"a": 1}, "o.a": 2}, {1: 5, "1": 6}):
        with pytest.raises(ValueError, match="two values for one column: "):
            train_stream([{**row, "y": "a"}] * 60, "y", **QUICK)


@given(st.recursive(st.integers(), lambda inner: st.dictionaries(st.sampled_from("ab."), inner, max_size=3)))
def test_flattening_loses_nothing_or_says_so(value: Any) -> None:
    def leaves(item: Any) -> int:
        return sum(map(leaves, item.values())) if isinstance(item, dict) else 1

    row = {"x": value}
    try:
        assert len(flattened(row)) == leaves(row)
    except ValueError as error:
        assert "two values for one column" in str(error)  # noqa: PT017


# --- labels that NumPy takes for one --------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [list, tuple, pd.Series, lambda y: np.array(y, dtype=object)])
def test_labels_that_would_become_one_class_are_refused(form: Any) -> None:
    y = form(["a\0", "a"] * 10)
    model = SmartClassifier("1kB", **QUICK)
    for learn in (model.fit, model.partial_fit):
        with pytest.raises(ValueError, match="texts that do not end in the character NUL"):
            learn(np.eye(20), y)
    with pytest.raises(ValueError, match="texts that do not end in the character NUL"):
        model.partial_fit(np.eye(20), ["a", "b"] * 10, classes=["a\0", "a", "b"])
    model.partial_fit(np.eye(20), ["a", "b\0c"] * 10)
    assert model.classes_.tolist() == ["a", "b\0c"]


def test_a_row_of_a_table_with_such_a_label_is_passed_over() -> None:
    rows = [{"n": n % 7, "y": ["a", "b", "a\0"][n % 3]} for n in range(60)]
    model = train_stream(rows, "y", **QUICK)
    assert model.classes == ["a", "b"]
    assert model.progress.skipped == {"a label that ends in the character NUL": 20}


# --- paths and arrays -----------------------------------------------------------------------------------------------

IMPOSSIBLE = ["x" * 5000, "x" * 5000 + ".csv", "a/" * 3000, "a\0b"]


@pytest.mark.parametrize("path", IMPOSSIBLE, ids=["long", "long.csv", "deep", "NUL"])
def test_a_path_that_cannot_be_is_one_short_line_at_every_door(path: str) -> None:
    classifier = SmartClassifier("1kB", **QUICK).partial_fit(np.eye(4), [0, 1, 0, 1])
    table = train_stream([{"n": n % 7 + 0.5, "y": "ab"[n % 7 > 3]} for n in range(60)], "y", **QUICK)
    doors: dict[str, Any] = {
        "save": lambda: classifier.save(path),
        "load": lambda: SmartClassifier.load(path),
        "save a table": lambda: table.save(path),
        "load a table": lambda: TableModel.load(path),
        "onnx": lambda: classifier.to_onnx(path),
        "onnx of a table": lambda: table.to_onnx(path),
        "export": lambda: classifier.memory_.export(path),
        "train": lambda: train_stream(path, "y", **QUICK),
        "out": lambda: train_stream([{"n": 1, "y": 2}] * 60, "y", out=path, **QUICK),
        "predict": lambda: table.predict(path),
        "schema": lambda: read_schema(path),
        "ids": lambda: ids_in_file(Path(path)),
        "forget": lambda: forget_in_folder(Path(path), ["1"], retrain=False),
        "columns": lambda: read_columns(Path(path + ".csv"), ["n"]),
    }
    for name, door in doors.items():
        with pytest.raises(ValueError, match="must be a path that this system takes") as caught:
            door()
        assert len(str(caught.value)) < 300, name
        assert "\n" not in str(caught.value)


def test_an_array_is_named_once(tmp_path: Path) -> None:
    save_state(tmp_path, {"a": np.arange(3), "b": {"c": np.arange(4)}, "b.c": np.arange(5)})
    found = load_state(tmp_path)
    assert [found["a"].tolist(), found["b"]["c"].tolist(), found["b.c"].tolist()] == [
        [0, 1, 2],
        [0, 1, 2, 3],
        [0, 1, 2, 3, 4],
    ]
    save_state(tmp_path, {"a": np.arange(3), "many": [{"$array": ".a", "shape": [3]}] * 1000})
    with pytest.raises(ValueError, match=r"damaged: the array '\.a' is not there, or is named twice"):
        load_state(tmp_path)
