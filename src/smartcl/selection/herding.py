"""Herding: few samples whose mean feature stays close to that of many, in an order that may be cut anywhere.

Rebuffi, Kolesnikov, Sperl, Lampert, "iCaRL: incremental classifier and representation learning", CVPR 2017,
Algorithms 4 and 5; the idea is Welling's (ICML 2009).
"""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F

from smartcl.data.batch import Ints
from smartcl.memory.pool import Pool, Selection
from smartcl.selection.fair_shares import fair_prefixes, fair_share, groups_of, positions_by


def herd(features: torch.Tensor, count: int) -> Ints:
    """Up to ``count`` distinct rows, each the one that brings the mean of those so far closest to the mean of all.

    With ``r = k·mean − sum`` the k-th choice minimises ``‖r − f_i‖²``, that is maximises ``f_i·r − ½‖f_i‖²``.

    >>> herd(torch.tensor([[0.0], [1.0], [4.0], [1.6]]), count=3)
    array([3, 1, 2])
    """
    rows = features.double()
    mean, half_norms = rows.mean(dim=0), rows.square().sum(dim=1) / 2
    remainder = mean.clone()
    chosen: list[int] = []
    for _ in range(min(count, len(rows))):
        gain = rows @ remainder - half_norms
        gain[chosen] = -torch.inf
        chosen.append(int(gain.argmax()))
        remainder += mean - rows[chosen[-1]]
    return np.array(chosen, dtype=np.int64)


def as_measured(features: torch.Tensor, layer: str) -> torch.Tensor:
    """Features as distances are taken between them: penultimate ones at length one, logits as they are."""
    return F.normalize(features) if layer == "penultimate" else features


class Herding:
    """Every class seen has the same number of bytes, and keeps in them the first of its samples in herding order.

    A class is a label, or a pair of task and label where tasks are stored. A sample's score is its place in the order:
    a class without new samples is cut by it, one with new samples is put in order again.

    ``layer`` says by which features: ``"penultimate"``, normalised, as in the paper, or ``"logits"``, as in the
    reimplementation that came with GEM.

    >>> class Line:
    ...     def features(self, index, layer):
    ...         return torch.tensor([[0.0], [1.0], [4.0], [1.6]])[index]
    >>> pool = Pool(np.full(4, 10), np.zeros(4, int), np.zeros(4, np.float32), n_memory=0, geometry=Line())
    >>> Herding("logits").select(pool, room=25, rng=np.random.default_rng(0)).keep
    array([1, 3])
    """

    scored = True

    def __init__(self, layer: str = "penultimate") -> None:
        if layer not in ("penultimate", "logits"):
            raise ValueError(f"layer must be 'penultimate' or 'logits', got {layer!r}")
        self.layer = layer

    def select(self, pool: Pool, room: int, rng: np.random.Generator) -> Selection:
        classes = positions_by(groups_of(pool))
        share = fair_share(np.array([pool.sizes[index].sum() for index in classes]), room)
        places, orders = pool.scores.copy(), []
        for index in classes:
            if index[-1] < pool.n_memory:
                order = index[np.argsort(places[index], kind="stable")]
            else:
                features = as_measured(pool.geometry.features(index, self.layer), self.layer)
                order = index[herd(features, count=share // int(pool.sizes[index].min()) + 1)]
                places[order] = np.arange(len(order))
            orders.append(order)
        keep = fair_prefixes(orders, pool.sizes, room)
        return Selection(keep, places[keep])
