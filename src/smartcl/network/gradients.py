"""Gradient geometry: inner products of per-sample gradients, exact, without a single per-sample gradient.

For a Linear layer the gradient of one sample is an outer product of its input ``a`` (with a 1 for the bias) and
``δ = ∂loss/∂pre-activation``. Hence ``⟨g_i, g_j⟩ = Σ_l (1 + a_i·a_j)(δ_i·δ_j)`` over layers ``l``: one backward pass
for all samples, then matrix products.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, Self, TypeAlias

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import nn

from smartcl.network.hook_gradients import module_gradients
from smartcl.network.inputs import NarrowInput, Prepared, inner_products, input_products, join_rows, split_rows
from smartcl.network.mlp import MLP
from smartcl.network.network import Network
from smartcl.network.wrapped import WrappedNetwork


class SampleGradients(Protocol):
    """The gradient of each sample's cross-entropy, in whatever form inner products are cheap."""

    def __len__(self) -> int: ...

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        """The samples of all parts, one part after the other."""
        ...

    def pieces(self, sizes: list[int]) -> list[Self]:
        """The same samples cut into consecutive pieces of these sizes."""
        ...

    def gram(self, other: Self) -> torch.Tensor:
        """``⟨g_i, g_j⟩`` for every sample ``i`` of these and ``j`` of the others."""
        ...

    def squared_norms(self) -> torch.Tensor:
        """``‖g_i‖²`` for every sample, without the off-diagonal products."""
        ...


#: From two blocks of rows to the inner products of their pairs.
Products: TypeAlias = Callable[[Prepared, Prepared], torch.Tensor]


def multiplied_once() -> Products:
    """Inner products of blocks that stay as they are while the network moves: each pair of them is multiplied once.

    >>> products, rows = multiplied_once(), torch.ones(2, 3)
    >>> products(rows, rows) is products(rows, rows), products(rows, rows.clone()) is products(rows, rows)
    (True, False)
    """
    known: list[tuple[Prepared, Prepared, torch.Tensor]] = []

    def products(a: Prepared, b: Prepared) -> torch.Tensor:
        for one, other, result in known:
            if one is a and other is b:
                return result
        known.append((a, b, inner_products(a, b)))
        return known[-1][2]

    return products


@dataclass(frozen=True)
class Trace:
    """What an MLP's per-sample gradients are made of: each layer's input and the loss's slope at its output."""

    first: Prepared
    inputs: list[torch.Tensor]
    deltas: list[torch.Tensor]
    products: Products = inner_products

    def __len__(self) -> int:
        return len(self.deltas[0])

    @classmethod
    def join(cls, parts: Sequence[Trace]) -> Trace:
        inputs = [torch.cat(layer) for layer in zip(*(t.inputs for t in parts), strict=True)]
        deltas = [torch.cat(layer) for layer in zip(*(t.deltas for t in parts), strict=True)]
        return cls(join_rows([t.first for t in parts]), inputs, deltas)

    def pieces(self, sizes: list[int]) -> list[Trace]:
        firsts = split_rows(self.first, sizes)
        inputs = [torch.split(value, sizes) for value in self.inputs]
        deltas = [torch.split(value, sizes) for value in self.deltas]
        return [Trace(first, [v[i] for v in inputs], [v[i] for v in deltas]) for i, first in enumerate(firsts)]

    def gram(self, other: Trace) -> torch.Tensor:
        total = (1 + self.products(self.first, other.first)) * (self.deltas[0] @ other.deltas[0].T)
        for mine, theirs, delta, slope in zip(
            self.inputs, other.inputs, self.deltas[1:], other.deltas[1:], strict=True
        ):
            total += (1 + mine @ theirs.T) * (delta @ slope.T)
        return total

    def squared_norms(self) -> torch.Tensor:
        total = (1 + squared_lengths(self.first)) * self.deltas[0].square().sum(dim=1)
        for mine, delta in zip(self.inputs, self.deltas[1:], strict=True):
            total = total + (1 + mine.square().sum(dim=1)) * delta.square().sum(dim=1)
        return total


def trace(network: MLP, rows: Prepared, y: torch.Tensor, products: Products = inner_products) -> Trace:
    """One forward pass, and the slopes of each sample's cross-entropy carried back layer by layer."""
    with torch.no_grad():
        return traced(network, network.pre_activations(rows), rows, y, products)


@torch.no_grad()
def traced(
    network: MLP,
    values: Sequence[torch.Tensor],
    rows: Prepared,
    y: torch.Tensor,
    products: Products = inner_products,
) -> Trace:
    """The same, given the pre-activations of these rows."""
    deltas = [values[-1].softmax(dim=1) - F.one_hot(y, values[-1].shape[1])]
    for layer, value in zip(reversed(network.layers), reversed(values[:-1]), strict=True):
        assert isinstance(layer, nn.Linear)
        deltas.append((deltas[-1] @ layer.weight).mul_(value > 0))
    return Trace(rows, [F.relu(value) for value in values[:-1]], deltas[::-1], products)


def sample_gradients(
    network: Network, rows: Prepared, y: torch.Tensor, products: Products = inner_products
) -> SampleGradients:
    """Of each sample's cross-entropy, in the form that suits the network."""
    if isinstance(network, MLP):
        return trace(network, rows, y, products)
    assert isinstance(network, WrappedNetwork)
    return module_gradients(network.still(), network.images(rows), y, summed_cross_entropy)


def summed_cross_entropy(logits: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(logits, y, reduction="sum")


def mean_gradient(a: Trace, kept: torch.Tensor) -> torch.Tensor:
    """The samples' mean gradient as one vector: the first layer's rows of the ``kept`` features, then all else."""
    columns = input_products(a.first, a.deltas[0], len(kept))[kept]
    pieces = [columns, a.deltas[0].sum(dim=0)]
    for mine, delta in zip(a.inputs, a.deltas[1:], strict=True):
        pieces += [delta.T @ mine, delta.sum(dim=0)]
    return torch.cat([piece.flatten() for piece in pieces]) / len(a)


def squared_lengths(rows: Prepared) -> torch.Tensor:
    """``‖x_i‖²`` of each row."""
    if isinstance(rows, torch.Tensor):
        return rows.square().sum(dim=1)
    if isinstance(rows, NarrowInput):
        return rows.values.square().sum(dim=1)
    with np.errstate(over="ignore"):
        return torch.from_numpy(rows.to_scipy().power(2).sum(axis=1))


def cosine_matrix(products: torch.Tensor, norms_a: torch.Tensor, norms_b: torch.Tensor) -> torch.Tensor:
    """Cosines from inner products and squared norms; a gradient of zero or beyond measure has cosine 0 with all."""
    scale = norms_a.clamp(min=0).sqrt()[:, None] * norms_b.clamp(min=0).sqrt()[None, :]
    return torch.where(scale > 0, products / scale.clamp(min=1e-30), 0.0).nan_to_num_(nan=0.0).clamp_(-1.0, 1.0)


def gradient_cosines(samples: SampleGradients) -> NDArray[np.float64]:
    """``cos(g_i, g_j)`` of per-sample gradients; a zero gradient is like none but itself.

    >>> twins = Trace(torch.zeros(2, 3), [], [torch.tensor([[1.0, -1.0], [2.0, -2.0]])])
    >>> gradient_cosines(twins).round(3)
    array([[1., 1.],
           [1., 1.]])
    """
    products = samples.gram(samples).double()
    norms = products.diagonal()
    cosines: NDArray[np.float64] = cosine_matrix(products, norms, norms).numpy()
    np.fill_diagonal(cosines, 1.0)
    return cosines


def cosines_to_mean(products: torch.Tensor, norms: torch.Tensor, within: torch.Tensor) -> torch.Tensor:
    """``cos(g_i, ḡ_B) = mean_j K_ij / sqrt(K_ii · mean_jk K_jk)`` for a mini-batch ``B``.

    ``products`` is ``K_ij`` (samples x mini-batch), ``norms`` is ``K_ii``, ``within`` the mini-batch's own Gram matrix.

    >>> g = torch.tensor([[1.0, 0.0], [0.0, 2.0]]); b = torch.tensor([[1.0, 1.0], [3.0, 1.0]])
    >>> cosines_to_mean(g @ b.T, (g * g).sum(1), b @ b.T)
    tensor([0.8944, 0.4472])
    """
    return cosine_matrix(products.mean(dim=1, keepdim=True), norms, within.mean().reshape(1))[:, 0]
