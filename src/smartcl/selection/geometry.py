"""Protocol of what a selection policy may ask the network about the candidates."""

from __future__ import annotations

from typing import Protocol

import torch

from smartcl.data.batch import Ints
from smartcl.network.gradients import SampleGradients


class Geometry(Protocol):
    """The network's view of samples of a ``Pool``, by their positions in it."""

    @property
    def distrust(self) -> float:
        """How much labels are distrusted, from 0 to 1."""
        ...

    @property
    def spared(self) -> int:
        """How many of the newest samples are too new to be distrusted."""
        ...

    def trace(self, index: Ints) -> SampleGradients:
        """Their per-sample gradients."""
        ...

    def features(self, index: Ints, layer: str) -> torch.Tensor:
        """Their ``"penultimate"`` features or their ``"logits"``."""
        ...
