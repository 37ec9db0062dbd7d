"""FSS-Clust: keep samples whose features lie well apart.

Aljundi, Lin, Goujaud, Bengio, "Gradient based sample selection for online continual learning", NeurIPS 2019: the
feature-space baseline of their comparison. It may keep far fewer samples than fit: the spacing doubles.
"""

from __future__ import annotations

import numpy as np
import torch
from scipy.spatial.distance import pdist, squareform

from smartcl.memory.pool import Pool
from smartcl.selection.k_centers import Distances, KCenters

LAYERS = ("penultimate", "logits")


def squared_distances(features: torch.Tensor) -> Distances:
    """``‖f_i − f_j‖²`` for all pairs of rows, exactly zero for equal rows.

    >>> squared_distances(torch.tensor([[0.0, 0.0], [3.0, 4.0]]))
    array([[ 0., 25.],
           [25.,  0.]])
    """
    distances: Distances = squareform(pdist(features.double().numpy(), "sqeuclidean"))
    return distances


class FSSClust(KCenters):
    """K-centres in the squared distance between features; the spacing doubles at each pass.

    ``layer`` says which features: the ``"penultimate"`` activations, or the ``"logits"`` as the authors' code does.

    >>> class Line:
    ...     def features(self, index, layer):
    ...         return torch.tensor([[0.0], [0.1], [2.0], [5.0]])[index]
    >>> pool = Pool(np.full(4, 10), np.zeros(4, int), np.zeros(4, np.float32), n_memory=0, geometry=Line())
    >>> len(FSSClust().select(pool, room=30, rng=np.random.default_rng(0)).keep)
    3
    """

    def __init__(self, growth: float = 2.0, layer: str = "penultimate") -> None:
        super().__init__(growth)
        if layer not in LAYERS:
            raise ValueError(f"layer must be one of {', '.join(LAYERS)}, got {layer!r}")
        self.layer = layer

    def distances(self, pool: Pool) -> Distances:
        return squared_distances(pool.geometry.features(np.arange(len(pool)), self.layer))
