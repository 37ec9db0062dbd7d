"""A network by itself: a plain PyTorch module, from raw rows to probabilities, that needs nothing of this package."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn

from smartcl.data.spec import InputSpec
from smartcl.network.first_layer import MatrixLayer
from smartcl.network.mlp import MLP


class PlainNetwork(nn.Module):
    """``softmax(layers((x - offset) * scale))``, with ReLU between the layers.

    >>> layer = nn.Linear(2, 2)
    >>> plain = PlainNetwork(torch.zeros(2), torch.ones(2), [layer])
    >>> bool(torch.allclose(plain(torch.ones(1, 2)), layer(torch.ones(1, 2)).softmax(dim=1)))
    True
    """

    offset: torch.Tensor
    scale: torch.Tensor

    def __init__(self, offset: torch.Tensor, scale: torch.Tensor, layers: Sequence[nn.Linear]) -> None:
        super().__init__()
        self.register_buffer("offset", offset)
        self.register_buffer("scale", scale)
        self.layers = nn.ModuleList(layers)

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        values = (rows - self.offset) * self.scale
        for number, layer in enumerate(self.layers):
            values = layer(values if number == 0 else values.relu())
        return values.softmax(dim=1)


def plain_network(network: MLP, spec: InputSpec) -> PlainNetwork:
    """A network, and the transform of its input, as they are now; nothing is shared."""
    whole = torch.full((spec.n_features,), 1.0)
    layers = [_linear(*_first_weights(network)), *(_linear(each.weight.T, each.bias) for each in _upper(network))]
    return PlainNetwork(whole * spec.offset, whole * spec.scale, layers).requires_grad_(False)


@torch.no_grad()
def _first_weights(network: MLP) -> tuple[torch.Tensor, torch.Tensor]:
    """One row for each feature; of a row table as it is read in predicting."""
    first = network.first
    if isinstance(first, MatrixLayer):
        return first.weight, first.bias
    rows, local = first.table.peek(torch.arange(first.table.n_features), average=not hasattr(first, "group_norms"))
    return rows[local], first.bias


def _upper(network: MLP) -> list[nn.Linear]:
    return [layer for layer in network.layers if isinstance(layer, nn.Linear)]


def _linear(weight: torch.Tensor, bias: torch.Tensor) -> nn.Linear:
    layer = nn.Linear(weight.shape[0], weight.shape[1], device="meta").to_empty(device="cpu")
    with torch.no_grad():
        layer.weight.copy_(weight.T)
        layer.bias.copy_(bias)
    return layer
