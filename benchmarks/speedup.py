"""Ten seeds of one cell of Table 1 on two processes against one: what a second core is worth."""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.timing import report
from smartcl.paper.experiments.catalogue import TABLES
from smartcl.paper.experiments.engines.local import LocalEngine
from smartcl.paper.experiments.results import ResultFolder
from smartcl.paper.experiments.sweep import sweep

SEEDS = 10


def seconds(workers: int) -> float:
    """From nothing to ten results on disk, processes started and stopped."""
    table = TABLES["table1"]
    row = next(row for row in table.rows if row.method == "smart")
    with TemporaryDirectory() as folder:
        start = time.perf_counter()
        specs = [table.spec(row, "300", seed) for seed in range(SEEDS)]
        failures = sweep(specs, ResultFolder(Path(folder)), LocalEngine(workers))
        assert not failures, failures
        return time.perf_counter() - start


if __name__ == "__main__":
    one, two = seconds(1), seconds(2)
    report(("ten seeds of one cell: two processes / one process", two / one, "<= 0.6"))
