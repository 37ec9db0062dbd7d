"""RanDumb: random features and the nearest class mean in the metric of their one covariance; no sample is kept.

Prabhu, Sinha, Kumaraguru, Torr, Sener, Dokania, "Random representations outperform online continually learned
representations", NeurIPS 2024. Features are random Fourier features, of sparse rows of many columns hashed columns. The
covariance within classes is shrunk by Oracle Approximating Shrinkage (Chen et al. 2010), as in the authors' code.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.linalg import lapack
from scipy.special import softmax

from smartcl.data.batch import Batch, Doubles, Floats, Rows
from smartcl.data.spec import InputSpec
from smartcl.learners.ensemble.feature_maps import FourierFeatures, HashedColumns, hashes
from smartcl.learners.ensemble.frame import Frame
from smartcl.learners.ensemble.sums import Sums
from smartcl.learners.method_settings import RanDumbSettings
from smartcl.learners.stream_learner import StreamLearner
from smartcl.learners.weights import class_weights
from smartcl.memory.schematic_memory import Observation, SchematicMemory
from smartcl.saving.saved import Saved
from smartcl.selection.reservoir import Nothing


def oas_shrinkage(covariance: Doubles, rows: float) -> float:
    """The share of a covariance of ``rows`` rows that its mean variance replaces: Oracle Approximating Shrinkage.

    >>> oas_shrinkage(np.diag([1.0, 3.0]), rows=99)
    0.13
    """
    variance, squares = float(np.trace(covariance)) / len(covariance), float(np.mean(covariance**2))
    spread = (rows + 1) * (squares - variance**2 / len(covariance))
    return min((squares + variance**2) / spread, 1.0) if spread > 0 else 1.0


def discriminant(sums: Sums) -> Doubles:
    """Weights ``[feature, class]`` of linear discriminant analysis with equal priors; the first feature is 1.

    A row's score for a class is minus half its squared Mahalanobis distance to the class's mean, but for what all
    classes have in common. A class that has not come has the score −∞.

    >>> features = np.array([[1, 0, 0], [1, 0, 2], [1, 4, 0], [1, 4, 2]], dtype=np.float32)
    >>> sums = Sums.empty(3, 2, forgetting=1.0).with_rows(features, np.array([0, 0, 1, 1]))
    >>> (features @ discriminant(sums)).argmax(axis=1)
    array([0, 0, 1, 1])
    """
    count = sums.products[0]
    means = sums.products[1:] / np.where(count > 0, count, 1.0)
    within = sums.matrix()[1:, 1:]  # one triangle of it counts
    within -= (means * count) @ means.T
    within /= max(sums.rows, 1e-300)
    within = np.triu(within) + np.triu(within, 1).T
    shrinkage, variance = oas_shrinkage(within, sums.rows), float(np.trace(within)) / len(within)
    within *= 1 - shrinkage
    within[np.diag_indices_from(within)] += shrinkage * variance + LEAST_VARIANCE
    _, solved, failed = lapack.dposv(within, means)
    if failed:  # the covariance is not positive definite in this precision: distances as they are
        solved = means
    bias = np.where(count > 0, -np.einsum("ij,ij->j", means, solved) / 2, -np.inf)
    return np.concatenate([bias[None], solved])


#: Added to each variance, so that features that are all the same divide by something. Fourier features have variances
#: of about 1.
LEAST_VARIANCE = 1e-6


@dataclass(frozen=True, eq=False)
class NearestMean:
    """Sums of random features, and the classifier that they give."""

    sums: Sums

    @cached_property
    def weights(self) -> Floats:
        """Those of ``discriminant``, solved when they are first asked for."""
        return discriminant(self.sums).astype(np.float32)

    def probabilities(self, features: Floats) -> Doubles:
        """Of classes with equal priors and one normal distribution about each mean."""
        if not self.sums.rows:
            n_classes = self.sums.products.shape[1]
            return np.full((len(features), n_classes), 1 / n_classes)
        scores = features[:, 1:] @ self.weights[1:] + self.weights[0]
        found: Doubles = softmax(scores.astype(np.float64), axis=1)
        return found


class RanDumb(StreamLearner):
    """Sums of random features alone: what they say of a class does not depend on what came after it.

    Rows are scaled as the first batch shows, but for features whose unit changes later. The memory stays empty.

    >>> learner = RanDumb(InputSpec(n_features=2, n_classes=2), "1kB", RanDumbSettings(features=50))
    >>> x = torch.randn(60, 2, generator=torch.Generator().manual_seed(0))
    >>> for start in range(0, 60, 20):
    ...     _ = learner.observe(Batch(x[start : start + 20], (x[start : start + 20, 0] > 0).long()))
    >>> float((learner.predict_proba(x).argmax(dim=1) == (x[:, 0] > 0)).float().mean()) > 0.9
    True
    """

    model_names = ()

    def __init__(self, spec: InputSpec, memory: str | int, settings: RanDumbSettings, seed: int = 0) -> None:
        super().__init__(
            spec, SchematicMemory(spec, memory, Nothing(), whole=True, patience=1), np.random.default_rng(seed)
        )
        self.frame, self.map = Frame.of(self.scale, 0), random_map(spec, settings.features, seed)
        self.known = NearestMean(Sums.empty(self.map.width, spec.n_classes, forgetting=1.0, packed=True))
        #: The mean weight of the first batch's samples: others count in this unit.
        self.weight_unit = 1.0

    def observe(self, batch: Batch) -> Observation:
        """Learn one batch. Completes, or leaves the learner as it was."""
        with self.all_or_nothing():
            batch = self.check(batch)
            self.begin_batch()
            self.look_at(batch)
            values, weight = self.frame.scaled(batch.x, self.spec), self.weigh(batch)
            if not self.batches and isinstance(self.map, FourierFeatures):
                self.map = self.map.drawn(values)
            sums = self.known.sums.with_rows(self.map(values), batch.y.numpy(), weight)
            if not np.isfinite(sums.second.sum(dtype=np.float64)):
                raise ValueError("weight must be small enough to add up: sums overflowed; scale the weights down")
            self.known = NearestMean(sums)
            everything = np.ones(self.spec.n_features, dtype=np.bool_)
            candidates = self.memory.candidates(batch, everything, self.stored_beside(batch))
            self.observed = self.memory.select(candidates, None, self.rng)
            self.batches += 1
            self.finish_batch()
        return self.observed

    def look_at(self, batch: Batch) -> None:
        """Count classes, and find or follow the inputs' scale and the unit of the samples' weights."""
        if not self.batches and batch.weight is not None:
            self.weight_unit = float(batch.weight.double().mean())
        self.counts = self.counts.widened(self.spec.n_classes).add(batch.y.numpy())
        if self.scale is not None:
            self.scale = self.scale.updated(batch.x)
        self.frame = self.frame.followed(self.scale) if self.batches else Frame.of(self.scale, len(batch))

    def weigh(self, batch: Batch) -> Floats | None:
        """How much each sample counts; None where all count alike."""
        of_class = class_weights(self.class_weight, self.counts)
        if batch.weight is None and of_class is None:
            return None
        weight = torch.ones(len(batch)) if batch.weight is None else batch.weight / self.weight_unit
        found: Floats = (weight if of_class is None else weight * of_class[batch.y]).numpy()
        return found

    def classify(self) -> Callable[[Rows], torch.Tensor]:
        return lambda x: torch.from_numpy(
            self.known.probabilities(self.map(self.frame.scaled(x, self.spec))).astype(np.float32)
        )

    def feature_weights(self) -> NDArray[np.float64]:
        return np.ones(self.spec.n_features)

    def add_classes(self, n_classes: int) -> None:
        """Make room for classes first seen now."""
        with self.all_or_nothing():
            self.known = NearestMean(self.known.sums.widened(n_classes))
            self.spec = replace(self.spec, n_classes=n_classes)
            self.finish_batch()

    @property
    def bytes_by_part(self) -> dict[str, int]:
        return {**super().bytes_by_part, "sums": self.known.sums.nbytes, "scales": self.frame.nbytes + self.map.nbytes}

    def state_dict(self) -> dict[str, Any]:
        with self._lock:
            return {
                **super().state_dict(),
                "frame": self.frame.state_dict(),
                "map": self.map.state_dict(),
                "sums": self.known.sums.state_dict(),
                "weight_unit": self.weight_unit,
            }

    def load_parts(self, saved: Saved) -> None:
        self.frame = Frame.from_state(saved.part("frame"), self.spec)
        self.map = self.map.loaded(saved.part("map"))
        self.known = NearestMean(self.known.sums.loaded(saved.part("sums")))
        self.weight_unit = saved.number("weight_unit", float(np.finfo(np.float32).smallest_subnormal))


def random_map(spec: InputSpec, count: int, seed: int) -> FourierFeatures | HashedColumns:
    """The map to this number of random features, for a stream of which no row has been seen."""
    if hashes(spec):
        return HashedColumns(seed, spec.n_features, count)
    return FourierFeatures(seed, spec.n_features, count)


def randumb(spec: InputSpec, memory: str | int, settings: RanDumbSettings, seed: int = 0) -> RanDumb:
    """Random features and the nearest class mean in their covariance's metric; no memory, whatever the budget."""
    return RanDumb(spec, memory, settings, seed)
