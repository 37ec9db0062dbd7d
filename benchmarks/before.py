"""The CPU of a run on Disjoint MNIST, in turns with the code before it was for anyone's stream.

Each learner lives in a process of its own and learns a batch when it is told to, so that all meet the same noise.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from benchmarks.earlier import HERE, sources_at
from benchmarks.timing import report

#: The last commit before inputs were scaled, values graded and networks anyone's.
BEFORE = "e63bbe5"
MEMORY, SEED = "100 samples", 11

LEARNS = f"""
import sys, time, torch
torch.set_num_threads(1)
from smartcl.extend import build_learner
from smartcl.paper.datasets.dataset_registry import load_stream
stream = load_stream("disjoint-mnist", {SEED})
learner = build_learner(sys.argv[1], stream.spec, "{MEMORY}", **dict(pair.split("=") for pair in sys.argv[2:]))
print(len(stream), flush=True)
for batch in stream:
    input()
    start = time.process_time()
    learner.observe(batch)
    print(time.process_time() - start, flush=True)
"""


class Run:
    """A learner in a process of its own."""

    def __init__(self, source: Path, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", LEARNS, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(source)},
        )
        self.batches = int(self._said())
        self.seconds = 0.0

    def learn(self) -> None:
        """One batch more."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        self.seconds += float(self._said())

    def _said(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline()


def main() -> None:
    with sources_at(BEFORE) as source:
        before = Run(source, "smart")
        plain, auto = (Run(HERE / "src", "smart", f"precision={precision}") for precision in ("plain", "auto"))
        adaptive = Run(HERE / "src", "adaptive")
        for _ in range(before.batches):
            for run in (before, plain, auto, adaptive):
                run.learn()
    what = f"disjoint-mnist, {MEMORY}: CPU of a run"
    report(
        (f"{what}, smart at {BEFORE}, seconds", before.seconds, "-"),
        (f"{what}, smart with values plain / before", plain.seconds / before.seconds, "<= 1.02"),
        (f"{what}, smart / before", auto.seconds / before.seconds, "<= 1.15"),
        (f"{what}, adaptive / smart before", adaptive.seconds / before.seconds, "<= 1.5"),
        (f"{what}, adaptive / smart", adaptive.seconds / auto.seconds, "-"),
    )


if __name__ == "__main__":
    main()
