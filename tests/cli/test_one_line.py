"""Whatever goes wrong is one line that fits the screen, and the exit code says whose fault it is."""

from __future__ import annotations

import errno
import os
import sys

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from smartcl.cli.app import call
from smartcl.cli.one_line import LEAST_COLUMNS, LOG_COLUMNS, one_line, screen_columns, verdict
from smartcl.paper.datasets.downloads import FetchError

anything = st.text(st.characters(codec=None), max_size=400)


@given(st.lists(anything, max_size=6).map(" ".join), st.integers(40, 200))
def test_any_text_becomes_one_printable_line_of_the_width(text: str, columns: int) -> None:
    line = one_line(text, columns)
    assert cell_len(line) <= columns
    assert line.isprintable()


@given(st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=30), st.integers(60, 200))
def test_what_fits_is_left_alone(text: str, columns: int) -> None:
    assert one_line(text, columns) == text


def test_a_long_path_gives_way_before_the_sentence() -> None:
    path = "/home/" + "folder/" * 40 + "counts.csv"
    line = one_line(f"{path}, line 7, column 'day': expected an ISO date such as 2014-03-01, got 'x'", 100)
    assert line.startswith("/home/folder")
    assert line.endswith("/counts.csv, line 7, column 'day': expected an ISO date such as 2014-03-01, got 'x'")


def test_the_screen_is_the_terminal_or_what_columns_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert screen_columns() == LOG_COLUMNS
    monkeypatch.setattr(sys.stderr, "fileno", lambda: 2)
    monkeypatch.setattr(os, "get_terminal_size", lambda _: os.terminal_size((91, 20)))
    assert screen_columns() == 91
    monkeypatch.setenv("COLUMNS", "70")
    assert screen_columns() == 70
    for odd in ("wide", "0", "-5", "³"):
        monkeypatch.setenv("COLUMNS", odd)
        assert screen_columns() == 91
    monkeypatch.setenv("COLUMNS", "3")
    assert screen_columns() == LEAST_COLUMNS


@pytest.mark.parametrize("columns", [40, 80, 132])
@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "--dataset", "x" * 5000],
        ["run", "--dataset", "mnist"],
        ["run", "--memory", "火" * 900],
        ["run", "--set", "hidden=" + "(" * 90_000],
        ["events", "--counts", "/nowhere" * 30 + ".csv", "--events", "e.csv"],
        ["lern" * 300],
        ["methods", *["surplus"] * 300],
    ],
)
def test_no_error_is_longer_than_the_screen(
    arguments: list[str], columns: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    assert call(arguments) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("smartcl: ")
    assert 20 < cell_len(line) <= columns


VERDICTS = {
    "missing": (FileNotFoundError(errno.ENOENT, "No such file or directory", "a.csv"), 2, "a.csv: No such file"),
    "folder": (IsADirectoryError(errno.EISDIR, "Is a directory", "a"), 2, "a: Is a directory"),
    "long name": (OSError(errno.ENAMETOOLONG, "File name too long", "a"), 2, "a: File name too long"),
    "locked": (PermissionError(errno.EACCES, "Permission denied", "a.csv"), 1, "a.csv: Permission denied"),
    "full": (OSError(errno.ENOSPC, "No space left on device"), 1, "No space left on device"),
    "bare": (ConnectionError("no Ray cluster answered"), 1, "no Ray cluster answered"),
    "network": (FetchError("the source did not answer"), 1, "the source did not answer"),
    "memory": (MemoryError("Unable to allocate 7 TiB"), 1, "not enough memory: Unable to allocate 7 TiB"),
    "nobody reads": (BrokenPipeError(), 1, None),
    "defect": (ZeroDivisionError("division by zero"), 1, "a defect of smartcl"),
}


@pytest.mark.parametrize("case", VERDICTS)
def test_the_exit_code_says_whose_fault_it_is(case: str) -> None:
    error, code, said = VERDICTS[case]
    got = verdict(error)
    assert got[0] == code
    assert got[1] is None if said is None else (got[1] or "").startswith(said)


def test_torch_out_of_memory_is_told_as_that() -> None:
    with pytest.raises(RuntimeError) as refused:
        torch.zeros(1 << 60, dtype=torch.uint8)
    assert verdict(refused.value)[0] == 1
    assert "not enough memory" in str(verdict(refused.value)[1])


def test_a_defect_is_one_line_and_a_traceback_only_if_asked(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise KeyError("layers\nof\nbugs")

    monkeypatch.setattr("smartcl.paper.commands.run_command.prepare_run", fail)
    assert call(["run"]) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "Traceback" not in said
    assert "a defect of smartcl (SMARTCL_TRACEBACK=1 shows where): KeyError" in said
    monkeypatch.setenv("SMARTCL_TRACEBACK", "1")
    assert call(["run"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_results_that_are_not_finite_are_no_json(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("smartcl.paper.experiments.task_run.PreparedRun.run", lambda *_: {"accuracy": float("nan")})
    assert call(["run", "--dataset", "disjoint-digits", "--json"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "the result holds NaN or infinity" in captured.err
