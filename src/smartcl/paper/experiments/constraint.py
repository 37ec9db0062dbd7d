"""Probe of Eq. 2 along training: the cosine of a batch's gradient and the memory's, and the bounds that follow."""

from __future__ import annotations

from math import isfinite

import numpy as np

from smartcl.data.batch import Batch
from smartcl.learners.learner import Labelled, Learner
from smartcl.learners.stream_learner import StreamLearner
from smartcl.network.gradients import mean_gradient, trace
from smartcl.network.mlp import MLP
from smartcl.paper.scores.bounds import hoelder_bound, l2_bound, rise

#: Stored samples that stand for the memory.
SAMPLES = 500


class ConstraintProbe:
    """Looks at a learner before it learns a batch; changes nothing of it, and draws from a generator of its own."""

    def __init__(self, seed: int = 0) -> None:
        self._rng = np.random.default_rng(seed)
        self.history: dict[str, list[float | None]] = {
            name: [] for name in ("batches", "cosine", "rise", "l2_bound", "hoelder_bound")
        }

    def look(self, learner: StreamLearner, batch: Batch, done: int) -> None:
        """Note the two gradients' cosine (Eq. 2 holds where it is not negative), the memory's rise and its bounds."""
        if not isinstance(learner, Learner):
            return
        network, held = learner.model.network, len(learner.memory)
        if not held or not isinstance(network, MLP) or network.table is not None:
            return
        index = self._rng.choice(held, min(held, SAMPLES), replace=False)
        kept = network.alive()
        new, old = (
            mean_gradient(trace(network, rows, y), kept)
            for rows, y, _ in (
                Labelled(learner.prepared(batch.x), batch.y),
                learner.read_weighted(learner.memory.store, np.sort(index)),
            )
        )
        scale = float(new.norm() * old.norm())
        values = {
            "batches": done,
            "cosine": float(new @ old) / scale if scale else 0.0,
            "rise": rise(old),
            "l2_bound": l2_bound(new, old),
            "hoelder_bound": hoelder_bound(new, old),
        }
        for name, value in values.items():
            self.history[name].append(value if isfinite(value) else None)
