"""How many samples fit: schematic rows against whole uint8 images in the same bytes."""

from __future__ import annotations

import torch

from benchmarks.timing import report
from smartcl.extend import build_learner
from smartcl.paper.datasets.dataset_registry import load_stream

if __name__ == "__main__":
    torch.set_num_threads(1)
    lines = []
    for memory in ("100 samples", "300 samples", "500 samples"):
        held = {}
        for method in ("smart", "er"):
            stream = load_stream("disjoint-mnist")
            learner = build_learner(method, stream.spec, memory, iterations=1, hidden=(8,))
            for batch in stream:
                learner.observe(batch)
            held[method] = len(learner.memory)
        lines.append((f"samples held / whole images, memory {memory}", held["smart"] / held["er"], ">= 3"))
    report(*lines)
