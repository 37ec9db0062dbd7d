"""A sparse stream with a million possible features: does the time per row stay flat, and does it fit?"""

from __future__ import annotations

import resource
import sys
import time

import numpy as np
import torch
from scipy import sparse

from benchmarks.timing import report
from smartcl.extend import Batch, InputSpec, build_learner

ROWS, FEATURES, NONZEROS, BATCH = 20_000, 1_000_000, 100, 50


def batches(rng: np.random.Generator):
    """Rows of 100 non-zeros anywhere among a million features; the first of them tells the label."""
    for _ in range(ROWS // BATCH):
        ids = rng.integers(20, FEATURES, (BATCH, NONZEROS))
        y = rng.integers(0, 2, BATCH)
        ids[:, 0] = y * 10 + rng.integers(0, 10, BATCH)
        indptr = np.arange(0, BATCH * NONZEROS + 1, NONZEROS)
        x = sparse.csr_array((np.ones(ids.size, np.float32), ids.ravel(), indptr), shape=(BATCH, FEATURES))
        x.sum_duplicates()
        yield Batch(x, torch.from_numpy(y))


if __name__ == "__main__":
    torch.set_num_threads(1)
    spec = InputSpec(FEATURES, 2, sparse=True)
    learner = build_learner("smart", spec, "4MB", hidden=(64,), iterations=5)
    seconds = []
    for number, batch in enumerate(batches(np.random.default_rng(0))):
        start = time.process_time()
        learner.observe(batch)
        seconds.append(time.process_time() - start)
        if number % 40 == 39:
            print(f"{(number + 1) * BATCH} rows, {learner.memory}", file=sys.stderr, flush=True)
    tenth = len(seconds) // 10
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    report(
        (
            "a million features: seconds per row, last tenth / first",
            sum(seconds[-tenth:]) / sum(seconds[:tenth]),
            "<= 1.2",
        ),
        ("peak memory of the process, GB", peak / 1e9, "< 4"),
        ("milliseconds per row (5 steps a batch)", 1e3 * sum(seconds) / ROWS, "-"),
        ("features seen", float(len(learner.model.network.table)), "-"),
    )
