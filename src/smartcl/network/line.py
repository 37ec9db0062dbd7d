"""A network without hidden layers: softmax regression."""

from __future__ import annotations

import numpy as np
from torch import nn

from smartcl.data.spec import InputSpec
from smartcl.network.first_layer import MatrixLayer
from smartcl.network.initial_weights import InitialWeights
from smartcl.network.mlp import MLP


class Line(MLP):
    """One layer from the features to the logits, which begins at zero.

    >>> network = Line(InputSpec(n_features=4, n_classes=2))
    >>> network.add_classes(3, np.random.default_rng(0))
    >>> network.n_outputs
    3
    """

    first: MatrixLayer

    def __init__(self, spec: InputSpec) -> None:
        nn.Module.__init__(self)
        self.init = "xavier"
        self.first = MatrixLayer(spec.n_features, spec.n_classes, InitialWeights(self.init, np.random.default_rng(0)))
        self.layers = nn.ModuleList()
        nn.init.zeros_(self.first.weight)

    @property
    def n_outputs(self) -> int:
        return len(self.first.bias)

    def add_classes(self, n_classes: int, rng: np.random.Generator) -> None:
        """More columns of zeros."""
        more = (0, n_classes - self.n_outputs)
        self.first.weight, self.first.bias = (
            nn.Parameter(nn.functional.pad(value.detach(), more)) for value in (self.first.weight, self.first.bias)
        )

    def is_dead(self) -> bool:
        """There is nothing between the features and the logits that could be."""
        return False
