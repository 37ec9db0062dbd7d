"""One step of ``smart``, memory and penalties included, against the bare forward, backward and fused Adam step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from statistics import median

import torch
import torch.nn.functional as F
from torch import nn

from benchmarks.timing import best_seconds, report
from smartcl.extend import build_learner
from smartcl.learners.learner import Learner
from smartcl.learners.sceptic import FULL_DOUBT, Sceptic
from smartcl.network.arithmetic import flushed_denormals
from smartcl.network.inputs import prepare
from smartcl.paper.datasets.dataset_registry import load_stream

#: Steps a batch, as ``smart`` takes them by default; and of so many runs the median counts.
STEPS, RUNS = 20, 5


@cache
def trained(method: str) -> tuple[Learner, tuple[torch.Tensor, torch.Tensor]]:
    """A learner whose memory is full, and a batch to step on."""
    stream = load_stream("disjoint-mnist")
    learner = build_learner(method, stream.spec, "300 samples", iterations=2)
    for batch in stream:
        learner.observe(batch)
    return learner, (prepare(batch.x, stream.spec), batch.y)


def bare_step(rows: int) -> Callable[[], None]:
    """Set up a plain network and return its training step."""
    network = nn.Sequential(nn.Linear(784, 400), nn.ReLU(), nn.Linear(400, 400), nn.ReLU(), nn.Linear(400, 2))
    adam = torch.optim.Adam(network.parameters(), lr=1e-4, fused=True)
    x, y = torch.rand(rows, 784), torch.randint(0, 2, (rows,))

    def step() -> None:
        adam.zero_grad(set_to_none=True)
        F.cross_entropy(network(x), y).backward()
        adam.step()

    return step


def ratio(method: str, doubt: float = 0.0) -> tuple[int, float]:
    """Rows in a step, and what it costs in bare steps: a whole batch's learning, its steps counted."""
    learner, batch = trained(method)
    learner.recipe = replace(learner.recipe, iterations=STEPS)

    def believe() -> None:
        if isinstance(learner, Sceptic):
            learner.contradicted = doubt * FULL_DOUBT

    def learn() -> None:
        believe()
        with flushed_denormals():
            learner.learn(batch, None)

    believe()
    held = learner.draw_steps()[0] if isinstance(learner, Sceptic) else range(learner.recipe.replay)
    rows = len(batch[1]) + len(held)
    bare = bare_step(rows)

    def bare_steps() -> None:
        for _ in range(STEPS):
            bare()

    pairs = (best_seconds([learn, bare_steps], calls=1, rounds=3) for _ in range(RUNS))
    return rows, median(ours / bare for ours, bare in pairs)


if __name__ == "__main__":
    torch.set_num_threads(1)
    lines = []
    for words, method, doubt in (("smart that doubts", "smart", 1.0), ("smart that trusts", "smart", 0.0)):
        rows, times = ratio(method, doubt)
        lines.append((f"step of {words} / bare step, {rows} rows, median of {RUNS} runs", times, "<= 1.2"))
    rows, times = ratio("er")
    report(*lines, (f"step of er / bare step, {rows} rows, median of {RUNS} runs", times, "-"))
