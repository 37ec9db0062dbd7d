"""A network by itself: a plain PyTorch module, from raw rows to probabilities, that needs nothing of this package."""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import deepcopy

import torch
from torch import nn

from smartcl.data.spec import InputSpec
from smartcl.network.first_layer import AveragedRowTableLayer, MatrixLayer
from smartcl.network.mlp import MLP, empty_linear
from smartcl.network.network import Network
from smartcl.network.scaling import LINEAR, InputScale
from smartcl.network.wrapped import WrappedNetwork


class PlainNetwork(nn.Module):
    """``softmax(layers(compressed((x - centre) / width)))``, with ReLU between the layers.

    Values further than ``linear`` from zero come in by their logarithm. Rows are centred in double precision.

    >>> layer = nn.Linear(2, 2)
    >>> plain = PlainNetwork(torch.zeros(2), torch.ones(2), float("inf"), [layer])
    >>> bool(torch.allclose(plain(torch.ones(1, 2)), layer(torch.ones(1, 2)).softmax(dim=1)))
    True
    """

    centre: torch.Tensor
    width: torch.Tensor

    def __init__(self, centre: torch.Tensor, width: torch.Tensor, linear: float, layers: Sequence[nn.Linear]) -> None:
        super().__init__()
        self.register_buffer("centre", centre.double())
        self.register_buffer("width", width.double())
        self.linear = linear
        self.layers = nn.ModuleList(layers)

    @property
    def n_features(self) -> int:
        return len(self.centre)

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        scaled = (rows.double() - self.centre) / self.width
        beyond = (scaled.abs() - self.linear).clamp(min=0)
        values = (scaled.clamp(-self.linear, self.linear) + scaled.sign() * beyond.log1p()).float()
        return self.logits(values).softmax(dim=1)

    def logits(self, values: torch.Tensor) -> torch.Tensor:
        for number, layer in enumerate(self.layers):
            values = layer(values if number == 0 else values.relu())
        return values


class PlainModule(PlainNetwork):
    """The same with a module of the user's own, which takes rows of a ``shape``, in the place of the layers."""

    def __init__(
        self, centre: torch.Tensor, width: torch.Tensor, linear: float, module: nn.Module, shape: tuple[int, ...]
    ) -> None:
        super().__init__(centre, width, linear, ())
        self.module, self.shape = module, shape

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        return super().forward(rows.flatten(1))

    def logits(self, values: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.module(values.view(-1, *self.shape))
        return logits


def plain_network(network: Network, spec: InputSpec, scale: InputScale | None) -> PlainNetwork:
    """A network, and the transform of its input, as they are now; nothing is shared."""
    if scale is None:
        ones = torch.ones(spec.n_features)
        transform = ones * spec.offset, ones / spec.scale, math.inf
    else:
        transform = torch.from_numpy(scale.centre), torch.from_numpy(scale.width), LINEAR
    if isinstance(network, WrappedNetwork):
        plain: PlainNetwork = PlainModule(*transform, deepcopy(network.still()), network.shape)
    else:
        assert isinstance(network, MLP)
        upper = (_linear(each.weight.T, each.bias) for each in _upper(network))
        plain = PlainNetwork(*transform, [_linear(*_first_weights(network)), *upper])
    return plain.eval().requires_grad_(False)


@torch.no_grad()
def _first_weights(network: MLP) -> tuple[torch.Tensor, torch.Tensor]:
    """One row for each feature; of a row table as it is read in predicting."""
    first = network.first
    if isinstance(first, MatrixLayer):
        return first.weight, first.bias
    rows, local = first.table.peek(
        torch.arange(first.table.n_features), average=isinstance(first, AveragedRowTableLayer)
    )
    return rows[local], first.bias


def _upper(network: MLP) -> list[nn.Linear]:
    return [layer for layer in network.layers if isinstance(layer, nn.Linear)]


def _linear(weight: torch.Tensor, bias: torch.Tensor) -> nn.Linear:
    layer = empty_linear(weight.shape[0], weight.shape[1])
    with torch.no_grad():
        layer.weight.copy_(weight.T)
        layer.bias.copy_(bias)
    return layer
