"""Stored samples as a learner reads them: each once for the steps of a batch, and with its gradients for a selector."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch

from smartcl.data.batch import Ints
from smartcl.learners.weights import Labelled, take_samples
from smartcl.memory import SampleStore
from smartcl.network.gradients import SampleGradients, sample_gradients

#: Values read at a time, about, however large the memory is.
READ_CELLS = 2**22


def read_once(draws: Sequence[Ints], read: Callable[[Ints], Labelled], width: int) -> Iterator[Labelled | None]:
    """The samples at these places, step by step; None where none were drawn.

    Those of as many steps as ``READ_CELLS`` allows, for rows of this width, are read together, each of them once.
    """
    at_once = max(1, READ_CELLS // max(1, max(map(len, draws), default=0) * width))
    for first in range(0, len(draws), at_once):
        some = draws[first : first + at_once]
        places = np.unique(np.concatenate(some))
        stored = read(places) if len(places) else None
        for draw in some:
            found = torch.from_numpy(np.searchsorted(places, draw))
            yield None if stored is None else take_samples(stored, found)


def row_cells(store: SampleStore) -> int:
    """About how many values are read of a row: all, but of a sparse one hardly more than it has bytes."""
    return min(store.n_features, -(-store.rows.nbytes // max(1, len(store)))) if store.sparse else store.n_features


if TYPE_CHECKING:
    from smartcl.learners.learner import Learner


class CandidateView:
    """The network's view of those candidate samples that fit the memory, for selectors.

    New samples too are looked at as the memory would hold them, read back from their bytes: that is a few thousandths
    of a batch's time, and old and new arrive in one piece.
    """

    def __init__(self, learner: Learner, candidates: SampleStore, fitting: Ints) -> None:
        self._learner, self._candidates, self._fitting = learner, candidates, fitting
        self.distrust, self.spared = learner.distrust, learner.spared

    def trace(self, index: Ints) -> SampleGradients:
        samples = self._learner.read_weighted(self._candidates, self._fitting[index])
        return sample_gradients(self._learner.judge.network, samples.rows, samples.y)

    def features(self, index: Ints, layer: str) -> torch.Tensor:
        rows = self._learner.read_weighted(self._candidates, self._fitting[index]).rows
        with torch.no_grad():
            return self._learner.judge.network.features(rows, layer)
