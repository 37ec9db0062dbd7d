"""What a policy may ask the network about the candidates."""

from __future__ import annotations

from typing import Protocol

import torch

from smartcl.data.batch import Ints
from smartcl.network.gradients import SampleGradients


class Geometry(Protocol):
    """The network's view of samples of a ``Pool``, by their positions in it."""

    def trace(self, index: Ints) -> SampleGradients:
        """Their per-sample gradients."""
        ...

    def features(self, index: Ints, layer: str) -> torch.Tensor:
        """Their ``"penultimate"`` features or their ``"logits"``."""
        ...
