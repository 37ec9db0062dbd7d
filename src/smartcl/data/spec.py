"""Signature of a stream: what a learner must know before the first batch."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np


@dataclass(frozen=True)
class InputSpec:
    """The signature of a stream.

    ``dtype`` is the native dtype of the values: it prices "300 samples" in bytes. The network sees
    ``(value - offset) * scale``, or with ``learned`` what its own centre and scale, learned as the stream goes, make
    of each feature; the memory stores the native values. Rows are flat; ``shape`` is that of the images, or whatever
    they are, that a network of the user's own makes of them. ``momentary`` are the features that tell of the newest
    labels: they are 0 in rows of which it is not known what came shortly before.

    >>> InputSpec(n_features=784, n_classes=2, dtype="uint8", scale=1 / 255).sample_nbytes
    784
    """

    n_features: int
    n_classes: int
    dtype: str = "float32"
    sparse: bool = False
    offset: float = 0.0
    scale: float = 1.0
    learned: bool = False
    shape: tuple[int, ...] | None = None
    momentary: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.shape is not None and prod(self.shape) != self.n_features:
            raise ValueError(f"shape must have {self.n_features} values, as a row has, got {self.shape}")
        if any(not 0 <= feature < self.n_features for feature in self.momentary):
            raise ValueError(f"momentary features must be below {self.n_features}, got {self.momentary}")

    @property
    def row_shape(self) -> tuple[int, ...]:
        """Of one row, as a network may take it."""
        return (self.n_features,) if self.shape is None else self.shape

    @property
    def pixels(self) -> int:
        """How many neighbouring features are one channel of an image, and of one scale; 1 where rows are no images."""
        return 1 if self.sparse or self.shape is None or len(self.shape) != 3 else self.shape[1] * self.shape[2]

    @property
    def sample_nbytes(self) -> int:
        return self.n_features * np.dtype(self.dtype).itemsize
