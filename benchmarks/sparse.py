"""The same run on sparse input and on the same input made dense: CPU time of identical batches, taken in turns."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from itertools import islice

import torch

from benchmarks.timing import report
from smartcl import Batch, build_learner, load_stream
from smartcl.learners.learner import Learner
from smartcl.streams.chunks import FetchError
from smartcl.streams.stream import TaskStream

#: What is wanted, batches that fill the memory with one step each before any is timed, and batches timed. A whole dense
#: run of newsgroups would take ten minutes.
RUNS = {"civil-brazil": (">= 1.4", 0, 48), "newsgroups": (">= 10", 20, 3)}


def dense(batch: Batch) -> Batch:
    return replace(batch, x=torch.from_numpy(batch.x.toarray()))


def ratio(stream: TaskStream, warm: int, timed: int) -> tuple[float, float, float]:
    """CPU seconds per batch, dense and sparse, and the former over the latter."""
    specs = (replace(stream.spec, sparse=False), stream.spec)
    learners: list[Learner] = [build_learner("smart", spec, "300 samples") for spec in specs]
    usual, seconds = learners[0].recipe, [0.0, 0.0]
    for number, batch in enumerate(islice(stream, warm + timed)):
        for i, (learner, form) in enumerate(zip(learners, (dense(batch), batch), strict=True)):
            learner.recipe = usual if number >= warm else replace(usual, iterations=1)
            start = time.process_time()
            learner.observe(form)
            if number >= warm:
                seconds[i] += time.process_time() - start
    return seconds[0] / timed, seconds[1] / timed, seconds[0] / seconds[1]


if __name__ == "__main__":
    torch.set_num_threads(1)
    lines = []
    for name, (wanted, warm, timed) in RUNS.items():
        try:
            stream = load_stream(name)
        except FetchError as error:
            print(f"{name} skipped: {str(error).splitlines()[0]}", file=sys.stderr)
            continue
        slow, fast, times = ratio(stream, warm, timed)
        what = f"{name}, {stream.n_features:,} features, batches {warm + 1} to {warm + timed}"
        lines += [
            (f"{what}: dense / sparse, CPU time", times, wanted),
            (f"{name}: CPU seconds a batch, dense", slow, "-"),
            (f"{name}: CPU seconds a batch, sparse", fast, "-"),
        ]
    report(*lines)
