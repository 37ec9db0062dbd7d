"""What keeping values in code, as precisely as matters, costs a learner: its CPU time, and how much of it is reading.

Two learners see the same batches in turns, in one process: ``smart`` as it is, and with values kept plainly.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from typing import Any, TypeVar

import torch

from benchmarks.timing import report
from smartcl.extend import Learner, build_learner
from smartcl.memory import SampleStore
from smartcl.paper.datasets.dataset_registry import load_stream
from smartcl.paper.datasets.downloads import FetchError

#: The memory, batches that fill it before any is timed (one step each), and batches timed, to the end of the stream.
RUNS = {"disjoint-mnist": ("100 samples", 84, 16), "newsgroups": ("256kB", 36, 3)}
PRECISIONS = ("auto", "plain")

Read = TypeVar("Read")


class Clock:
    """The CPU seconds of all calls of a function."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def timed(self, function: Callable[..., Read]) -> Callable[..., Read]:
        def call(*arguments: Any, **named: Any) -> Read:
            start = time.process_time()
            try:
                return function(*arguments, **named)
            finally:
                self.seconds += time.process_time() - start

        return call


def measure(name: str) -> list[tuple[str, float, str]]:
    memory, warm, timed = RUNS[name]
    stream = load_stream(name)
    learners = {precision: build_learner("smart", stream.spec, memory, precision=precision) for precision in PRECISIONS}
    usual = next(iter(learners.values())).recipe
    clocks = {precision: Clock() for precision in PRECISIONS}
    reading = {precision: Clock() for precision in PRECISIONS}
    gather = SampleStore.gather
    for number, batch in enumerate(islice(stream, warm + timed)):
        for precision, learner in learners.items():
            learner.recipe = usual if number >= warm - 1 else replace(usual, iterations=1)
            if number < warm:
                learner.observe(batch)
                continue
            SampleStore.gather = reading[precision].timed(gather)  # type: ignore[method-assign]
            clocks[precision].timed(Learner.observe)(learner, batch)
            SampleStore.gather = gather  # type: ignore[method-assign]
    auto, plain = (clocks[precision].seconds for precision in PRECISIONS)
    held = {precision: len(learner.memory) for precision, learner in learners.items()}
    what = f"{name}, {memory}"
    return [
        (f"{what}: CPU of batches {warm + 1} to {warm + timed}, auto / plain", auto / plain, "<= 1.15"),
        (f"{what}: CPU seconds a batch, auto", auto / timed, "-"),
        (f"{what}: share of it for reading what is held, auto, %", 100 * reading["auto"].seconds / auto, "<= 10"),
        (f"{what}: the same, plain, %", 100 * reading["plain"].seconds / plain, "-"),
        (f"{what}: samples held, auto / plain", held["auto"] / held["plain"], "-"),
    ]


if __name__ == "__main__":
    torch.set_num_threads(1)
    found: list[tuple[str, float, str]] = []
    for name in RUNS:
        try:
            found += measure(name)
        except FetchError as error:
            print(f"{name} skipped: {str(error).splitlines()[0]}", file=sys.stderr)
    report(*found)
