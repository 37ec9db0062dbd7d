"""Seconds per selection where 300 images are stored, gradients or features included (784-400-400-2, one thread)."""

from __future__ import annotations

import numpy as np
import torch

from benchmarks.timing import best_seconds, report
from smartcl.memory.pool import Pool, Selector
from smartcl.network.gradients import Trace, gradient_cosines, trace
from smartcl.network.mlp import MLP
from smartcl.paper.datasets.dataset_registry import load_stream
from smartcl.selection.gss_iqp import GSSIQP, least_alike
from smartcl.selection.k_centers import FSSClust, GSSClust

STORED, SIZE = 300, 785


class Images:
    """Stored and new images of two tasks, and an untrained network's view of them."""

    def __init__(self, new: int) -> None:
        stream = load_stream("disjoint-mnist")
        old, fresh = stream.tasks[0].train, stream.tasks[1].train
        self.x = torch.cat([old.x[:STORED], fresh.x[:new]]) / 255
        self.y = torch.cat([old.y[:STORED], fresh.y[:new]])
        self.network = MLP(stream.spec, (400, 400), np.random.default_rng(0))

    def trace(self, index: np.ndarray) -> Trace:
        return trace(self.network, self.x[index], self.y[index])

    def features(self, index: np.ndarray, layer: str) -> torch.Tensor:
        with torch.no_grad():
            return self.network.features(self.x[index], layer)

    def pool(self) -> Pool:
        n = len(self.x)
        return Pool(np.full(n, SIZE), self.y.numpy(), np.zeros(n, np.float32), STORED, self)


def seconds(selector: Selector, new: int) -> float:
    """Seconds to choose 300 of 300 stored and some new images."""
    pool = Images(new).pool()
    (best,) = best_seconds([lambda: selector.select(pool, STORED * SIZE, np.random.default_rng(0))], calls=1, rounds=5)
    return best


if __name__ == "__main__":
    torch.set_num_threads(1)
    cosines = gradient_cosines(Images(50).trace(np.arange(STORED + 50)))
    choice = least_alike(cosines, STORED, np.random.default_rng(0))
    report(
        ("GSS-IQP, 50 new: seconds", seconds(GSSIQP(), 50), "< 2"),
        ("GSS-IQP: objective above the relaxation's bound, share", choice.gap / choice.lower_bound, "(no target)"),
        ("GSS-Clust, 100 new: seconds", seconds(GSSClust(), 100), "< 0.5"),
        ("FSS-Clust, 100 new: seconds", seconds(FSSClust(), 100), "< 0.5"),
    )
