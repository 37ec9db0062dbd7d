"""Readers beside a training that saves all the time: ``predict`` and ``inspect`` never fail."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import numpy as np

from benchmarks.attack.train_kills import write_rows
from benchmarks.attack.trained_folders import called
from benchmarks.attack.tries import NEVER, SURVIVED, FaultError, Findings, scratch
from smartcl.cli.app import call

QUICK = ("--memory", "20kB", "--set", "hidden=8", "--set", "iterations=1", "--checkpoint-rows", "50")


def attack(tries: int, *, seed: int = 0, until: float = NEVER) -> Findings:
    """Read that many times while a training goes on and on."""
    findings = Findings()
    with scratch() as root:
        path, few, folder = Path(root) / "rows.csv", Path(root) / "few.csv", Path(root) / "model"
        write_rows(path, 2000, np.random.default_rng(seed))
        few.write_text("".join(path.read_text().splitlines(keepends=True)[:4]))
        trainer = _training(path, folder)
        try:
            while not (folder / "model.json").exists():
                time.sleep(0.01)
            for number in range(tries):
                if time.monotonic() > until:
                    break
                read = ["inspect", str(folder), "--json"] if number % 2 else ["predict", str(folder), str(few)]
                code, _, said = called(read)
                findings.add(number, FaultError(f"exit code {code}", said[:160]) if code else SURVIVED)
        finally:
            os.kill(trainer, signal.SIGKILL)
            os.waitpid(trainer, 0)
    return findings


def _training(path: Path, folder: Path) -> int:
    """The process that trains the same folder over and over."""
    child = os.fork()
    if child:
        return child
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    while call(["train", str(path), "--label", "label", "--out", str(folder), "--overwrite", *QUICK]) == 0:
        pass
    os._exit(1)
