"""The Fisher diagonal and the MAS sensitivity of 12,000 samples, against a backward pass per sample (200 timed)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import torch
import torch.nn.functional as F

from benchmarks.timing import best_seconds, report
from smartcl.network.inputs import prepare
from smartcl.network.mlp import MLP
from smartcl.paper.datasets.dataset_registry import load_stream
from smartcl.regularizers.ewc import fisher_diagonal
from smartcl.regularizers.mas import sample_sensitivity

SAMPLES, LOOPED = 12_000, 200

Elementwise = Callable[[torch.Tensor], torch.Tensor]


def one_backward_each(network: MLP, x: torch.Tensor, loss: Elementwise, phi: Elementwise) -> dict[str, torch.Tensor]:
    """The mean of ``φ`` of every sample's gradient, as public implementations take it."""
    total = {name: torch.zeros_like(weight) for name, weight in network.named_parameters()}
    for row in torch.split(x, 1):
        network.zero_grad()
        loss(network(row)).backward()
        for name, weight in network.named_parameters():
            total[name] += phi(weight.grad) / len(x)
    return total


def largest_error(ours: dict[str, torch.Tensor], theirs: dict[str, torch.Tensor]) -> float:
    """Relative to the largest entry of each weight."""
    return max(float((ours[name] - value).abs().max() / value.abs().max()) for name, value in theirs.items())


if __name__ == "__main__":
    torch.set_num_threads(1)
    stream = load_stream("split-mnist")
    x = prepare(stream.tasks[0].train.x[:SAMPLES], stream.spec)
    assert isinstance(x, torch.Tensor)
    network = MLP(stream.spec, (400, 400), np.random.default_rng(0))

    def own_label(logits: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(logits, logits.argmax(dim=1))

    def squared_length(logits: torch.Tensor) -> torch.Tensor:
        return logits.square().sum()

    few = x[:LOOPED]
    lines = []
    for name, ours, loss, phi in (
        ("Fisher diagonal", fisher_diagonal, own_label, torch.square),
        ("MAS sensitivity", sample_sensitivity, squared_length, torch.abs),
    ):
        loop = partial(one_backward_each, network, few, loss, phi)
        fast, slow = best_seconds([partial(ours, network, x), loop], calls=1, rounds=10)
        lines += [
            (f"one backward per sample / {name}, {len(x):,} samples", slow / LOOPED * len(x) / fast, ">= 50"),
            (f"largest relative error of the {name}", largest_error(ours(network, few), loop()), "<= 1e-5"),
        ]
    report(*lines)
