"""Memory aware synapses: a weight matters as far as the size of the output depends on it. No label is needed.

Aljundi, Babiloni, Elhoseiny, Rohrbach, Tuytelaars, "Memory aware synapses: learning what (not) to forget", ECCV 2018.
The form per mini-batch is that of Hsu et al. 2018.
"""

from __future__ import annotations

import torch

from smartcl.network.inputs import Prepared
from smartcl.network.network import Network
from smartcl.regularizers.mean_gradients import CHUNK, joint_gradient, mean_gradients, pieces
from smartcl.regularizers.regularizer import QuadraticPenalty, accumulated

BATCH = 128


def sample_sensitivity(network: Network, rows: Prepared, chunk: int = CHUNK) -> dict[str, torch.Tensor]:
    """The mean over samples of ``|∂‖f(x)‖²/∂θ|``: the paper's."""
    return mean_gradients(network, rows, lambda logits: logits.square().sum(), torch.abs, chunk)


def batch_sensitivity(network: Network, rows: Prepared, batch: int = BATCH) -> dict[str, torch.Tensor]:
    """The mean over mini-batches of ``|∂ mean(f²)/∂θ|``; slopes of opposite sign within a mini-batch cancel."""
    total: dict[str, torch.Tensor] = {}
    for piece in pieces(rows, batch):
        slopes = joint_gradient(network, piece, lambda logits: logits.square().mean())
        total = accumulated(total, {name: slope.abs() for name, slope in slopes.items()})
    count = -(-len(rows) // batch)
    return {name: value / count for name, value in total.items()}


class MAS(QuadraticPenalty):
    """``strength · Σ (Σ_k Ω_k)·(θ − θ̂)²`` with the sensitivities ``Ω_k`` of all consolidations.

    >>> import numpy as np
    >>> from smartcl.data.spec import InputSpec
    >>> from smartcl.network.mlp import MLP
    >>> network = MLP(InputSpec(n_features=2, n_classes=2), (3,), np.random.default_rng(0))
    >>> mas = MAS(strength=1.0, per_sample=True)
    >>> rows, y = torch.tensor([[1.0, 0.0]]), torch.tensor([0])
    >>> mas.consolidate(network, rows, y)
    >>> logits = network(rows)[0].detach()
    >>> torch.allclose(mas.importance["layers.0.bias"], 2 * logits.abs())
    True
    """

    def __init__(self, strength: float, per_sample: bool = False) -> None:
        super().__init__(strength)
        self.per_sample = per_sample

    def consolidate(self, network: Network, rows: Prepared, y: torch.Tensor) -> None:
        if self.strength:
            sensitivity = sample_sensitivity if self.per_sample else batch_sensitivity
            self.anchor_at(network, accumulated(self.importance, sensitivity(network, rows)))
