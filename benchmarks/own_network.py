"""GSS-Greedy's geometry on a small convolutional network: through hooks, against one backward pass per sample."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F

from benchmarks.timing import best_seconds, report
from smartcl.network.gradients import cosine_matrix, sample_gradients
from smartcl.network.inputs import prepare
from smartcl.network.wrapped import WrappedNetwork, wrapped
from smartcl.paper.datasets.dataset_registry import load_stream
from smartcl.paper.networks import small_convolution

NEW, STORED = 50, 300


def one_backward_each(network: WrappedNetwork, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The cosines of new samples' gradients with stored ones', the usual way: a backward pass for every sample."""
    gradients = []
    for row, label in zip(x, y, strict=True):
        network.zero_grad()
        F.cross_entropy(network(row[None]), label[None]).backward()
        gradients.append(torch.cat([value.grad.flatten() for value in network.parameters()]))
    every = F.normalize(torch.stack(gradients), dim=1)
    return every[:NEW] @ every[NEW:].T


def through_hooks(network: WrappedNetwork, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The same from one pass over all samples."""
    new, stored = sample_gradients(network, x, y).pieces([NEW, STORED])
    return cosine_matrix(new.gram(stored), new.squared_norms(), stored.squared_norms())


if __name__ == "__main__":
    torch.set_num_threads(1)
    stream = load_stream("disjoint-mnist", seed=30)
    data = stream.tasks[0].train
    x, y = prepare(data.x[: NEW + STORED], stream.spec), data.y[: NEW + STORED]
    network = wrapped(small_convolution, stream.spec, np.random.default_rng(0))
    worst = float((through_hooks(network, x, y) - one_backward_each(network, x, y)).abs().max())
    fast, slow = best_seconds(
        [lambda: through_hooks(network, x, y), lambda: one_backward_each(network, x, y)], calls=1, rounds=8
    )
    report(
        ("one backward per sample / through hooks, two convolutions and two linear layers", slow / fast, ">= 10"),
        ("largest difference of a cosine", worst, "<= 1e-4"),
    )
