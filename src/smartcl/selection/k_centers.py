"""GSS-Clust and FSS-Clust: samples whose gradients, or features, lie well apart, by online k-centres.

A sample is kept if it lies farther than a spacing from every sample kept before it. Aljundi, Lin, Goujaud, Bengio,
"Gradient based sample selection for online continual learning", NeurIPS 2019: the clustering variant of their
comparison and its feature-space baseline, after Charikar, Chekuri, Feder, Motwani, "Incremental clustering and dynamic
information retrieval", STOC 1997.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.spatial.distance import pdist, squareform

from smartcl.data.batch import Bools, Ints
from smartcl.memory.pool import Pool, Selection
from smartcl.network.gradients import gradient_cosines

#: Samples closer than this are the same.
COPY = 1e-100

LAYERS = ("penultimate", "logits")

#: A symmetric matrix of distances between samples.
Distances = NDArray[np.float64]


def spread(distances: Distances, spacing: float) -> Bools:
    """A greedy pass in order: True for each sample farther than ``spacing`` from every one kept before it.

    >>> x = np.array([0.0, 1.0, 2.0, 5.0])
    >>> spread(abs(x[:, None] - x[None, :]), spacing=1.0)
    array([ True, False,  True,  True])
    """
    close = np.triu(distances <= spacing, k=1)
    kept = np.ones(len(distances), dtype=np.bool_)
    # only a sample with another close after it can make one leave
    for i in np.flatnonzero(close.any(axis=1)):
        if kept[i]:
            kept[close[i]] = False
    return kept


def thin_out(distances: Distances, sizes: Ints, room: int, growth: float) -> Ints:
    """Positions of the samples left when the spacing has grown until they fit ``room`` bytes.

    From the smallest distance on, the spacing is multiplied by ``growth`` and a greedy pass made over what is left,
    again and again. A pass under the smallest distance left would change nothing, so the spacing jumps there at once.
    Copies, whose distance of zero no factor would ever outgrow, go first.

    >>> x = np.array([0.0, 0.1, 2.0, 5.0])
    >>> thin_out(abs(x[:, None] - x[None, :]), sizes=np.full(4, 10), room=30, growth=2.0)
    array([0, 2, 3])
    """
    left = np.arange(len(sizes))
    if sizes.sum() > room:
        left = left[spread(distances, COPY)]
    start = smallest_distance(distances[np.ix_(left, left)])
    passes = 0
    while len(left) > 1 and sizes[left].sum() > room:
        between = distances[np.ix_(left, left)]
        passes = passes_to(smallest_distance(between), start, growth, passes + 1)
        left = left[spread(between, start * growth**passes)]
    return left if sizes[left].sum() <= room else left[:0]


def passes_to(distance: float, start: float, growth: float, least: int) -> int:
    """The smallest ``k``, at least ``least``, with ``start · growth^k`` not below ``distance``."""
    passes = max(least, math.floor(math.log(distance / start) / math.log(growth)))
    while start * growth**passes < distance:
        passes += 1
    return passes


def smallest_distance(distances: Distances) -> float:
    """Between two different samples; infinite where there are no two."""
    return float((distances + np.diag(np.full(len(distances), np.inf))).min(initial=np.inf))


def squared_distances(features: torch.Tensor) -> Distances:
    """``‖f_i − f_j‖²`` for all pairs of rows, exactly zero for equal rows.

    >>> squared_distances(torch.tensor([[0.0, 0.0], [3.0, 4.0]]))
    array([[ 0., 25.],
           [25.,  0.]])
    """
    distances: Distances = squareform(pdist(features.double().numpy(), "sqeuclidean"))
    return distances


class KCenters:
    """New samples too close to the memory are not stored; over budget, all are thinned out from a random start.

    A subclass says how far samples are apart. Too close is: not farther than the two closest of the memory are. A pass
    goes over all samples in a random order, or with ``memory_first`` as the authors' code does: after the random start
    the memory, then the newcomers, so that of two close samples the older stays.
    """

    scored = False

    def __init__(self, growth: float, memory_first: bool = False) -> None:
        if not growth > 1:
            raise ValueError(f"growth must be above 1, got {growth}")
        self.growth, self.memory_first = growth, memory_first

    def distances(self, pool: Pool) -> Distances:
        """Between all samples of the pool, under the network's present weights."""
        raise NotImplementedError

    def select(self, pool: Pool, room: int, rng: np.random.Generator) -> Selection:
        distances = self.distances(pool)
        keep = np.concatenate([pool.old, self._newcomers(pool, room, distances)])
        if pool.sizes[keep].sum() > room:
            order = self._order(keep, rng)
            keep = np.sort(order[thin_out(distances[np.ix_(order, order)], pool.sizes[order], room, self.growth)])
        return Selection(keep, pool.scores[keep])

    def _order(self, keep: Ints, rng: np.random.Generator) -> Ints:
        if not self.memory_first:
            return rng.permutation(keep)
        start = int(rng.integers(len(keep)))
        return np.concatenate([keep[[start]], np.delete(keep, start)])

    def _newcomers(self, pool: Pool, room: int, distances: Distances) -> Ints:
        n = pool.n_memory
        spacing = smallest_distance(distances[:n, :n]) if n > 1 else 0.0
        new = pool.new[(distances[n:, :n] > spacing).all(axis=1) & (pool.sizes[n:] <= room)]
        return new[spread(distances[np.ix_(new, new)], spacing)]


class GSSClust(KCenters):
    """K-centres in ``1 − cosine`` of per-sample gradients; the spacing grows by one percent a pass.

    >>> GSSClust().growth
    1.01
    """

    def __init__(self, growth: float = 1.01) -> None:
        super().__init__(growth)

    def distances(self, pool: Pool) -> Distances:
        return 1.0 - gradient_cosines(pool.geometry.trace(np.arange(len(pool))))


class FSSClust(KCenters):
    """K-centres in the squared distance between features; the spacing doubles at each pass.

    It may keep far fewer samples than fit.

    ``layer`` says which features: the ``"penultimate"`` activations, or the ``"logits"`` as the authors' code does.

    >>> class Line:
    ...     def features(self, index, layer):
    ...         return torch.tensor([[0.0], [0.1], [2.0], [5.0]])[index]
    >>> pool = Pool(np.full(4, 10), np.zeros(4, int), np.zeros(4, np.float32), n_memory=0, geometry=Line())
    >>> len(FSSClust().select(pool, room=30, rng=np.random.default_rng(0)).keep)
    3
    """

    def __init__(self, growth: float = 2.0, layer: str = "penultimate", memory_first: bool = False) -> None:
        super().__init__(growth, memory_first)
        if layer not in LAYERS:
            raise ValueError(f"layer must be one of {', '.join(LAYERS)}, got {layer!r}")
        self.layer = layer

    def distances(self, pool: Pool) -> Distances:
        return squared_distances(pool.geometry.features(np.arange(len(pool)), self.layer))
