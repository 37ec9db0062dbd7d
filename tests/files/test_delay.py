"""Labels that come later: what is known when a row is answered, stops on the way, and rows forgotten meanwhile."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from files.made_tables import mixed_rows, text_rows, write_csv
from helpers import assert_same_state
from smartcl import TableModel, train_stream
from smartcl.columns.row_encoder import TableRows
from smartcl.saving.persistence import load_state

QUICK: dict[str, Any] = {"members": ["ridge"], "memory": "20kB", "random_state": 0}


@pytest.mark.parametrize("delay", [1, 50, 120])
def test_the_simplest_rules_know_no_label_before_it_is_due(tmp_path: Path, delay: int) -> None:
    rows = mixed_rows(400)
    model = train_stream(write_csv(tmp_path / "rows.csv", rows), "kind", delay=delay, **QUICK)
    labels = [row["kind"] for row in rows]
    size, right, asked = min(50, delay), 0, 0
    known = 0
    for first in range(0, 400, size):
        part = labels[first : first + size]
        if known:
            asked += len(part)
            right += sum(label == labels[known - 1] for label in part)
        while first + len(part) - known >= delay:
            known += size
    scores = model.scores_
    assert scores.rows == asked
    assert scores.last == pytest.approx(right / asked)
    assert model.progress.rows == 400
    assert not model.waiting


@pytest.mark.parametrize("kind", ["mixed", "text"])
def test_a_training_that_stops_goes_on_with_the_rows_that_wait(tmp_path: Path, kind: str) -> None:
    rows, label = (mixed_rows(400), "kind") if kind == "mixed" else (text_rows(400), "label")
    path = write_csv(tmp_path / "rows.csv", rows)
    settings = {**QUICK, **({"members": "ridge"} if kind == "mixed" else {}), "delay": 130}
    settings.pop("members") if kind == "text" else None
    train_stream(path, label, out=tmp_path / "whole", **settings)
    cut = tmp_path / "cut"
    train_stream(path, label, out=cut, watch=lambda model: model.progress.rows == 150, **settings)
    loaded = TableModel.load(cut)
    assert sum(map(len, loaded.waiting)) == 100
    assert loaded.delay == 130
    train_stream(path, label, out=cut, resume=True)
    assert_same_state(load_state(cut), load_state(tmp_path / "whole"))


def test_a_row_that_waits_can_be_forgotten(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "rows.csv", mixed_rows(400))
    settings = {**QUICK, "delay": 200}
    model = train_stream(path, "kind", id="id", watch=lambda model: model.progress.rows == 100, **settings)
    waiting = sum(map(len, model.waiting))
    assert waiting == 150
    known = str(model.waiting[0].ids[3])
    assert model.forget([known, "row-5"]) == 2
    assert sum(map(len, model.waiting)) == waiting - 1
    model.save(tmp_path / "model")
    again = TableModel.load(tmp_path / "model")
    assert [batch.labels for batch in again.waiting] == [batch.labels for batch in model.waiting]
    assert known not in {name for batch in again.waiting for name in batch.ids or ()}
    learned = again.catch_up()
    assert sum(map(len, learned)) == waiting - 1
    assert again.progress.rows == 100 + waiting - 1


def test_answers_that_wait_are_those_that_were_given(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "rows.csv", mixed_rows(300))
    model = train_stream(path, "kind", delay=100, watch=lambda model: model.progress.rows == 100, **QUICK)
    batch = model.waiting[-1]
    rows = TableRows(None, model.encoder, batch.made)
    # nothing was learned since the last batch was answered but what was due then
    assert batch.probabilities is not None
    assert batch.probabilities.shape == (50, 2)
    assert not np.allclose(batch.probabilities, model.classifier.predict_proba(rows))
