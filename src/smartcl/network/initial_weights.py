"""Initial weights, drawn from an explicit generator."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

import numpy as np
import torch

#: By name: half-widths of the uniform distributions of weights and of biases, from a layer's inputs and outputs.
#: ``xavier`` is the paper's replay protocol, ``fan-in`` PyTorch's default for Linear, used in Table 3's source.
BOUNDS: dict[str, Callable[[int, int], tuple[float, float]]] = {
    "xavier": lambda fan_in, fan_out: (sqrt(6.0 / (fan_in + fan_out)), 0.0),
    "fan-in": lambda fan_in, fan_out: (1 / sqrt(fan_in), 1 / sqrt(fan_in)),
}


class InitialWeights:
    """Draws the weights of layers in one of the known ways.

    >>> draw = InitialWeights("xavier", np.random.default_rng(0))
    >>> draw.weights(fan_in=3, fan_out=3, rows=2).abs().max() <= 1, draw.bias(3, 3)
    (tensor(True), tensor([0., 0., 0.]))
    """

    def __init__(self, way: str, rng: np.random.Generator) -> None:
        if way not in BOUNDS:
            raise ValueError(f"init must be one of {', '.join(BOUNDS)}, got {way!r}")
        self.way, self._rng = way, rng

    def weights(self, fan_in: int, fan_out: int, rows: int) -> torch.Tensor:
        """``[rows, fan_out]``: the outgoing weights of ``rows`` of a layer's ``fan_in`` inputs."""
        return self._uniform(BOUNDS[self.way](fan_in, fan_out)[0], (rows, fan_out))

    def bias(self, fan_in: int, fan_out: int) -> torch.Tensor:
        bound = BOUNDS[self.way](fan_in, fan_out)[1]
        return self._uniform(bound, (fan_out,)) if bound else torch.zeros(fan_out)

    def _uniform(self, bound: float, shape: tuple[int, ...]) -> torch.Tensor:
        return torch.from_numpy(self._rng.uniform(-bound, bound, shape).astype(np.float32))
