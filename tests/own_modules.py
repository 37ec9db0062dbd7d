"""Modules as a user may bring them, small enough for tests, and rows for them."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

from smartcl.data.batch import Batch
from smartcl.data.spec import InputSpec

SHAPE = (2, 4, 5)


def image_spec(n_classes: int = 2, **more: Any) -> InputSpec:
    return InputSpec(n_features=40, n_classes=n_classes, shape=SHAPE, **more)


def convolution(spec: InputSpec) -> nn.Module:
    """Two convolutions and two linear layers, with a normalisation and a dropout between."""
    channels, height, width = spec.row_shape
    return nn.Sequential(
        nn.Conv2d(channels, 3, 3, padding=1),
        nn.ReLU(inplace=True),
        nn.Conv2d(3, 4, 2, stride=2, bias=False),
        nn.GroupNorm(2, 4),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(4 * (height // 2) * (width // 2), 6),
        nn.Dropout(0.2),
        nn.ReLU(),
        nn.Linear(6, spec.n_classes),
    )


def perceptron(spec: InputSpec) -> nn.Module:
    """What ``MLP`` is, in plain layers, on rows of any shape."""
    return nn.Sequential(nn.Flatten(), nn.Linear(spec.n_features, 7), nn.ReLU(), nn.Linear(7, spec.n_classes))


class Tokens(nn.Module):
    """Layers of many kinds: a Linear layer on every row of an image, a norm, a parameter of its own, a buffer."""

    def __init__(self, spec: InputSpec) -> None:
        super().__init__()
        *_, width = spec.row_shape
        self.each = nn.Linear(width, 3)
        self.norm = nn.LayerNorm(3)
        self.query = nn.Parameter(torch.randn(3))
        self.register_buffer("mask", torch.tensor([0.0, -torch.inf]))
        self.register_buffer("projection", torch.randn(3, 4))
        self.head = nn.Linear(4, spec.n_classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        tokens = self.norm(self.each(x.flatten(1, -2)))
        weight = (tokens @ self.query).softmax(dim=1)
        return self.head((weight[..., None] * tokens).sum(dim=1) @ self.projection)


def sgd(parameters: list[nn.Parameter]) -> torch.optim.Optimizer:
    return torch.optim.SGD(parameters, lr=0.05, momentum=0.9)


def adamw(parameters: list[nn.Parameter]) -> torch.optim.Optimizer:
    return torch.optim.AdamW(parameters, lr=1e-2)


def flipped(rows: torch.Tensor) -> torch.Tensor:
    """Some rows mirrored, by torch's global generator."""
    return torch.where((torch.rand(len(rows)) < 0.5).view(-1, 1, 1, 1), rows.flip(-1), rows)


def shaken(rows: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """A little noise, by the generator that is given."""
    return rows + 0.01 * torch.randn(rows.shape, generator=generator)


def image_batches(count: int = 6, rows: int = 10, seed: int = 0, n_classes: int = 2) -> list[Batch]:
    """Images whose upper half is brighter than the lower in class 1; two tasks, one after the other."""
    rng = np.random.default_rng(seed)
    batches = []
    for number in range(count):
        x = rng.normal(size=(rows, *SHAPE)).astype(np.float32).round(1)
        y = rng.integers(0, n_classes, rows)
        x[:, :, :2] += y[:, None, None, None]
        first = number * rows
        task = int(number >= count // 2)
        flat = torch.from_numpy(x.reshape(rows, -1))
        batches.append(Batch(flat, torch.from_numpy(y), task, np.arange(first, first + rows)))
    return batches
