"""Tables: with retraining nothing of a forgotten row is left in any file of the folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smartcl import TableModel, train_stream
from smartcl.columns.nested import columns_of
from smartcl.columns.records import Records
from smartcl.columns.row_encoder import Odd
from smartcl.files.training import forget_in_folder

QUICK: dict[str, Any] = {"method": "smart", "hidden": (4,), "iterations": 1, "memory": "200kB", "random_state": 0}
GONE = 41


def table(kind: str) -> list[dict[str, Any]]:
    """Rows of which one has a salary, a town, a day and a label of its own, and some have no value."""
    rng = np.random.default_rng(5)
    made = []
    for number in range(150):
        row = {
            "nr": number,
            "salary": float(rng.integers(20, 60)) + 0.25,
            "bonus": None if number % 9 == 4 else float(rng.integers(1, 9)),
            "town": ["Rome", "Oslo", "Lima"][number % 3],
            "day": f"2024-{1 + number % 12:02}-{1 + number % 28:02}",
            "y": "ab"[int(rng.integers(2))],
        }
        if number == GONE:
            row |= {"salary": 987654.5, "bonus": 4321.5, "town": "Secretville", "day": "1971-05-06", "y": "unheard-of"}
        if kind != "dense" and number == GONE:
            row |= {"town": "Rome", "y": "a"}  # both tables have the same layout
        if kind == "words" and number == GONE:
            row["bonus"] = 3.0  # with a fraction, the whole numbers of this column would be no code
        if kind == "late":
            # no value is missing in the first rows, some are later
            row["bonus"] = 3.5 if row["bonus"] is None and number < 60 else row["bonus"]
        if kind == "words":
            row["note"] = "a confidential matter" if number == GONE else f"some words on {['sun', 'rain'][number % 2]}"
        made.append(row)
    return made


def trained(rows: list[dict[str, Any]], folder: Path, kind: str) -> None:
    path = folder.with_suffix(".jsonl")
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    more = {"columns": {"note": "text"}, "width": 512} if kind == "words" else {}
    train_stream(path, "y", id="nr", out=folder, **more, **QUICK)


@pytest.mark.parametrize("kind", ["dense", "words", "late"])
@pytest.mark.parametrize("method", ["smart", "adaptive"])
def test_a_folder_is_that_of_a_model_that_never_saw_the_row(
    kind: str, method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(QUICK, "method", method)
    rows = table(kind)
    saw, never = tmp_path / "saw", tmp_path / "never"
    trained(rows, saw, kind)
    trained([row for row in rows if row["nr"] != GONE], never, kind)
    (saw / "progress.json").write_text("{}")
    assert forget_in_folder(saw, [str(GONE)], retrain=True)["forgotten"] == 1
    assert forget_in_folder(never, [str(GONE)], retrain=True)["forgotten"] == 0
    for path in saw.rglob("*"):
        data = path.read_bytes() if path.is_file() else b""
        for secret in (b"Secretville", b"unheard-of", b"confidential", b"987654", np.float32(987654.5).tobytes()):
            assert secret not in data, path
    assert not (saw / "progress.json").exists()
    ours, theirs = TableModel.load(saw), TableModel.load(never)
    assert ours.classes == theirs.classes == ["a", "b"]
    assert ours.progress.rows == theirs.progress.rows == 149
    assert ours.scores_.accuracy is None
    for mine, other in zip(ours.schema.columns, theirs.schema.columns, strict=True):
        assert mine.fill == pytest.approx(other.fill, rel=1e-6), mine.name
    assert [list(names) for names in ours.encoder.own.values()] == [
        list(names) for names in theirs.encoder.own.values()
    ]
    shown = json.loads((saw / "schema.json").read_text())
    fills = {column["name"]: column.get("fill", 0.0) for column in shown["columns"]}
    left = [row for row in rows if row["nr"] != GONE]
    assert fills["salary"] == pytest.approx(np.mean([row["salary"] for row in left]), rel=1e-6)
    bonuses = [row["bonus"] for row in left if row["bonus"] is not None]
    assert fills["bonus"] == pytest.approx(np.mean(bonuses), rel=1e-6)
    alike = ours.schema.n_features == theirs.schema.n_features
    assert alike == (kind != "dense"), "there it had room for a town and a class"
    if kind != "dense":
        questions = [{**row, "y": None} for row in left[:40]]
        np.testing.assert_allclose(ours.predict_proba(questions), theirs.predict_proba(questions), atol=1e-4)


def test_stored_rows_read_as_the_new_schema_would_write_them(tmp_path: Path) -> None:
    """Independently: rows encoded by the renewed encoder from the raw values are those that the memory holds."""
    rows = table("dense")
    model = train_stream(rows, "y", id="nr", **QUICK)
    before = model.schema
    model.forget([str(GONE)], retrain_from_memory=True)
    assert model.schema.columns != before.columns
    store = model.classifier.memory_.store
    held = store.gather(np.arange(len(store)), missing=False).x.numpy()
    order = store.extra["id"]

    by_number = {row["nr"]: row for row in rows}

    again = [by_number[int(number)] for number in order]
    parsed = model.encoder.parse(Records.of(columns_of(again, model.schema.wanted)))
    wanted = model.encoder.encode(parsed, Odd()).numpy()
    np.testing.assert_allclose(held, wanted[:, store.features], atol=2e-5)


def test_without_retraining_what_stays_is_as_the_page_says(tmp_path: Path) -> None:
    rows = table("dense")
    model = train_stream(rows, "y", id="nr", **QUICK)
    fills = [column.fill for column in model.schema.columns]
    assert model.forget([str(GONE)]) == 1
    assert [column.fill for column in model.schema.columns] == fills
    assert "unheard-of" in model.classes
    assert model.progress.rows == 150


def test_a_renewed_model_goes_on(tmp_path: Path) -> None:
    rows, folder = table("late"), tmp_path / "m"
    trained(rows, folder, "late")
    forget_in_folder(folder, [str(GONE)], retrain=True)
    path = folder.with_suffix(".jsonl")
    with path.open("a") as file:
        for number in range(150, 170):
            file.write(json.dumps({**rows[number - 100], "nr": number, "town": "Secretville"}) + "\n")
    model = train_stream(path, out=folder, resume=True)
    assert model.progress.rows == 169
    assert "Secretville" in model.encoder.own["town"]
    assert model.forget([str(GONE)]) == 0
