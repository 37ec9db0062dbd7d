"""GSS-Clust: keep samples whose gradients point in directions well apart.

Aljundi, Lin, Goujaud, Bengio, "Gradient based sample selection for online continual learning", NeurIPS 2019: the
clustering variant of their comparison.
"""

from __future__ import annotations

import numpy as np

from smartcl.memory.pool import Pool
from smartcl.selection.cosines import gradient_cosines
from smartcl.selection.k_centers import Distances, KCenters


class GSSClust(KCenters):
    """K-centres in ``1 − cosine`` of per-sample gradients; the spacing grows by one percent a pass.

    >>> GSSClust().growth
    1.01
    """

    def __init__(self, growth: float = 1.01) -> None:
        super().__init__(growth)

    def distances(self, pool: Pool) -> Distances:
        return 1.0 - gradient_cosines(pool.geometry.trace(np.arange(len(pool))))
