"""A sweep killed outright ten times at random and resumed prints, byte for byte, what an uninterrupted one prints."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

KILLS = 10
RUNS = 28

# starts the command line in a process group of its own whenever it is told to; the slow imports are done already
STARTER = """
import os, sys
from smartcl.cli.app import call
from smartcl.paper.commands import sweep_progress
from smartcl.paper.experiments import task_run
from smartcl.paper.experiments.engines import local
from smartcl.paper.experiments.catalogue import TABLES
from smartcl.paper.experiments.paper_tables import memory
from smartcl.paper.experiments.run_table import Row, Table

QUICK = {"hidden": (8,), "iterations": 1}
ROWS = (Row("ER", "er", QUICK, printed="ER"), Row("SMART", "smart", QUICK))
TABLES["small"] = Table(
    "small", "A small table", "disjoint-digits", ROWS, ("10", "20"), memory, {"ER": ((1.0, 0.1), (2.0, 0.2))}, 7
)

if __name__ == "__main__":
    for line in sys.stdin:
        folder, out = line.split()
        child = os.fork()
        if not child:
            os.setpgid(0, 0)
            for stream, name in ((1, out), (2, out + ".log")):
                os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
            code = call(["reproduce", "small", "--json", "--workers", "2", "--results", folder])
            sys.stdout.flush()
            os._exit(code)
        os.setpgid(child, child)
        print(child, flush=True)
        print(os.waitpid(child, 0)[1], flush=True)
"""


class Starter:
    """Starts sweeps, one at a time."""

    def __init__(self, folder: Path) -> None:
        script = folder / "starter.py"
        script.write_text(STARTER)
        command = [sys.executable, str(script)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def start(self, results: Path, out: Path) -> int:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{results} {out}\n")
        self.process.stdin.flush()
        return self.answer()

    def answer(self) -> int:
        assert self.process.stdout is not None
        return int(self.process.stdout.readline())

    def stop(self) -> None:
        self.process.communicate("")


@pytest.fixture
def starter(tmp_path: Path) -> Iterator[Starter]:
    starter = Starter(tmp_path)
    yield starter
    starter.stop()


def made(results: Path) -> dict[str, str]:
    """The line of each run that is there: a file of results is never half written."""
    path = results / "disjoint-digits.jsonl"
    return {json.loads(line)["key"]: line for line in path.read_text().splitlines()} if path.exists() else {}


def kill_at_random(child: int, results: Path, rng: random.Random) -> None:
    """Early, or after a few more results; the driver alone or with its workers."""
    enough = min(len(made(results)) + rng.randrange(3), RUNS - 1)
    while len(made(results)) < enough:
        os.kill(child, 0)  # fails if the sweep has ended by itself: it would be waited for without end
        time.sleep(0.01)
    time.sleep(rng.uniform(0, 0.3))
    (os.kill if rng.random() < 0.5 else os.killpg)(child, signal.SIGKILL)


def test_ten_kills_leave_the_table_as_it_is(tmp_path, starter):
    whole, killed, out = tmp_path / "whole", tmp_path / "killed", tmp_path / "out"
    rng, counts = random.Random(0), []
    for _ in range(KILLS):
        kill_at_random(starter.start(killed, out), killed, rng)
        assert starter.answer() == signal.SIGKILL
        counts.append(len(made(killed)))
    assert counts == sorted(counts)
    assert 0 < counts[-1] < RUNS
    before = made(killed)
    starter.start(killed, out)
    assert starter.answer() == 0
    resumed = out.read_bytes()
    starter.start(whole, out)
    assert starter.answer() == 0
    assert resumed == out.read_bytes()
    assert resumed.count(b'"n": 7') >= 4
    assert len(made(killed)) == RUNS
    assert made(killed).items() >= before.items()  # what was there was not made again: seconds are in the lines
