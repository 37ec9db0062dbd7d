"""What learning a batch costs with each method, selection included, against plain replay of the same form."""

from __future__ import annotations

import time

import torch

from benchmarks.timing import report
from smartcl.extend import METHODS, build_learner
from smartcl.learners.learner import Learner
from smartcl.paper.datasets.dataset_registry import load_stream

STEPS = 30


def filled(method: str, **parameters: object) -> Learner:
    """A learner with a full memory of 300 images' bytes, at the start of the second task's batches."""
    stream = load_stream("disjoint-mnist")
    known = METHODS[method].parameters
    fast = {name: value for name, value in {"iterations": 1, **parameters}.items() if name in known}
    learner = build_learner(method, stream.spec, "300 samples", **fast)
    for number in (0, 1):
        for batch in list(stream.batches_of(number))[:10]:
            learner.observe(batch)
        if number == 0:
            learner.end_task(stream.task_batch(0))
    learner.recipe = learner.recipe.__class__(**{**vars(learner.recipe), "iterations": STEPS})
    return learner


if __name__ == "__main__":
    torch.set_num_threads(1)
    batches = list(load_stream("disjoint-mnist").batches_of(1))[10:16]
    plain = {True: filled("er"), False: filled("er", joint=False)}
    lines = []
    for method in METHODS:
        if method in ("er", "gdumb", "joint", "finetune"):
            continue
        learner = filled(method, replay=50) if method not in ("smart", "gem") else filled(method)
        other = plain[learner.recipe.joint]
        seconds = [0.0, 0.0]
        for batch in batches:
            for i, each in enumerate((learner, other)):
                start = time.process_time()
                each.observe(batch)
                seconds[i] += time.process_time() - start
        rows = (50 + learner.recipe.replay) / (50 + other.recipe.replay)
        wanted = "-" if method == "gem" else "<= 2"
        note = " (per row: it replays 150)" if method == "smart" else ""
        lines.append((f"a batch with {method} / plain replay{note}", seconds[0] / seconds[1] / rows, wanted))
    report(*lines)
