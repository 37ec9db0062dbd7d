"""What must be forgotten is in no file of a service, whatever it keeps beside the model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from served_rows import items, labelled_rows, learn, one_model

from smartcl import TableModel, train_stream
from smartcl.cli.app import call
from smartcl.serve.bodies import Item

SECRET = {"size": 0.8765432, "colour": "red", "new": True, "day": "2024-05-17", "note": "confidential words here"}
ROWS = [({**row, "note": f"usual words number {n % 4}"}, label) for n, (row, label) in enumerate(labelled_rows(160))]


def holds(folder: Path, *needles: bytes) -> list[str]:
    """The files that have one of these bytes."""
    return [
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and any(needle in path.read_bytes() for needle in needles)
    ]


def served_folder(tmp_path: Path) -> Path:
    """A service that fell: a saved version and rows in the journal of a person, and a predicted one that waits."""
    folder = tmp_path / "model"
    begun = [{**row, "nr": f"n{n}", "label": label} for n, (row, label) in enumerate(ROWS[:100])]
    learner: dict[str, Any] = {"method": "er", "hidden": (8,), "iterations": 1}
    train_stream(begun, "label", id="nr", columns={"note": "text"}, memory="50kB", out=folder, **learner)
    with one_model(folder, shadow_rows=1000) as served:
        learn(served, [Item(SECRET, "yes", "p1"), *items(ROWS[100:120], "a")])
        served.call(served.save).result(10)  # type: ignore[attr-defined]
        learn(served, [Item({**SECRET, "size": 0.9}, "no", "p2"), *items(ROWS[120:140], "b")])
        served.predict([Item(SECRET, None, "p3"), Item(ROWS[141][0], None, "c1")])
        served.journal.sync()
        served.save = lambda only=False: None  # type: ignore[method-assign]
    (folder / "serve" / "journal" / "x.damaged").write_bytes(b"confidential")
    return folder


@pytest.mark.parametrize("retrain", [False, True])
def test_nothing_is_left_in_versions_journal_and_waiting_rows(tmp_path: Path, retrain: bool) -> None:
    folder = served_folder(tmp_path)
    assert {Path(path).parent.name for path in holds(folder, b"confidential")} >= {"journal"}
    (tmp_path / "ids.txt").write_text("p1\np2\np3\n")
    more = ["--retrain"] if retrain else []
    assert call(["forget", str(folder), "--ids", str(tmp_path / "ids.txt"), *more]) == 0
    value = SECRET["size"]
    assert not holds(folder, b"confidential", b"0.8765432", np.float32(value).tobytes(), np.float64(value).tobytes())
    model = TableModel.load(folder)
    assert model.progress.rows == (140 if retrain else 142)
    assert model.forget(["p1", "p2"]) == 0
    assert len(list((folder / "serve" / "versions").iterdir())) == 1
    with one_model(folder) as served:  # nothing that was acknowledged is lost, and the others' labels may still come
        assert served.version == model.progress.rows
        assert "c1" in served.pending
        assert "p3" not in served.pending
        assert learn(served, [Item(None, "yes", "c1")]).rows == 1


def test_a_service_without_a_saved_model_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "model" / "serve").mkdir(parents=True)
    (tmp_path / "ids.txt").write_text("p1\n")
    assert call(["forget", str(tmp_path / "model"), "--ids", str(tmp_path / "ids.txt")]) == 2
    assert "no model yet" in capsys.readouterr().err
