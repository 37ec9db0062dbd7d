"""L2 penalty: every weight is as important as every other."""

from __future__ import annotations

import torch

from smartcl.network.inputs import Prepared
from smartcl.network.network import Network
from smartcl.regularizers.regularizer import QuadraticPenalty


class L2(QuadraticPenalty):
    """``strength · Σ (θ − θ̂)²``, where ``θ̂`` are the weights when last consolidated.

    The baseline of Kirkpatrick et al. 2017 and of Hsu et al., "Re-evaluating continual learning scenarios", 2018.

    >>> import numpy as np
    >>> from smartcl.data.spec import InputSpec
    >>> from smartcl.network.mlp import MLP
    >>> network = MLP(InputSpec(n_features=2, n_classes=2), (3,), np.random.default_rng(0))
    >>> penalty = L2(strength=0.5)
    >>> penalty.consolidate(network, torch.zeros(1, 2), torch.zeros(1, dtype=torch.long))
    >>> _ = torch.nn.init.constant_(network.head.bias, 3.0)
    >>> penalty.penalty(network).item()
    9.0
    """

    def consolidate(self, network: Network, rows: Prepared, y: torch.Tensor) -> None:
        if self.strength:
            weights = network.full_weights()
            self.anchor_at(network, {name: torch.ones_like(weight) for name, weight in weights.items()})
