"""Inputs that can be read only once, and files that take each other's place while they are read."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from made_tables import csv_text, mixed_rows

from smartcl import SmartClassifier, TableModel, train_stream
from smartcl.cli.app import call
from smartcl.columns.recognise import Told
from smartcl.files.file_source import FileSource
from smartcl.files.training import Checkpoints, Training

SMARTCL = [sys.executable, "-m", "smartcl"]
QUICK: dict[str, Any] = {"method": "smart", "hidden": (4,), "iterations": 1, "memory": "20kB", "random_state": 0}
OPTIONS = ["--method", "smart", "--set", "hidden=4", "--set", "iterations=1", "--memory", "20kB"]


def pipe_of(path: Path, data: bytes) -> Path:
    """A named pipe that somebody writes these bytes to, once."""
    path.unlink(missing_ok=True)
    os.mkfifo(path)

    def write() -> None:
        with path.open("wb") as file:
            file.write(data)

    threading.Thread(target=write, daemon=True).start()
    return path


Run = Callable[..., str]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command in the test's folder; what it prints."""
    monkeypatch.chdir(tmp_path)

    def ran(*arguments: str) -> str:
        code, said = call(arguments), capsys.readouterr()
        assert code == 0, said.err
        return said.out

    return ran


@pytest.mark.parametrize("packed", [False, True])
def test_a_named_pipe_is_a_file_like_any_other(packed: bool, tmp_path: Path, run: Run) -> None:
    data = csv_text(mixed_rows(120)).encode()
    given = gzip.compress(data) if packed else data
    (tmp_path / "rows.csv").write_bytes(data)
    name = "rows.pipe" + (".gz" if packed else "")
    pipe_of(tmp_path / name, given)
    said = run("train", name, "--label", "kind", "--out", "m", *OPTIONS, "--json")
    assert json.loads(said)["rows"] == 120
    pipe_of(tmp_path / name, given)
    answers = run("predict", "m", "rows.csv")
    assert run("predict", "m", name) == answers
    pipe_of(tmp_path / name, given)
    assert json.loads(run("evaluate", "m", name, "--json"))["rows"] == 120
    pipe_of(tmp_path / name, given)  # what comes from a pipe is new
    assert json.loads(run("train", name, "--out", "m", "--resume", "--json"))["rows"] == 240


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_what_a_shell_gives_for_a_command_can_be_read(ending: str, tmp_path: Path) -> None:
    rows = mixed_rows(80)
    text = csv_text(rows) if ending == "csv" else "".join(json.dumps(row, default=str) + "\n" for row in rows)
    (tmp_path / f"rows.{ending}").write_text(text)
    line = f"{' '.join(SMARTCL)} train <(cat rows.{ending}) --label kind --out m --json {' '.join(OPTIONS)}"
    done = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["rows"] == 80


def test_ids_may_come_from_a_pipe(tmp_path: Path, run: Run) -> None:
    rows = [{"nr": number, "size": number % 7, "kind": "ab"[number % 7 > 3]} for number in range(60)]
    train_stream(rows, "kind", id="nr", out=tmp_path / "m", **QUICK)
    pipe_of(tmp_path / "gone", b"3\n4\n")
    assert json.loads(run("forget", "m", "--ids", "gone", "--json"))["forgotten"] == 2


def test_parquet_in_a_pipe_is_refused_before_it_is_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "rows.parquet")
    with pytest.raises(ValueError, match="Parquet cannot be read from a pipe"):
        FileSource((str(tmp_path / "rows.parquet"),))


def lines(first: int, last: int) -> str:
    return "size,kind\n" + "".join(f"{n % 7},{'ab'[n % 7 > 3]}\n" for n in range(first, last))


def wait_until(condition: Any, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.02)


def test_who_follows_reads_the_file_that_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    """As log files are rotated: renamed, for a while not there, then there anew, while the old one is still written."""
    path, learned = tmp_path / "rows.csv", [0]

    def rotate() -> None:
        for turn in range(3):
            wait_until(lambda turn=turn: learned[0] >= 50 + 100 * turn)
            with path.open("a") as old:
                path.rename(tmp_path / f"rows.csv.{turn}")
                time.sleep(0.3)
                path.touch()
                old.write(lines(0, 50).partition("\n")[2])
                old.flush()
                time.sleep(0.5)
            path.write_text(lines(0, 50))

    path.write_text(lines(0, 50))
    source = FileSource((str(path),), follow=True)
    rotating = threading.Thread(target=rotate, daemon=True)
    rotating.start()

    def watch(model: TableModel) -> bool:
        learned[0] = model.progress.rows
        return model.progress.rows >= 350

    settings = {name: value for name, value in QUICK.items() if name != "memory"}
    training = Training(source, Told("kind"), SmartClassifier("20kB", **settings), Checkpoints(tmp_path / "m"))
    model = training.run(watch)
    rotating.join()
    assert model.progress.rows == 350  # four files, the first three with 50 more after they were renamed
    assert not model.progress.skipped
    # what was saved goes on in the newest file, from where it was read to
    with path.open("a") as file:
        file.write(lines(0, 30).partition("\n")[2])
    assert train_stream(path, out=tmp_path / "m", resume=True).progress.rows == 380


def test_a_last_line_without_an_end_is_learned_when_its_file_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(lines(0, 49) + "3,a")
    blocks = FileSource((str(path),), follow=True).blocks({})

    def replace() -> None:
        time.sleep(0.5)
        (tmp_path / "new.csv").write_text(lines(0, 10))
        (tmp_path / "new.csv").replace(path)

    threading.Thread(target=replace, daemon=True).start()
    counts = []
    while sum(counts) < 60:
        counts.append(next(blocks).parse(None).count)
    assert sum(counts) == 60


def test_ctrl_c_ends_who_waits_for_a_file_that_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(lines(0, 100))
    command = [*SMARTCL, "train", str(path), "--label", "kind", "--out", str(tmp_path / "m"), "--follow", *OPTIONS]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        wait_until(lambda: (tmp_path / "m" / "model.json").exists())
        path.rename(tmp_path / "old.csv")
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted after 100 rows" in said
