"""The model: a multi-layer perceptron whose first layer keeps one row of weights per input feature."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from itertools import pairwise
from typing import TypeVar

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from smartcl.data.spec import InputSpec
from smartcl.network.arithmetic import unrounded
from smartcl.network.first_layer import AveragedRowTableLayer, MatrixLayer, RowTableLayer
from smartcl.network.initial_weights import InitialWeights
from smartcl.network.inputs import Prepared
from smartcl.network.network import InputWeights, Network
from smartcl.network.row_table.table import RowTable

#: A sparse first layer with more weights than this updates only the rows a step touches.
ROW_TABLE_WEIGHTS = 4_000_000

Layer = TypeVar("Layer", bound=nn.Module)


class MLP(Network):
    """ReLU layers of any widths between the input features and the logits.

    >>> spec = InputSpec(n_features=4, n_classes=2)
    >>> network = MLP(spec, hidden=(8,), rng=np.random.default_rng(0))
    >>> network(torch.zeros(3, 4)).shape
    torch.Size([3, 2])
    """

    def __init__(self, spec: InputSpec, hidden: Sequence[int], rng: np.random.Generator, init: str = "xavier") -> None:
        super().__init__()
        self.init, initial = init, InitialWeights(init, rng)
        if not hidden or any(width < 1 for width in hidden):
            raise ValueError(f"hidden must name at least one layer width >= 1, got {tuple(hidden)}")
        wide = spec.sparse and spec.n_features * hidden[0] > ROW_TABLE_WEIGHTS
        first = RowTableLayer if wide else MatrixLayer
        self.first: MatrixLayer | RowTableLayer | AveragedRowTableLayer = first(spec.n_features, hidden[0], initial)
        self.layers = nn.ModuleList(linear(a, b, initial) for a, b in pairwise([*hidden, spec.n_classes]))

    def forward(self, *parts: Prepared) -> torch.Tensor:
        """Logits of the rows of all parts, one after the other."""
        return self.pre_activations(*parts)[-1]

    def pre_activations(self, *parts: Prepared) -> list[torch.Tensor]:
        """The input of every non-linearity, the last being the logits."""
        return self.upper_pre_activations(self.first(*parts))

    def upper_pre_activations(self, first: torch.Tensor) -> list[torch.Tensor]:
        """The same, given the first layer's."""
        values = [first]
        for layer in self.layers:
            active = F.relu(values[-1])
            values.append(unrounded(layer, active) if layer is self.layers[-1] else layer(active))
        return values

    def layer_by_layer(self, *parts: Prepared) -> list[torch.Tensor]:
        """The same, each with a graph that ends at its own layer: for steps by slopes that are known at all of them."""
        values = [self.first(*parts)]
        for layer in self.layers:
            values.append(layer(F.relu(values[-1].detach())))
        return values

    def features(self, rows: Prepared, layer: str = "penultimate") -> torch.Tensor:
        """The ``"penultimate"`` activations, which the last layer reads, or the ``"logits"``."""
        values = self.pre_activations(rows)
        return values[-1] if layer == "logits" else F.relu(values[-2])

    def group_norms(self) -> torch.Tensor:
        """The norm of each input feature's first-layer weights."""
        assert not isinstance(self.first, AveragedRowTableLayer)
        return self.first.group_norms()

    def alive(self) -> torch.Tensor:
        """Which input features still have a weight that is not zero."""
        assert not isinstance(self.first, AveragedRowTableLayer)
        return self.first.alive()

    @property
    def input_weights(self) -> InputWeights | None:
        """The first layer's; a row table's are not in one place."""
        return InputWeights("first.weight", self.first.weight, axis=0) if isinstance(self.first, MatrixLayer) else None

    def full_weights(self) -> dict[str, torch.Tensor]:
        """Every weight by name, detached; those of a row table are its rows, in order of first sight."""
        weights = super().full_weights()
        return weights if self.table is None else {"first.weight": self.table.rows(), **weights}

    def slots(self) -> Iterator[tuple[str, torch.Tensor, torch.Tensor | None]]:
        """Each weight that holds a gradient now; of a row table, the rows that are active."""
        yield from super().slots()
        if self.table is not None:
            rows, leaf = self.table.active
            yield "first.weight", leaf, rows

    @property
    def head(self) -> nn.Linear:
        """The last layer."""
        last = self.layers[-1]
        assert isinstance(last, nn.Linear)
        return last

    @property
    def n_outputs(self) -> int:
        return self.head.out_features

    @property
    def table(self) -> RowTable | None:
        return None if isinstance(self.first, MatrixLayer) else self.first.table

    def add_classes(self, n_classes: int, rng: np.random.Generator) -> None:
        """Grow the last layer to ``n_classes`` outputs; what it knew stays."""
        last = self.head
        grown = linear(last.in_features, n_classes, InitialWeights(self.init, rng))
        with torch.no_grad():
            grown.weight[: last.out_features] = last.weight
            grown.bias[: last.out_features] = last.bias
        self.layers[-1] = grown

    def draw_from(self, rng: np.random.Generator) -> None:
        if isinstance(self.first, RowTableLayer):
            self.first.draw_by(InitialWeights(self.init, rng))

    def has_slope(self) -> bool:
        slope = self.head.weight.grad
        return slope is None or bool(slope.any())

    def is_dead(self) -> bool:
        """The last step had a slope at the logits, and none of it came through to the first layer."""
        above, below = self.head.bias.grad, self.first.bias.grad
        return above is not None and below is not None and bool(above.any()) and not bool(below.any())

    def redraw(self, rng: np.random.Generator) -> None:
        """Begin anew, all layers."""
        assert not isinstance(self.first, AveragedRowTableLayer)
        initial = InitialWeights(self.init, rng)
        self.first.redraw(initial)
        with torch.no_grad():
            for layer in self.layers:
                assert isinstance(layer, nn.Linear)
                fresh = linear(layer.in_features, layer.out_features, initial)
                layer.weight.copy_(fresh.weight)
                layer.bias.copy_(fresh.bias)

    def copy(self) -> MLP:
        """The same network, to be moved without moving this one. A row table is shared: it can undo what was done."""
        return self._twin(self.first)

    def shadow(self) -> MLP:
        """A copy that another hand will move: the weights' average. A row table keeps its own averages: shared."""
        first = AveragedRowTableLayer(self.first) if isinstance(self.first, RowTableLayer) else self.first
        return self._twin(first).requires_grad_(False)

    def _twin(self, first: MatrixLayer | RowTableLayer | AveragedRowTableLayer) -> MLP:
        twin = type(self).__new__(type(self))
        nn.Module.__init__(twin)
        twin.init, twin.first = self.init, with_own_weights(first)
        twin.layers = nn.ModuleList(map(with_own_weights, self.layers))
        return twin


def with_own_weights(layer: Layer) -> Layer:
    """A copy of a layer that shares all with it but its weights; a deep copy would take longer than a step."""
    twin = copy(layer)
    twin._parameters = {
        name: None if value is None else nn.Parameter(value.detach().clone(), value.requires_grad)
        for name, value in layer._parameters.items()
    }
    return twin


def linear(fan_in: int, fan_out: int, initial: InitialWeights, bias: bool = True) -> nn.Linear:
    """A Linear layer, initialised without touching a global generator."""
    layer = empty_linear(fan_in, fan_out, bias)
    with torch.no_grad():
        layer.weight.copy_(initial.weights(fan_in, fan_out, fan_in).T)
        if bias:
            layer.bias.copy_(initial.bias(fan_in, fan_out))
    return layer


def empty_linear(fan_in: int, fan_out: int, bias: bool = True) -> nn.Linear:
    """A Linear layer whose weights are still to be set; nothing is drawn for them.

    Not by torch's ``to_empty``: its first call imports sympy, half a second in which ctrl-C leaves sympy unusable.
    """
    layer = nn.Linear(fan_in, fan_out, bias, device="meta")
    layer.weight = nn.Parameter(torch.empty(fan_out, fan_in))
    if bias:
        layer.bias = nn.Parameter(torch.empty(fan_out))
    return layer
