"""How a learner's network sees the samples that are up for selection."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from smartcl.data.batch import Ints
from smartcl.memory import SampleStore
from smartcl.network.gradients import SampleGradients, sample_gradients

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
