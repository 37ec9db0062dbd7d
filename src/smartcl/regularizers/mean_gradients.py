"""Mean size of an output's gradient by each weight, without a single per-sample gradient in memory.

For a Linear layer the gradient of one sample is the outer product of its input ``a`` and its slope ``δ`` at the layer's
output. A function ``φ`` with ``φ(uv) = φ(u)φ(v)``, as the square and the absolute value are, passes through it:
``Σ_i φ(a_i δ_iᵀ) = φ(A)ᵀ φ(Δ)``, one matrix product for all samples.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import torch
import torch.nn.functional as F

from smartcl.network.hook_gradients import Multiplicative, module_gradients
from smartcl.network.inputs import NarrowInput, Prepared, SparseInput, split_rows
from smartcl.network.mlp import MLP
from smartcl.network.network import Network
from smartcl.network.wrapped import WrappedNetwork
from smartcl.regularizers.regularizer import accumulated

#: From the logits of some samples to one number, a sum over the samples.
MeanScore: TypeAlias = Callable[[torch.Tensor], torch.Tensor]

CHUNK = 1024


def mean_gradients(
    network: Network, rows: Prepared, score: MeanScore, phi: Multiplicative, chunk: int = CHUNK
) -> dict[str, torch.Tensor]:
    """The mean over samples of ``φ(∂score/∂θ)`` for every weight ``θ``, by name; ``chunk`` samples at a time.

    >>> import numpy as np
    >>> from smartcl.data.spec import InputSpec
    >>> network = MLP(InputSpec(n_features=2, n_classes=2), (3,), np.random.default_rng(0))
    >>> squares = mean_gradients(network, torch.ones(5, 2), torch.sum, torch.square)
    >>> {name: tuple(value.shape) for name, value in squares.items()}
    {'first.weight': (2, 3), 'first.bias': (3,), 'layers.0.weight': (2, 3), 'layers.0.bias': (2,)}
    """
    total: dict[str, torch.Tensor] = {}
    for piece in pieces(rows, chunk):
        total = accumulated(total, summed_gradients(network, piece, score, phi))
    return {name: value / len(rows) for name, value in total.items()}


def summed_gradients(
    network: Network, rows: Prepared, score: MeanScore, phi: Multiplicative
) -> dict[str, torch.Tensor]:
    """The sum over samples of ``φ(∂score/∂θ)``."""
    if isinstance(network, WrappedNetwork):
        x = network.images(rows)
        found = module_gradients(network.still(), x, torch.zeros(len(x)), lambda logits, _: score(logits))
        return {f"module.{name}": value for name, value in found.summed(phi).items()}
    assert isinstance(network, MLP)
    with torch.no_grad():
        first = network.first(rows)
    values = network.upper_pre_activations(first.requires_grad_())
    slopes = [phi(slope) for slope in torch.autograd.grad(score(values[-1]), values)]
    total = {"first.weight": _first_layer(network, rows, phi, slopes[0]), "first.bias": slopes[0].sum(dim=0)}
    for number, (value, slope) in enumerate(zip(values[:-1], slopes[1:], strict=True)):
        total[f"layers.{number}.weight"] = slope.T @ phi(F.relu(value.detach()))
        total[f"layers.{number}.bias"] = slope.sum(dim=0)
    return total


def joint_gradient(network: Network, rows: Prepared, score: MeanScore) -> dict[str, torch.Tensor]:
    """``∂score/∂θ`` of a score of all samples together."""
    if not isinstance(network, WrappedNetwork):
        return summed_gradients(network, rows, score, lambda value: value)
    trained = {name: value for name, value in network.named_parameters() if value.requires_grad}
    with torch.enable_grad():
        slopes = torch.autograd.grad(score(network.still()(network.images(rows))), list(trained.values()))
    return dict(zip(trained, slopes, strict=True))


def _first_layer(network: MLP, rows: Prepared, phi: Multiplicative, slopes: torch.Tensor) -> torch.Tensor:
    match rows:
        case torch.Tensor():
            return phi(rows).T @ slopes
        case NarrowInput(values, features):
            total = slopes.new_zeros(len(network.group_norms()), slopes.shape[1])
            return total.index_copy_(0, features, phi(values).T @ slopes)
        case SparseInput():
            # the layer's own backward pass is this product too, and knows where the rows of a table are
            with torch.enable_grad():
                output = network.first(replace(rows, values=phi(rows.values)))
            leaf, table_rows = next((leaf, rows) for name, leaf, rows in network.slots() if name == "first.weight")
            (product,) = torch.autograd.grad(output, leaf, slopes)
            if table_rows is None:
                return product
            assert network.table is not None
            return product.new_zeros(len(network.table), slopes.shape[1]).index_copy_(0, table_rows, product)


def pieces(rows: Prepared, size: int) -> list[Prepared]:
    """The rows in order, at most ``size`` at a time.

    >>> [len(piece) for piece in pieces(torch.zeros(5, 2), 2)]
    [2, 2, 1]
    """
    whole, rest = divmod(len(rows), size)
    return split_rows(rows, [size] * whole + [rest] * (rest > 0))
