"""GSS-Greedy's scores of 50 new samples against 300 stored ones, against one backward pass per sample."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F

from benchmarks.timing import best_seconds, report
from smartcl.network.gradients import trace
from smartcl.network.mlp import MLP
from smartcl.paper.datasets.dataset_registry import load_stream
from smartcl.selection.gss_greedy import max_cosines


def one_backward_each(network: MLP, new: tuple, stored: list[tuple]) -> torch.Tensor:
    """The same scores the usual way: a backward pass per new sample, its gradients copied into a vector."""

    def gradient(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        network.zero_grad()
        F.cross_entropy(network(x), y).backward()
        return torch.cat([parameter.grad.flatten() for parameter in network.parameters()])

    memory = torch.stack([gradient(x, y) for x, y in stored])
    scores = [F.cosine_similarity(memory, gradient(x[None], y[None])[None]).max() for x, y in zip(*new, strict=True)]
    return torch.stack(scores)


if __name__ == "__main__":
    torch.set_num_threads(1)
    stream = load_stream("disjoint-mnist")
    data = stream.tasks[0].train
    x, y = data.x[:350] / 255, data.y[:350]
    network = MLP(stream.spec, (400, 400), np.random.default_rng(0))
    new, stored = (x[:50], y[:50]), list(zip(torch.split(x[50:], 50), torch.split(y[50:], 50), strict=True))

    def ours() -> torch.Tensor:
        first, *drawn = trace(network, x, y).pieces([50] * 7)
        return torch.from_numpy(max_cosines(first, drawn))

    worst = float((ours() - one_backward_each(network, new, stored)).abs().max())
    fast, slow = best_seconds([ours, lambda: one_backward_each(network, new, stored)], calls=1, rounds=10)
    report(
        ("one backward per sample / scores from the Gram matrix", slow / fast, ">= 50"),
        ("largest difference of a score", worst, "<= 1e-5"),
    )
