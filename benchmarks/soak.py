"""A million sparse rows through ``train`` in 4 MB: does it grow, does it slow down, does it keep to its budget?

``python -m benchmarks.soak ROWS`` takes fewer rows, and a memory as much smaller, so that it is full as early.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch

from benchmarks.timing import report
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


if __name__ == "__main__":
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as root:
        report(*soak(int(sys.argv[1]) if len(sys.argv) > 1 else ROWS, Path(root)))
