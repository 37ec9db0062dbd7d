"""The model: a multi-layer perceptron whose first layer keeps one row of weights per input feature."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from functools import partial
from itertools import pairwise

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from smartcl.data.spec import InputSpec
from smartcl.network.bag import embedding_sum
from smartcl.network.initial import Initial
from smartcl.network.inputs import Prepared, SparseInput, concatenate
from smartcl.network.joint import joint_product
from smartcl.network.prox import row_norms
from smartcl.network.row_table.table import RowTable

#: A sparse first layer with more weights than this updates only the rows a step touches.
ROW_TABLE_WEIGHTS = 4_000_000


class DenseInput(nn.Module):
    """The first layer with all its weights in one matrix ``[D, width]``: a feature is a row."""

    def __init__(self, n_features: int, width: int, initial: Initial) -> None:
        super().__init__()
        self.weight = nn.Parameter(initial.weights(n_features, width, n_features))
        self.bias = nn.Parameter(initial.bias(n_features, width))

    @torch.no_grad()
    def redraw(self, initial: Initial) -> None:
        """Begin anew."""
        n_features, width = self.weight.shape
        self.weight.copy_(initial.weights(n_features, width, n_features))
        self.bias.copy_(initial.bias(n_features, width))

    def forward(self, *parts: Prepared) -> torch.Tensor:
        if len(parts) == 1 and isinstance(parts[0], torch.Tensor):
            return torch.addmm(self.bias, parts[0], self.weight)
        dense = [part for part in parts if not isinstance(part, SparseInput)]
        if dense:
            if len(dense) < len(parts):
                raise ValueError("parts must be all dense or all sparse")
            return joint_product(self.weight, self.bias, dense)
        bag = concatenate([part for part in parts if isinstance(part, SparseInput)])
        return embedding_sum(self.weight, bag.indices, bag) + self.bias

    def group_norms(self) -> torch.Tensor:
        """The Euclidean norm of each feature's row of weights."""
        return row_norms(self.weight.detach())

    def alive(self) -> torch.Tensor:
        """Which features have a weight that is not zero."""
        return self.group_norms() > 0


class RowInput(nn.Module):
    """The first layer of a very wide sparse input: a ``RowTable`` whose touched rows alone cost anything."""

    def __init__(self, n_features: int, width: int, initial: Initial) -> None:
        super().__init__()
        self.table = RowTable(n_features, width, partial(initial.weights, n_features, width))
        self.bias = nn.Parameter(initial.bias(n_features, width))

    def forward(self, *parts: Prepared) -> torch.Tensor:
        bags = [part for part in parts if isinstance(part, SparseInput)]
        if len(bags) < len(parts):
            raise ValueError("a row table takes sparse rows: pass CSR, not a dense array")
        bag = concatenate(bags)
        look_up = self.table.activate if torch.is_grad_enabled() else self.table.peek
        rows, local = look_up(bag.indices)
        return embedding_sum(rows, local, bag) + self.bias

    def redraw(self, initial: Initial) -> None:
        """Begin anew with the rows awake; those asleep wake to a network that listens again."""
        self.table.redraw()
        with torch.no_grad():
            self.bias.copy_(initial.bias(self.table.n_features, len(self.bias)))

    def group_norms(self) -> torch.Tensor:
        """The norm of each feature's row; zero for a feature that was never seen."""
        return self.table.group_norms()

    def alive(self) -> torch.Tensor:
        """Which features have weights, or may get some: one never seen is not dead."""
        return self.table.alive()


class AveragedRowInput(nn.Module):
    """The same row table read through its averages."""

    def __init__(self, layer: RowInput) -> None:
        super().__init__()
        self.table = layer.table
        self.bias = nn.Parameter(layer.bias.detach().clone())

    def forward(self, part: Prepared) -> torch.Tensor:
        assert isinstance(part, SparseInput)
        rows, local = self.table.peek(part.indices, average=True)
        return embedding_sum(rows, local, part) + self.bias


class MLP(nn.Module):
    """ReLU layers of any widths between the input features and the logits.

    >>> spec = InputSpec(n_features=4, n_classes=2)
    >>> network = MLP(spec, hidden=(8,), rng=np.random.default_rng(0))
    >>> network(torch.zeros(3, 4)).shape
    torch.Size([3, 2])
    """

    def __init__(self, spec: InputSpec, hidden: Sequence[int], rng: np.random.Generator, init: str = "xavier") -> None:
        super().__init__()
        self.init, initial = init, Initial(init, rng)
        if not hidden or any(width < 1 for width in hidden):
            raise ValueError(f"hidden must name at least one layer width >= 1, got {tuple(hidden)}")
        wide = spec.sparse and spec.n_features * hidden[0] > ROW_TABLE_WEIGHTS
        first = RowInput if wide else DenseInput
        self.first: DenseInput | RowInput | AveragedRowInput = first(spec.n_features, hidden[0], initial)
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
            values.append(layer(F.relu(values[-1])))
        return values

    def features(self, rows: Prepared, layer: str = "penultimate") -> torch.Tensor:
        """The ``"penultimate"`` activations, which the last layer reads, or the ``"logits"``."""
        values = self.pre_activations(rows)
        return values[-1] if layer == "logits" else F.relu(values[-2])

    def group_norms(self) -> torch.Tensor:
        """The norm of each input feature's first-layer weights."""
        assert not isinstance(self.first, AveragedRowInput)
        return self.first.group_norms()

    def alive(self) -> torch.Tensor:
        """Which input features the network still listens to."""
        assert not isinstance(self.first, AveragedRowInput)
        return self.first.alive()

    def full_weights(self) -> dict[str, torch.Tensor]:
        """Every weight by name, detached; those of a row table are its rows, in order of first sight."""
        weights = {name: value.detach() for name, value in self.named_parameters()}
        return weights if self.table is None else {"first.weight": self.table.rows(), **weights}

    def slots(self) -> Iterator[tuple[str, torch.Tensor, torch.Tensor | None]]:
        """Each weight that holds a gradient now: its name, the leaf, and which rows it is (None: all of them)."""
        for name, value in self.named_parameters():
            yield name, value, None
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
    def table(self) -> RowTable | None:
        """The row table of a very wide sparse first layer, if this network has one."""
        return None if isinstance(self.first, DenseInput) else self.first.table

    def add_classes(self, n_classes: int, rng: np.random.Generator) -> None:
        """Grow the last layer to ``n_classes`` outputs; what it knew stays."""
        last = self.head
        grown = linear(last.in_features, n_classes, Initial(self.init, rng))
        with torch.no_grad():
            grown.weight[: last.out_features] = last.weight
            grown.bias[: last.out_features] = last.bias
        self.layers[-1] = grown

    def is_dead(self) -> bool:
        """The last step had a slope at the logits, and none of it came through to the first layer."""
        above, below = self.head.bias.grad, self.first.bias.grad
        return above is not None and below is not None and bool(above.any()) and not bool(below.any())

    def redraw(self, rng: np.random.Generator) -> None:
        """Begin anew, all layers."""
        assert not isinstance(self.first, AveragedRowInput)
        initial = Initial(self.init, rng)
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
        first = AveragedRowInput(self.first) if isinstance(self.first, RowInput) else self.first
        return self._twin(first).requires_grad_(False)

    def _twin(self, first: DenseInput | RowInput | AveragedRowInput) -> MLP:
        shared = {} if self.table is None else {id(self.table): self.table}
        twin = MLP.__new__(MLP)
        nn.Module.__init__(twin)
        twin.init, twin.first, twin.layers = self.init, deepcopy(first, shared), deepcopy(self.layers)
        return twin


def linear(fan_in: int, fan_out: int, initial: Initial) -> nn.Linear:
    """A Linear layer, initialised without touching a global generator."""
    layer = nn.Linear(fan_in, fan_out, device="meta").to_empty(device="cpu")
    with torch.no_grad():
        layer.weight.copy_(initial.weights(fan_in, fan_out, fan_in).T)
        layer.bias.copy_(initial.bias(fan_in, fan_out))
    return layer
