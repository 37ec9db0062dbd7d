"""Networks of one's own, as a user would write them: what the tables name in the place of layers."""

from __future__ import annotations

from torch import nn

from smartcl.data.spec import InputSpec


def small_convolution(spec: InputSpec) -> nn.Module:
    """Two convolutions that each halve the image, and two linear layers.

    >>> sum(value.numel() for value in small_convolution(InputSpec(784, 10, shape=(1, 28, 28))).parameters())
    207178
    """
    channels, height, width = spec.row_shape
    return nn.Sequential(
        nn.Conv2d(channels, 16, kernel_size=5, stride=2, padding=2),
        nn.ReLU(),
        nn.Conv2d(16, 32, kernel_size=3, stride=2, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(32 * -(-height // 4) * -(-width // 4), 128),
        nn.ReLU(),
        nn.Linear(128, spec.n_classes),
    )
