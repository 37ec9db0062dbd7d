"""Protocol of a network: what a learner needs, and fallbacks for what some methods ask beyond that."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import nn

from smartcl.network.inputs import Prepared
from smartcl.network.prox import row_norms
from smartcl.network.row_table.table import RowTable


@dataclass(frozen=True)
class InputWeights:
    """The weights that alone read the input, by name, seen as one row for each feature or group of features.

    ``axis`` is the dimension of the weights along which the groups lie.

    >>> inputs = InputWeights("linear.weight", torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), axis=1)
    >>> inputs.rows(inputs.weight)
    tensor([[1., 4.],
            [2., 5.],
            [3., 6.]])
    """

    name: str
    weight: torch.Tensor
    axis: int

    def rows(self, values: torch.Tensor) -> torch.Tensor:
        """Values of the weights' shape, group by group; a view where one is possible."""
        return values.movedim(self.axis, 0).flatten(1)

    def shaped(self, rows: torch.Tensor) -> torch.Tensor:
        """The way back from rows to the shape of the weights."""
        return rows.view(self.weight.movedim(self.axis, 0).shape).movedim(0, self.axis)

    def put(self, rows: torch.Tensor) -> None:
        """Give the weights the values of these rows; nothing is to do where the rows are the weights themselves."""
        if rows.data_ptr() != self.weight.data_ptr():
            self.weight.copy_(self.shaped(rows))

    def norms(self) -> torch.Tensor:
        """The Euclidean norm of each row."""
        return row_norms(self.rows(self.weight.detach()))


class Optimizer(Protocol):
    """What a penalty may ask of that which moves the weights."""

    @property
    def lr(self) -> float: ...

    def metric(self, name: str) -> torch.Tensor:
        """The diagonal metric in which the last step of this weight was a gradient step."""
        ...


class Network(nn.Module):
    """From rows to logits, with weights that can be copied, averaged, and given more classes."""

    def forward(self, *parts: Prepared) -> torch.Tensor:
        """Logits of the rows of all parts, one after the other."""
        raise NotImplementedError

    @property
    def n_outputs(self) -> int:
        """The number of logits."""
        raise NotImplementedError

    def copy(self) -> Network:
        """A copy of the network that can change without changing this one."""
        raise NotImplementedError

    def shadow(self) -> Network:
        """A copy for the average of the weights, which changes it."""
        raise NotImplementedError

    def draw_from(self, rng: np.random.Generator) -> None:
        """Weights that begin while it learns are drawn from this generator; nothing where all begin at once."""

    def add_classes(self, n_classes: int, rng: np.random.Generator) -> None:
        """Grow to ``n_classes`` outputs; what was known stays."""
        raise NotImplementedError

    def features(self, rows: Prepared, layer: str = "penultimate") -> torch.Tensor:
        """The ``"penultimate"`` activations, which the last layer reads, or the ``"logits"``."""
        raise NotImplementedError

    def alive(self) -> torch.Tensor:
        """Which input features still have a weight that is not zero."""
        raise NotImplementedError

    def group_norms(self) -> torch.Tensor:
        """The norm of the weights of each input feature."""
        raise NotImplementedError

    @property
    def input_weights(self) -> InputWeights | None:
        """The weights that read the input, if they are all in one place."""
        return None

    @property
    def table(self) -> RowTable | None:
        """The row table of a very wide sparse first layer, if this network has one."""
        return None

    def full_weights(self) -> dict[str, torch.Tensor]:
        """Every weight by name, detached."""
        return {name: value.detach() for name, value in self.named_parameters()}

    def slots(self) -> Iterator[tuple[str, torch.Tensor, torch.Tensor | None]]:
        """Each weight that holds a gradient now: its name, the leaf, and which rows it is (None: all of them)."""
        for name, value in self.named_parameters():
            yield name, value, None

    def has_slope(self) -> bool:
        """Whether the last step's loss depended on the network at all."""
        slopes = [value.grad for value in self.parameters() if value.grad is not None]
        return not slopes or any(bool(slope.any()) for slope in slopes)

    def is_dead(self) -> bool:
        """Whether the gradient of the logits no longer reaches the input."""
        return False

    def redraw(self, rng: np.random.Generator) -> None:
        """Begin anew, all layers."""
        raise NotImplementedError
