"""A file of runs: what several writers add is all there, in one order, and git's marks of a conflict do no harm."""

from __future__ import annotations

import json
import multiprocessing
import os
from pathlib import Path

import pytest

from smartcl.paper.experiments.run_lines import Line, RunLines

WRITERS, RUNS = 4, 12


def lines_in(folder: Path) -> RunLines[int]:
    return RunLines(folder / "runs.jsonl", name_of, lambda line: (line["run"],))


def name_of(line: Line) -> int | None:
    run = line.get("run")
    return run if isinstance(run, int) else None


def write(folder: Path, writer: int) -> None:
    for run in range(writer, RUNS, WRITERS):
        lines_in(folder).add({"run": run, "writer": writer})


def test_what_several_processes_add_is_all_there_and_in_order(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork" if os.name == "posix" else "spawn")
    processes = [context.Process(target=write, args=(tmp_path, writer)) for writer in range(WRITERS)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    lines = [json.loads(line) for line in (tmp_path / "runs.jsonl").read_text().splitlines()]
    assert lines == [{"run": run, "writer": run % WRITERS} for run in range(RUNS)]


def test_both_sides_of_a_conflict_are_kept(tmp_path: Path) -> None:
    (tmp_path / "runs.jsonl").write_text(
        '<<<<<<< ours\n{"run": 1, "a": 1}\n=======\n{"run": 2}\n{"run": 1, "a": 2}\n>>>>>>> theirs\n'
    )
    file = lines_in(tmp_path)
    assert dict(file.read()) == {1: {"run": 1, "a": 1}, 2: {"run": 2}}
    assert file.damaged == 3
    file.add({"run": 0})
    assert (tmp_path / "runs.jsonl").read_text() == '{"run":0}\n{"run":1,"a":1}\n{"run":2}\n'


def test_what_is_no_run_or_not_finite_changes_nothing(tmp_path: Path) -> None:
    file = lines_in(tmp_path)
    file.add({"run": 1})
    before = (tmp_path / "runs.jsonl").read_bytes()
    with pytest.raises(ValueError, match="takes no line such as"):
        file.add({"run": 2}, {"walk": 3})
    with pytest.raises(ValueError, match="JSON compliant"):
        file.add({"run": 2, "score": float("nan")})
    assert (tmp_path / "runs.jsonl").read_bytes() == before
    assert dict(file.read()) == {1: {"run": 1}}


def test_a_line_of_another_process_is_seen(tmp_path: Path) -> None:
    file, other = lines_in(tmp_path), lines_in(tmp_path)
    assert not file.read()
    other.add({"run": 1})
    assert list(file.read()) == [1]
