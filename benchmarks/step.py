"""One step of ``smart``, memory and penalties included, against the bare forward, backward and fused Adam step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import torch
import torch.nn.functional as F
from torch import nn

from benchmarks.timing import best_seconds, report
from smartcl import build_learner
from smartcl.learners.learner import Learner
from smartcl.learners.sceptic import Sceptic
from smartcl.network.inputs import prepare
from smartcl.paper.datasets import load_stream

#: Steps a batch, as ``smart`` takes them by default.
STEPS = 20


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


def ratio(method: str) -> tuple[int, float]:
    """Rows in a step, and what it costs in bare steps: a whole batch's learning, its steps counted."""
    learner, batch = trained(method)
    learner.recipe = replace(learner.recipe, iterations=STEPS)
    held = learner.draw_all()[0] if isinstance(learner, Sceptic) else range(learner.recipe.replay)
    rows = len(batch[1]) + len(held)
    ours, bare = best_seconds([lambda: learner.learn(batch, None), bare_step(rows)], calls=5, rounds=15)
    return rows, ours / STEPS / bare


if __name__ == "__main__":
    torch.set_num_threads(1)
    (smart_rows, smart), (er_rows, er) = ratio("smart"), ratio("er")
    report(
        (f"step of smart / bare step, {smart_rows} rows", smart, "<= 1.3"),
        (f"step of er / bare step, {er_rows} rows", er, "-"),
    )
