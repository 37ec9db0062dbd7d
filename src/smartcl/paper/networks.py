"""Networks of one's own, as a user would write them: what the tables name in the place of layers."""

from __future__ import annotations

import torch
import torch.nn.functional as F
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


def shifted(images: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Each image moved by up to a pixel each way, what is beyond the margin black: an augmentation.

    >>> image = torch.tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
    >>> shifted(image, torch.Generator().manual_seed(0))
    tensor([[[[0., 3.], [0., 0.]]]])
    """
    height, width = images.shape[2:]
    padded = F.pad(images, (1, 1, 1, 1))
    moves = torch.randint(0, 3, (2, len(images)), generator=generator)
    rows, columns = moves[0][:, None] + torch.arange(height), moves[1][:, None] + torch.arange(width)
    index = torch.arange(len(images))[:, None, None]
    return padded.permute(0, 2, 3, 1)[index, rows[:, :, None], columns[:, None, :]].permute(0, 3, 1, 2)
