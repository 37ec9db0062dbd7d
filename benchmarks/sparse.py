"""The same run on sparse input and on the same input made dense: CPU time of identical batches, a process for each.

In one process each would find the heap as the other left it.
"""

from __future__ import annotations

import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from itertools import islice
from multiprocessing import get_context

import torch

from benchmarks.timing import report
from smartcl.extend import Batch, build_learner
from smartcl.paper.datasets.dataset_registry import load_stream
from smartcl.paper.datasets.downloads import FetchError

#: What is wanted, batches that fill the memory before any is timed (one step each; the last, which makes room for what
#: all steps need, as usual), and batches timed. A whole dense run of newsgroups would take ten minutes.
RUNS = {"civil-brazil": (">= 1.4", 0, 48), "newsgroups": (">= 10", 20, 6)}


def dense(batch: Batch) -> Batch:
    return replace(batch, x=torch.from_numpy(batch.x.toarray()))


def seconds_per_batch(name: str, sparse: bool, warm: int, timed: int) -> tuple[int, float]:
    """The number of features, and the CPU seconds of a batch."""
    torch.set_num_threads(1)
    stream = load_stream(name)
    learner = build_learner("smart", replace(stream.spec, sparse=sparse), "300 samples")
    usual, seconds = learner.recipe, 0.0
    for number, batch in enumerate(islice(stream, warm + timed)):
        shown = batch if sparse else dense(batch)
        learner.recipe = usual if number >= warm - 1 else replace(usual, iterations=1)
        start = time.process_time()
        learner.observe(shown)
        if number >= warm:
            seconds += time.process_time() - start
    return stream.n_features, seconds / timed


def in_own_process(name: str, sparse: bool, warm: int, timed: int) -> tuple[int, float]:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(seconds_per_batch, name, sparse, warm, timed).result()


if __name__ == "__main__":
    lines = []
    for name, (wanted, warm, timed) in RUNS.items():
        try:
            (n_features, slow), (_, fast) = (in_own_process(name, sparse, warm, timed) for sparse in (False, True))
        except FetchError as error:
            print(f"{name} skipped: {str(error).splitlines()[0]}", file=sys.stderr)
            continue
        what = f"{name}, {n_features:,} features, batches {warm + 1} to {warm + timed}"
        lines += [
            (f"{what}: dense / sparse, CPU time", slow / fast, wanted),
            (f"{name}: CPU seconds a batch, dense", slow, "-"),
            (f"{name}: CPU seconds a batch, sparse", fast, "-"),
        ]
    report(*lines)
