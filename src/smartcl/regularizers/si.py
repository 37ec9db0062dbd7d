"""Synaptic intelligence: a weight is as important as its path since the last consolidation reduced the loss.

Zenke, Poole, Ganguli, "Continual learning through synaptic intelligence", ICML 2017.
"""

from __future__ import annotations

from typing import Any, Self

import torch

from smartcl.network.inputs import Prepared
from smartcl.network.network import Network, Optimizer
from smartcl.regularizers.regularizer import QuadraticPenalty
from smartcl.saving.saved import Saved

DAMPING = 0.1


def path_importance(gain: torch.Tensor, moved: torch.Tensor, damping: float = DAMPING) -> torch.Tensor:
    """``gain / (moved² + damping)``: the loss saved per squared distance; a weight that cost more than it saved has 0.

    >>> path_importance(torch.tensor([0.6, -1.0]), moved=torch.tensor([0.5, 0.5]), damping=0.05)
    tensor([2., 0.])
    """
    return (gain / (moved.square() + damping)).clamp_(min=0)


class SI(QuadraticPenalty):
    """``strength · Σ Ω·(θ − θ̂)²`` where ``Ω`` grows by ``path_importance`` at each consolidation.

    The gain is the path integral ``−Σ g·Δθ`` of the loss alone: ``g`` is the gradient before any penalty. Among several
    penalties this one must therefore come first.

    >>> import numpy as np
    >>> from smartcl.data.spec import InputSpec
    >>> from smartcl.network.mlp import MLP
    >>> from smartcl.network.optim import Adam
    >>> network = MLP(InputSpec(n_features=2, n_classes=2), (3,), np.random.default_rng(0))
    >>> si, optimizer, rows, y = SI(strength=3000.0), Adam(network, lr=0.01), torch.ones(1, 2), torch.tensor([1])
    >>> torch.nn.functional.cross_entropy(network(rows), y).backward()
    >>> si.add_gradient(network); optimizer.step(); si.after_step(network, optimizer)
    >>> si.consolidate(network, rows, y)
    >>> bool((si.importance["layers.0.bias"] > 0).all())
    True
    """

    def __init__(self, strength: float, damping: float = DAMPING) -> None:
        super().__init__(strength)
        if not damping > 0:
            raise ValueError(f"damping must be positive, got {damping}")
        self.damping = damping
        self.gain: dict[str, torch.Tensor] = {}
        self._step: list[tuple[str, torch.Tensor, torch.Tensor | None, torch.Tensor, torch.Tensor]] = []

    def add_gradient(self, network: Network) -> None:
        if not self.strength:
            return
        self._step = []
        for name, weight, rows in network.slots():
            if weight.grad is not None:
                self._start(name, weight.detach() if rows is None else _stored(network))
                self._step.append((name, weight.detach(), rows, weight.detach().clone(), weight.grad.clone()))
        super().add_gradient(network)

    @torch.no_grad()
    def after_step(self, network: Network, optimizer: Optimizer) -> None:
        for name, weight, rows, before, slope in self._step:
            if rows is None:
                self.gain[name].addcmul_(slope, before - weight)
            else:
                self.gain[name].index_add_(0, rows, slope * (before - weight))
        self._step = []

    def consolidate(self, network: Network, rows: Prepared, y: torch.Tensor) -> None:
        if not self.strength:
            return
        importance = {}
        for name, weight in network.full_weights().items():
            self._start(name, weight)
            new = path_importance(self.gain[name], weight - self.anchors[name], self.damping)
            importance[name] = self.importance[name] + new
        self.anchor_at(network, importance)
        self.gain = {name: torch.zeros_like(gain) for name, gain in self.gain.items()}

    def copy(self) -> Self:
        twin = super().copy()
        twin.gain, twin._step = _copies(self.gain), []
        return twin

    def state_dict(self) -> dict[str, Any]:
        return {**super().state_dict(), "gain": _copies(self.gain)}

    def load_state_dict(self, saved: Saved, network: Network) -> None:
        super().load_state_dict(saved, network)
        self.gain = _copies(saved.tensors("gain", {name: tuple(a.shape) for name, a in self.anchors.items()}))

    def _start(self, name: str, present: torch.Tensor) -> None:
        """Weights first seen now start their way here, without any importance yet."""
        known = self.anchors.get(name)
        if known is not None and known.shape == present.shape:
            return
        anchor, importance, gain = present.clone(), torch.zeros_like(present), torch.zeros_like(present)
        if known is not None:
            block = tuple(slice(0, size) for size in known.shape)
            anchor[block], importance[block], gain[block] = known, self.importance[name], self.gain[name]
        self.anchors[name], self.importance[name], self.gain[name] = anchor, importance, gain


def _stored(network: Network) -> torch.Tensor:
    """The rows of a row table as they last became idle: a view that costs nothing, true for rows just made."""
    assert network.table is not None
    return network.table.idle.weight[: len(network.table)]


def _copies(values: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    # the path is integrated in place, so that a state given away or taken in must not share it
    return {name: value.clone() for name, value in values.items()}
