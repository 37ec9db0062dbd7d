"""What a learner must know of a stream before the first batch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class InputSpec:
    """The signature of a stream.

    ``dtype`` is the native dtype of the values: it prices "300 samples" in bytes. The network sees
    ``(value - offset) * scale``, or with ``learned`` what its own centre and scale, learned as the stream goes, make
    of each feature; the memory stores the native values.

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

    @property
    def sample_nbytes(self) -> int:
        return self.n_features * np.dtype(self.dtype).itemsize
