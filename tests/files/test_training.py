"""Training that is stopped and goes on ends where one that never stopped does, to the last bit."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from files.made_tables import QUICK, csv_text, mixed_rows, text_rows, write_csv
from helpers import assert_same_state
from smartcl import train_stream
from smartcl.files.table_model import TableModel
from smartcl.saving.persistence import load_state, only_trainer

ROWS = 330


def csv_file(folder: Path, rows: list[dict[str, Any]]) -> Path:
    return write_csv(folder / "rows.csv", rows)


def packed_csv(folder: Path, rows: list[dict[str, Any]]) -> Path:
    path = folder / "rows.csv.gz"
    path.write_bytes(gzip.compress(csv_text(rows).encode()))
    return path


def jsonl(folder: Path, rows: list[dict[str, Any]]) -> Path:
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def parquet(folder: Path, rows: list[dict[str, Any]]) -> Path:
    import pyarrow as pa
    from pyarrow import parquet as pq

    path = folder / "rows.parquet"
    pq.write_table(pa.table({name: [str(row[name]) for row in rows] for name in rows[0]}), path, row_group_size=100)
    return path


def libsvm(folder: Path, rows: list[dict[str, Any]]) -> Path:
    path = folder / "rows.libsvm"
    path.write_text("".join(f"{row['kind']} 1:{row['size'] or 0} {7 if row['sold'] else 9}:1\n" for row in rows))
    return path


WRITERS = (csv_file, packed_csv, jsonl, parquet, libsvm)


@pytest.mark.parametrize("write", WRITERS, ids=lambda write: write.__name__)
def test_stopped_anywhere_it_goes_on_bit_for_bit(write: Callable[..., Path], tmp_path: Path) -> None:
    path = write(tmp_path, mixed_rows(ROWS))
    whole = train_once(path, tmp_path / "whole")
    cut = tmp_path / "cut"
    stops = [1, 2, 1]
    for stop in stops:
        batches = 0

        def after(model: TableModel, stop: int = stop) -> bool:
            nonlocal batches
            batches += 1
            return batches == stop

        train_once(path, cut, resume=True, watch=after)
        assert TableModel.load(cut).progress.rows < ROWS
    ended = train_once(path, cut, resume=True)
    assert ended.progress == whole.progress
    assert_same_state(load_state(cut), load_state(tmp_path / "whole"))


def test_text_too_and_more_rows_than_the_memory_holds(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "mail.csv", text_rows(400))
    whole = train_once(path, tmp_path / "whole", label="label")
    train_once(path, tmp_path / "cut", label="label", watch=lambda model: model.progress.rows == 150)
    train_once(path, tmp_path / "cut", label="label", resume=True)
    assert_same_state(load_state(tmp_path / "cut"), load_state(tmp_path / "whole"))
    assert len(whole.classifier.memory_) < 400
    assert whole.schema.of_kind("text")
    assert whole.scores_.accuracy is not None
    assert whole.scores_.accuracy > 0.8


def test_a_reader_that_fails_leaves_what_was_learned(tmp_path: Path) -> None:
    path = packed_csv(tmp_path, mixed_rows(3000))
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(ValueError, match=r"rows\.csv\.gz is damaged, or was cut off"):
        train_once(path, tmp_path / "cut")
    learned = TableModel.load(tmp_path / "cut").progress.rows
    assert 0 < learned < 3000
    path.write_bytes(data)
    train_once(path, tmp_path / "whole")
    ended = train_once(path, tmp_path / "cut", resume=True)
    assert ended.progress.rows == 3000
    assert_same_state(load_state(tmp_path / "cut"), load_state(tmp_path / "whole"))


def test_a_file_is_never_learned_twice_and_new_ones_are(tmp_path: Path) -> None:
    rows = mixed_rows(300)
    first, second = write_csv(tmp_path / "a.csv", rows[:200]), write_csv(tmp_path / "b.csv", rows[200:])
    out = tmp_path / "model"
    assert train_once(first, out).progress.rows == 200
    assert train_once(first, out, resume=True).progress.rows == 200
    assert train_once([first, second], out, resume=True).progress.rows == 300
    with first.open("a") as file:
        file.write(csv_text(rows[:7]).partition("\n")[2])
    assert train_once([first, second], out, resume=True).progress.rows == 307
    write_csv(first, rows[50:])
    with pytest.raises(ValueError, match=r"a\.csv is not the file that was read before"):
        train_once(first, out, resume=True)


def test_one_trainer_at_a_time(tmp_path: Path) -> None:
    path, out = csv_file(tmp_path, mixed_rows(60)), tmp_path / "model"
    with only_trainer(out), pytest.raises(ValueError, match="another process is training the model"):
        train_once(path, out)
    train_once(path, out)
    with pytest.raises(ValueError, match="holds a model: add --resume"):
        train_once(path, out)


def train_once(source: Any, out: Path, label: str = "kind", **options: Any) -> TableModel:
    options = {"memory": "4kB", "random_state": 0, **QUICK, **options}
    return train_stream(source, label, out=out, **options)
