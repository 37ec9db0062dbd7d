"""Neuronal correlation consolidation (Eqs. 3-5 of the SMART paper): protect weights between important neurons.

With ``h = |tanh θ|`` for the weights ``θ`` (``N_l x N_{l+1}``) leaving layer ``l``, two neurons correlate as far as
they feed the same neurons: ``A = ((h hᵀ)/N_{l+1})²`` element-wise. A neuron is as important as its weighted degree
``p_i = Σ_j A_ij``, an output neuron as 1, a weight as the product of the two neurons it joins.

``A`` is never built: ``Σ_j (h_i·h_j)² = h_iᵀ(hᵀh)h_i``, which is linear in the number of inputs.
"""

from __future__ import annotations

from itertools import pairwise

import torch

from smartcl.network.inputs import Prepared
from smartcl.network.mlp import MLP
from smartcl.network.network import Network
from smartcl.regularizers.regularizer import QuadraticPenalty

#: Neurons worked on at a time: their weights stay in the cache.
PIECE = 4096


def neuron_importance(weights: torch.Tensor) -> torch.Tensor:
    """``p_i = Σ_j A_ij`` for the neurons whose outgoing weights are the rows of ``weights``.

    >>> theta = torch.tensor([[0.5, -1.0], [2.0, 0.0], [0.1, 0.3]])
    >>> h = theta.tanh().abs()
    >>> A = (h @ h.T / 2) ** 2
    >>> torch.allclose(neuron_importance(theta), A.sum(dim=1))
    True
    """
    pieces = torch.split(weights, PIECE)
    shared = torch.stack([strength(piece).T @ strength(piece) for piece in pieces]).sum(dim=0)
    sums = [((h @ shared) * h).sum(dim=1) for h in map(strength, pieces)]
    return torch.cat(sums) / weights.shape[1] ** 2


def strength(weights: torch.Tensor) -> torch.Tensor:
    """``h = |tanh θ|``: the strength of a connection."""
    return weights.tanh().abs_()


def weight_importance(weights: list[torch.Tensor], normalised: bool = True) -> list[torch.Tensor]:
    """The importance of every weight of a chain of layers, each ``[N_l, N_{l+1}]``.

    Normalised: the mean of ``A_i·`` instead of its sum, and all layers divided by the largest layer mean, so that a
    strength means the same at every width. Raw: the paper's formula.
    """
    neurons = [neuron_importance(theta) for theta in weights]
    if normalised:
        neurons = [p / len(p) for p in neurons]
        largest = max(float(p.mean()) for p in neurons)
        neurons = [p / largest if largest > 0 else p for p in neurons]
    neurons.append(torch.ones(weights[-1].shape[1]))
    return [torch.outer(p, q) for p, q in pairwise(neurons)]


class NCC(QuadraticPenalty):
    """Short-term forgetting, Ω_r: a change of an important weight costs much, so little evidence has little effect."""

    def __init__(self, strength: float, normalised: bool = True) -> None:
        super().__init__(strength)
        self.normalised = normalised

    def check(self, network: Network) -> None:
        if self.strength and not isinstance(network, MLP):
            raise ValueError(
                "neuronal correlation consolidation (ncc, beta) reads importance off a chain of layers, and a network "
                "of one's own need not be one: set beta to 0, or take another method"
            )

    def consolidate(self, network: Network, rows: Prepared, y: torch.Tensor) -> None:
        if not self.strength:
            return
        assert isinstance(network, MLP), "check() has refused it"
        weights = network.full_weights()
        upper = [f"layers.{i}.weight" for i in range(len(network.layers))]
        chain = [weights["first.weight"], *(weights[name].T for name in upper)]
        first, *rest = weight_importance(chain, self.normalised)
        self.anchor_at(
            network, {"first.weight": first, **{n: p.T.contiguous() for n, p in zip(upper, rest, strict=True)}}
        )
