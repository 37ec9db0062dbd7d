"""Answers to a million rows: does the process grow with them beyond the rows and the answers themselves?"""

from __future__ import annotations

import csv
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy import sparse

from benchmarks.timing import report
from smartcl import SmartClassifier

ROWS, FEATURES, NONZEROS = 1_000_000, 50, 5
FEW, TAUGHT = 50_000, 1000


def peak() -> int:
    """The most bytes that this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def rows_of(kind: str, count: int) -> np.ndarray | sparse.csr_array:
    rng = np.random.default_rng(0)
    if kind == "dense":
        return rng.random((count, FEATURES), dtype=np.float32)
    columns = rng.integers(0, FEATURES, count * NONZEROS, dtype=np.int32)
    values = np.ones(count * NONZEROS, dtype=np.float32)
    return sparse.csr_array((values, columns, np.arange(0, len(values) + 1, NONZEROS)), shape=(count, FEATURES))


def growth(kind: str) -> float:
    """By how many bytes the peak grows while a million rows that are there already are answered, less the answers."""
    x = rows_of(kind, ROWS)
    model = SmartClassifier(memory="100kB", hidden=(64,), random_state=0).fit(x[:500], np.arange(500) % 2)
    model.predict_proba(x[:FEW])
    before = peak()
    answers = model.predict_proba(x)
    return max(0, peak() - before - answers.nbytes)


def table(folder: Path, rows: int) -> str:
    """A file of so many rows of three numbers and a label."""
    path, rng = folder / f"{rows}.csv", np.random.default_rng(0)
    with path.open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["a", "b", "c", "y"])
        for part in range(0, rows, 10_000):
            values = rng.random((min(10_000, rows - part), 3)).round(3)
            lines.writerows([*row, "yes" if row[0] > row[1] else "no"] for row in values.tolist())
    return str(path)


def file_peak(folder: Path, rows: int) -> float:
    """The peak of ``smartcl predict`` on a file of so many rows."""
    model, command = folder / "model", [sys.executable, "-m", "smartcl"]
    if not model.exists():
        train = [*command, "train", table(folder, TAUGHT), "--label", "y", "--memory", "50kB", "--out", str(model)]
        subprocess.run(train, check=True, stdout=subprocess.DEVNULL)
    with (folder / "answers.csv").open("w") as out:
        subprocess.run([*command, "predict", str(model), table(folder, rows)], check=True, stdout=out)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024


if __name__ == "__main__":
    if sys.argv[1:]:
        print(json.dumps(growth(sys.argv[1])))
        sys.exit()
    lines = []
    for kind in ("dense", "sparse"):
        found = subprocess.run([sys.executable, "-m", "benchmarks.predicting", kind], check=True, capture_output=True)
        words = f"a million {kind} rows: megabytes held beyond rows and answers"
        lines.append((words, json.loads(found.stdout) / 1e6, "<= 100"))
    with tempfile.TemporaryDirectory() as name:
        few, many = (file_peak(Path(name), rows) for rows in (FEW, ROWS))
    lines.append(("smartcl predict, a file of a million rows / one of 50,000: peak memory", many / few, "<= 1.1"))
    report(*lines)
