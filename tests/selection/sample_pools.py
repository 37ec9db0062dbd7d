"""Random samples with a network's view of them, as a selector meets them."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F

from smartcl.data.spec import InputSpec
from smartcl.memory.pool import Pool
from smartcl.network.gradients import Trace, trace
from smartcl.network.mlp import MLP


class SamplePool:
    """Labelled rows, a small network, and the geometry of both."""

    def __init__(self, count: int, n_memory: int, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.network = MLP(InputSpec(n_features=6, n_classes=2), (7, 5), rng)
        self.x = torch.from_numpy(rng.normal(size=(count, 6)).astype(np.float32))
        self.y = torch.from_numpy(rng.integers(0, 2, count))
        self.n_memory = n_memory

    def trace(self, index: np.ndarray) -> Trace:
        return trace(self.network, self.x[index], self.y[index])

    def features(self, index: np.ndarray, layer: str) -> torch.Tensor:
        with torch.no_grad():
            return self.network.features(self.x[index], layer)

    def pool(self, sizes: np.ndarray | None = None) -> Pool:
        sizes = np.full(len(self.x), 10) if sizes is None else sizes
        return Pool(sizes, self.y.numpy(), np.zeros(len(self.x), np.float32), self.n_memory, self)

    def cosines(self) -> np.ndarray:
        """Of the gradients, one backward pass per sample."""
        gradients = []
        for row, label in zip(self.x, self.y, strict=True):
            loss = F.cross_entropy(self.network(row[None]), label[None])
            slopes = torch.autograd.grad(loss, list(self.network.parameters()))
            gradients.append(torch.cat([slope.flatten() for slope in slopes]).double().numpy())
        unit = np.stack(gradients) / np.linalg.norm(gradients, axis=1, keepdims=True)
        return unit @ unit.T
