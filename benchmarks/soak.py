"""Long streams: does a model grow, does it slow down, does it keep to its budget?

A million sparse rows go through ``train`` in 4 MB. By default, on dense rows in 100 kB: 100,000 rows one a call, and
1,000,000 in calls of 10,000. ``python -m benchmarks.soak [--part train|single|calls] [ROWS]`` runs one part, and takes
fewer rows; the memory of ``train`` is then as much smaller, so that it is full as early.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch

from benchmarks.timing import report
from smartcl import SmartClassifier
from smartcl.files.table_model import TableModel
from smartcl.files.training import train_stream

ROWS, NONZEROS, FEATURES, BATCH = 1_000_000, 20, 100_000, 1000
MEMORY_NBYTES_PER_ROW = 4
SETTINGS = {"hidden": (32,), "iterations": 1, "random_state": 0}


def write(path: Path, rows: int) -> None:
    """Rows in LIBSVM's format; the first feature of each tells its label."""
    rng = np.random.default_rng(0)
    with path.open("w") as file:
        for _ in range(0, rows, 1000):
            ids = np.sort(rng.integers(10, FEATURES, (1000, NONZEROS)), axis=1)
            labels = rng.integers(0, 2, 1000)
            lines = (
                f"{label} {1 + 2 * label}:1 " + " ".join(f"{number}:1" for number in row)
                for label, row in zip(labels.tolist(), ids.tolist(), strict=True)
            )
            print("\n".join(lines), file=file)


def resident_nbytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def soak(rows: int, folder: Path, batch: int = BATCH) -> list[tuple[str, float, str]]:
    """Train on so many rows; the figures."""
    path = folder / "rows.libsvm"
    write(path, rows)
    tenths: list[list[tuple[float, int]]] = [[] for _ in range(10)]
    worst = 0.0
    last = time.process_time()

    def watch(model: TableModel) -> bool:
        nonlocal worst, last
        now, memory = time.process_time(), model.classifier.memory_
        tenth = min(9, (model.progress.rows - 1) * 10 // rows)
        tenths[tenth].append((now - last, resident_nbytes()))
        worst, last = max(worst, memory.store.nbytes / memory.budget.nbytes), now
        if model.progress.rows % 50_000 == 0:
            print(f"{model.progress.rows:,} rows, {memory}", file=sys.stderr, flush=True)
        return False

    memory = MEMORY_NBYTES_PER_ROW * rows
    model = train_stream(path, "label", memory=memory, out=folder / "model", watch=watch, batch_size=batch, **SETTINGS)
    seconds = [sum(second for second, _ in tenth) for tenth in tenths]
    held = [float(np.mean([nbytes for _, nbytes in tenth])) for tenth in tenths]
    return [
        ("resident memory of the last tenth / second tenth", held[9] / held[1], "<= 1.05"),
        ("processor time of the last tenth / second tenth", seconds[9] / seconds[1], "<= 1.1"),
        ("largest share of the budget held", worst, "<= 1"),
        ("rows learned", float(model.progress.rows), f"{ROWS:,}"),
        ("milliseconds per row", 1e3 * sum(seconds) / rows, "-"),
        ("accuracy before learning", model.scores_.accuracy or 0.0, "-"),
    ]


def calls(rows: int, size: int) -> list[tuple[str, float, str]]:
    """Predict and learn this number of dense rows in calls of this size, by default; figures by tenths of the stream.

    The label follows a curve in two of six features that turns slowly; one label in ten is wrong.
    """
    rng, model = np.random.default_rng(0), SmartClassifier("100kB", random_state=0)
    seconds, held, right, worst = [], [], 0, 0.0
    for tenth in range(10):
        spent, resident = 0.0, []
        for first in range(tenth * rows // 10, (tenth + 1) * rows // 10, 10_000):
            count = min(10_000, (tenth + 1) * rows // 10 - first)
            x, turn = rng.normal(size=(count, 6)), 2 * np.pi * (first + np.arange(count)) / rows
            y = (np.cos(turn) * x[:, 0] + np.sin(turn) * x[:, 1] + x[:, 2] * x[:, 3] > 0) ^ (rng.random(count) < 0.1)
            for begin in range(0, count, size):
                part = slice(begin, begin + size)
                start = time.process_time()
                if first + begin:
                    right += int((model.predict(x[part]) == y[part]).sum())
                model.partial_fit(x[part], y[part], classes=[False, True])
                spent += time.process_time() - start
            memory = model.memory_
            resident.append(resident_nbytes())
            worst = max(worst, memory.nbytes / memory.budget.nbytes)
        seconds.append(spent)
        held.append(float(np.mean(resident)))
        print(f"tenth {tenth + 1}: {spent:.1f} s, {held[-1] / 1e6:.0f} MB", file=sys.stderr, flush=True)
    what = f"{rows:,} rows, {size:,} a call"
    return [
        (f"{what}: resident memory of the last tenth / second tenth", held[9] / held[1], "<= 1.05"),
        (f"{what}: processor time of the last tenth / second tenth", seconds[9] / seconds[1], "<= 1.1"),
        (f"{what}: largest share of the budget held", worst, "<= 1"),
        (f"{what}: milliseconds to predict and learn a row", 1e3 * sum(seconds) / rows, "-"),
        (f"{what}: accuracy before learning", right / rows, "-"),
    ]


def main() -> None:
    """All parts, or the one that is asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak")
    parser.add_argument("--part", choices=("train", "single", "calls"))
    parser.add_argument("rows", type=int, nargs="?")
    asked = parser.parse_args()
    lines: list[tuple[str, float, str]] = []
    if asked.part in (None, "train"):
        with tempfile.TemporaryDirectory() as root:
            lines += soak(asked.rows or ROWS, Path(root))
    if asked.part in (None, "single"):
        lines += calls(asked.rows or 100_000, 1)
    if asked.part in (None, "calls"):
        lines += calls(asked.rows or ROWS, 10_000)
    report(*lines)


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
