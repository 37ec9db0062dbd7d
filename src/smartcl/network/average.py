"""A moving average of the weights, used for prediction: the newest batch distorts the raw ones."""

from __future__ import annotations

import torch

from smartcl.network.network import Network
from smartcl.network.row_table.missed_steps import warm_decay


class WeightAverage:
    """``average ← decay·average + (1 − decay)·weights`` after every step; the start is forgotten quickly.

    With ``every`` > 1 it reads the weights at every such step only, and decays as much at once: nearly the same average
    for less work.

    >>> import numpy as np
    >>> from smartcl.data.spec import InputSpec
    >>> from smartcl.network.mlp import MLP
    >>> network = MLP(InputSpec(n_features=2, n_classes=2), (3,), np.random.default_rng(0))
    >>> average = WeightAverage(network, decay=0.9)
    >>> _ = torch.nn.init.ones_(network.head.bias)
    >>> average.update(network); [round(value, 3) for value in average.network.head.bias.tolist()]
    [0.818, 0.818]
    """

    def __init__(self, network: Network, decay: float, every: int = 1) -> None:
        if not 0.0 < decay < 1.0:
            raise ValueError(f"average must lie in [0, 1), got {decay}")
        self.decay, self.every = decay, every
        self.step = 0
        self.network = network.shadow()

    def copy(self) -> WeightAverage:
        """A copy of the average that can change without changing this one."""
        twin = WeightAverage.__new__(WeightAverage)
        vars(twin).update(vars(self))
        twin.network = self.network.copy()
        return twin

    def update(self, network: Network) -> None:
        """Follow the weights by one step."""
        self.step += 1
        if self.step % self.every:
            return
        ours: list[torch.Tensor] = list(self.network.parameters())
        theirs: list[torch.Tensor] = list(network.parameters())
        with torch.no_grad():
            torch._foreach_lerp_(ours, theirs, 1 - warm_decay(self.decay, self.step) ** self.every)

    def restart(self, network: Network) -> None:
        """Start the average anew, after the network did."""
        self.network = network.shadow()

    def resize(self, network: Network) -> None:
        """Add the new weights of a network that grew, at their present value."""
        old, self.network = self.network, network.shadow()
        with torch.no_grad():
            for mine, before in zip(self.network.parameters(), old.parameters(), strict=True):
                mine[tuple(slice(0, size) for size in before.shape)] = before
