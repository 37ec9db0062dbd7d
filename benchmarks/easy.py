"""A long easy stream: 60,000 MNIST images in random order, which digit is odd. How many rows a second?

After some thousand rows nothing new comes, and steps that teach nothing are not taken by whoever looks at the stream.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import torch

from benchmarks.timing import report
from smartcl.extend import Batch, InputSpec, build_learner
from smartcl.paper.datasets.mnist import load_mnist

BATCH, MEMORY = 50, "300 samples"


def speed(method: str, x: torch.Tensor, y: torch.Tensor) -> tuple[float, float]:
    """Rows per CPU second, and the accuracy, in the last tenth, of predicting each batch before it is learned."""
    learner = build_learner(method, InputSpec(784, 2, dtype="uint8", scale=1 / 255), MEMORY)
    seconds, right = 0.0, []
    for start in range(0, len(y), BATCH):
        batch = Batch(x[start : start + BATCH], y[start : start + BATCH])
        right.append(float((learner.predict_proba(batch.x).argmax(dim=1) == batch.y).double().mean()))
        before = time.process_time()
        learner.observe(batch)
        seconds += time.process_time() - before
        if start % 6000 == 0:
            print(f"{method}: {start} rows, {start / max(seconds, 1e-9):.0f} rows/s", file=sys.stderr, flush=True)
    return len(y) / seconds, float(np.mean(right[-(len(right) // 10) :]))


if __name__ == "__main__":
    torch.set_num_threads(1)
    images = load_mnist()
    order = np.random.default_rng(0).permutation(len(images.train_y))
    x, y = torch.from_numpy(images.train_x[order]), torch.from_numpy(images.train_y[order].astype(np.int64) % 2)
    always, reached = speed("smart", x, y)
    adaptive, accuracy = speed("adaptive", x, y)
    report(
        ("long easy stream: rows a second, adaptive / smart with its 20 steps a batch", adaptive / always, ">= 5"),
        ("long easy stream: rows a second, adaptive", adaptive, "-"),
        ("long easy stream: accuracy in the last tenth, adaptive", 100 * accuracy, "-"),
        ("long easy stream: accuracy in the last tenth, adaptive - smart", 100 * (accuracy - reached), ">= -0.3"),
    )
