"""A disk that is full, then larger, then read-only: one line each time, and the last checkpoint is whole.

A small ``tmpfs`` stands for the disk, which takes the right to mount one. A training that ran out of room and goes on
when there is some ends in the model of one that always had it, bit for bit.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.attack.models import difference, fingerprint
from benchmarks.attack.train_kills import write_rows
from benchmarks.attack.trained_folders import called
from benchmarks.attack.tries import NEVER, REFUSED, SURVIVED, FaultError, Findings, run
from smartcl import SmartClassifier, TableModel

ROWS, ROOM = 1000, 16 << 20
OPTIONS = ("--label", "label", "--memory", "60kB", "--set", "hidden=8", "--set", "iterations=1")
OFTEN = ("--checkpoint-rows", "100")


def attack(tries: int, *, seed: int = 0, until: float = NEVER) -> Findings:
    """Train on that many disks of different sizes, from too small for a model to large enough for all."""
    if os.geteuid():
        raise PermissionError("to mount a small disk one has to be root")
    with tempfile.TemporaryDirectory() as root:
        path, whole = Path(root) / "rows.csv", Path(root) / "whole"
        write_rows(path, ROWS, np.random.default_rng(seed))
        if called(["train", str(path), "--out", str(whole), *OPTIONS, *OFTEN])[0]:
            raise RuntimeError("a training with room enough is refused")
        needed = sum(file.stat().st_size for file in whole.rglob("*") if file.is_file())
        attempt = partial(_attempt, path, fingerprint(SmartClassifier.load(whole)), needed)
        return run(attempt, range(seed, seed + tries), until=until)


def _attempt(path: Path, whole: object, needed: int, seed: int) -> str:
    room = int(np.random.default_rng(seed).uniform(0.1, 2.5) * needed)
    with _disk(room) as disk:
        folder = disk / "model"
        train = ["train", str(path), "--out", str(folder), *OPTIONS, *OFTEN, "--resume"]
        full = _told(train, "a full disk")
        if (folder / "model.json").exists():
            TableModel.load(folder)
        _remount(disk, f"size={ROOM}")
        if _told(train, "room again"):
            raise FaultError("a training did not go on with room again")
        found = difference(whole, fingerprint(SmartClassifier.load(folder)))
        if found:
            raise FaultError("the training that ran out of room ended elsewhere", str(found))
        _remount(disk, "ro")
        before = (folder / "model.json").read_bytes()
        if not _told(train, "a read-only disk") or (folder / "model.json").read_bytes() != before:
            raise FaultError("a read-only disk was not refused")
        if _told(["predict", str(folder), str(path)], "reading from a read-only disk"):
            raise FaultError("a model on a read-only disk cannot be read")
    return REFUSED if full else SURVIVED


def _told(arguments: list[str], what: str) -> int:
    """The exit code: 0, or 1 with one line that is no defect."""
    code, _, said = called(arguments)
    lines = [line for line in said.splitlines() if not line.startswith("smartcl: note: ")]
    if code not in (0, 1) or len(lines) != code or "a defect" in said:
        raise FaultError(f"exit code {code}", f"{what}; {said[:200]}")
    return code


@contextmanager
def _disk(room: int) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as root:
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={room}", "tmpfs", root], check=True)
        try:
            yield Path(root)
        finally:
            subprocess.run(["umount", root], check=True)


def _remount(disk: Path, option: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{option}", str(disk)], check=True)
