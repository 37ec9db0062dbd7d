"""A training that is killed again and again ends in the model of one that never was, bit for bit.

``smartcl train`` runs in a process of its own, is killed with SIGKILL at a random moment and started again with
``--resume``. After each kill the folder holds a whole model, or none yet.
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import numpy as np

from benchmarks.attack.models import difference, fingerprint
from benchmarks.attack.tries import NEVER, SURVIVED, FaultError, Findings, first_line, scratch
from smartcl import SmartClassifier
from smartcl.cli.app import call
from smartcl.files.table_model import TableModel

ROWS, COLUMNS = 20_000, 12
OPTIONS = ("--memory", "50kB", "--set", "hidden=24", "--set", "iterations=1", "--checkpoint-rows", "200")


def attack(tries: int, rows: int = ROWS, *, seed: int = 0, until: float = NEVER) -> Findings:
    """Kill one training that many times; each kill is a try, and so is the comparison at the end."""
    findings = Findings()
    rng = np.random.default_rng(seed)
    with scratch() as root:
        path, whole, killed = Path(root) / "rows.csv", Path(root) / "whole", Path(root) / "killed"
        write_rows(path, rows, rng)
        begin = time.perf_counter()
        _finish(_started(path, whole))
        seconds = time.perf_counter() - begin
        for number in range(tries):
            if time.monotonic() > until:
                break
            findings.add(number, _kill_once(path, killed, float(rng.random()) * 2 * seconds / tries))
        _finish(_started(path, killed))
        findings.add("the end", _compared(whole, killed))
    return findings


def write_rows(path: Path, rows: int, rng: np.random.Generator) -> None:
    """Numbers, a category, a text and a label, with some rows that cannot be read."""
    names = [f"n{number}" for number in range(COLUMNS)]
    lines = [",".join((*names, "colour", "label"))]
    for row in rng.normal(size=(rows, COLUMNS)).round(3):
        cells = [*map(str, row), str(rng.choice(["red", "green", ""])), "up" if row[0] + row[1] > 0 else "down"]
        lines.append(",".join(cells[: None if rng.random() < 0.99 else 3]))
    path.write_text("\n".join(lines) + "\n")


def _started(path: Path, folder: Path) -> int:
    """The process that trains."""
    child = os.fork()
    if child:
        return child
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    os._exit(call(["train", str(path), "--label", "label", "--out", str(folder), "--resume", *OPTIONS]))


def _finish(child: int) -> None:
    _, status = os.waitpid(child, 0)
    if status:
        raise RuntimeError(f"a training that nobody disturbed ended with the status {status}")


def _kill_once(path: Path, folder: Path, seconds: float) -> str | FaultError:
    child = _started(path, folder)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        return FaultError("a training did not go on", f"exit code {os.WEXITSTATUS(status)}")
    if not (folder / "model.json").exists():
        return SURVIVED
    try:
        TableModel.load(folder)
    except Exception as error:
        return FaultError(f"the folder could not be read: {type(error).__name__}", first_line(error))
    return SURVIVED


def _compared(whole: Path, killed: Path) -> str | FaultError:
    models = [TableModel.load(folder) for folder in (whole, killed)]
    if models[0].progress.state_dict() != models[1].progress.state_dict():
        return FaultError("the killed training counted otherwise")
    states = [fingerprint(SmartClassifier.load(folder)) for folder in (whole, killed)]
    found = difference(*states)
    return FaultError("the killed training ended elsewhere", str(found)) if found else SURVIVED
