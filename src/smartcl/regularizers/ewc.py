"""Elastic weight consolidation: a weight matters as far as the likelihood of the model's own answers depends on it.

Kirkpatrick et al., "Overcoming catastrophic forgetting in neural networks", PNAS 2017; the online form is that of
Schwarz et al., "Progress & Compress", ICML 2018, without decay. The Fisher information is per sample, and of the label
the model itself finds most likely (the argmax, not a draw), as in Hsu et al. 2018.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F

from smartcl.network.inputs import Prepared
from smartcl.network.network import Network
from smartcl.regularizers.mean_gradients import CHUNK, mean_gradients
from smartcl.regularizers.regularizer import QuadraticPenalty, accumulated, grown
from smartcl.saving.saved import Saved


def fisher_diagonal(network: Network, rows: Prepared, chunk: int = CHUNK) -> dict[str, torch.Tensor]:
    """The mean over samples of ``(∂ log p(ŷ|x) / ∂θ)²``, where ``ŷ`` is the model's own most likely label."""
    return mean_gradients(network, rows, own_label_loss, torch.square, chunk)


def own_label_loss(logits: torch.Tensor) -> torch.Tensor:
    """``−Σ log p(ŷ|x)`` over the samples."""
    return F.cross_entropy(logits, logits.argmax(dim=1), reduction="sum")


def merged(
    importance: torch.Tensor, anchor: torch.Tensor, more: torch.Tensor, other: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, float]:
    """Two quadratics as one: ``A(θ−μ)² + B(θ−ν)² = (A+B)(θ−m)² + constant``, summed over all weights.

    ``m`` is the weighted mean of the anchors, so several terms cost as much as one.

    >>> one = torch.ones(1)
    >>> merged(1 * one, 0 * one, 3 * one, 4 * one)
    (tensor([4.]), tensor([3.]), 12.0)
    """
    total = importance + more
    share = torch.where(total > 0, more / total, 1.0)
    apart = other - anchor
    return total, anchor + share * apart, float((importance * share * apart.square()).sum(dtype=torch.float64))


class EWC(QuadraticPenalty):
    """``strength · Σ_k Σ Ω_k·(θ − θ̂_k)²``: one term per consolidation ``k``, held as one quadratic.

    >>> import numpy as np
    >>> from smartcl.data.spec import InputSpec
    >>> from smartcl.network.mlp import MLP
    >>> network = MLP(InputSpec(n_features=2, n_classes=2), (3,), np.random.default_rng(0))
    >>> ewc = EWC(strength=100.0)
    >>> ewc.consolidate(network, torch.ones(4, 2), torch.zeros(4, dtype=torch.long))
    >>> ewc.penalty(network).item(), sorted(ewc.importance)
    (0.0, ['first.bias', 'first.weight', 'layers.0.bias', 'layers.0.weight'])
    """

    def __init__(self, strength: float) -> None:
        super().__init__(strength)
        self.constant = 0.0

    def penalty(self, network: Network) -> torch.Tensor:
        return super().penalty(network) + self.strength * self.constant

    def consolidate(self, network: Network, rows: Prepared, y: torch.Tensor) -> None:
        if not self.strength:
            return
        before, before_importance = self.anchors, self.importance
        self.anchor_at(network, fisher_diagonal(network, rows))
        for name in before:
            here, more = self.anchors[name], self.importance[name]
            known, anchor = grown(before_importance[name], more.shape), grown(before[name], more.shape)
            self.importance[name], self.anchors[name], constant = merged(known, anchor, more, here)
            self.constant += constant

    def state_dict(self) -> dict[str, Any]:
        return {**super().state_dict(), "constant": self.constant}

    def load_state_dict(self, saved: Saved, network: Network) -> None:
        super().load_state_dict(saved, network)
        self.constant = saved.number("constant", low=0.0)


class OnlineEWC(QuadraticPenalty):
    """``strength · Σ (Σ_k Ω_k)·(θ − θ̂)²``: the importance of all consolidations, the weights of the latest."""

    def consolidate(self, network: Network, rows: Prepared, y: torch.Tensor) -> None:
        if self.strength:
            self.anchor_at(network, accumulated(self.importance, fisher_diagonal(network, rows)))
