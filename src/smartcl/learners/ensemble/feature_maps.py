"""Maps from rows to features whose sums are kept: values, random ReLU or Fourier features, axis-parallel steps; hashes.

A map is drawn from a seed, so it costs no bytes that a seed does not say; only thresholds of steps come from rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from smartcl.data.batch import Floats
from smartcl.data.spec import InputSpec
from smartcl.learners.ensemble.settings import (
    BIAS,
    DEPTH,
    GAIN,
    HASHED_FEATURES,
    MANY_FEATURES,
    NARROW,
    RELU_FEATURES,
    STEP_FEATURES,
    WIDE,
    WIDE_FEATURES,
)
from smartcl.saving.saved import Saved


class FeatureMap(Protocol):
    """From scaled rows to dense features; the first is 1."""

    @property
    def width(self) -> int: ...

    @property
    def linear(self) -> int:
        """How many of the first features are the constant and the values themselves; 1 without the values."""
        ...

    @property
    def nbytes(self) -> int:
        """What of it is kept: no features that a seed says."""
        ...

    def __call__(self, rows: Any) -> Floats: ...

    def state_dict(self) -> dict[str, Any]: ...


@dataclass(frozen=True, eq=False)
class RandomFeatures:
    """A 1, the values of narrow rows, random ReLU features, and conjunctions of random steps.

    ``thresholds`` are values of the rows that the map was drawn from, one for each step; ``length`` is the root mean
    square length of those rows.

    >>> rows = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)
    >>> features = RandomFeatures.drawn(7, rows)
    >>> features(rows).shape, features.width
    ((50, 354), 354)
    """

    seed: int
    n_columns: int
    length: float
    thresholds: Floats
    #: Whether the values themselves are features: not those of pixels.
    values: bool = True

    @classmethod
    def drawn(cls, seed: int, rows: Floats, pixels: bool = False) -> RandomFeatures:
        """For rows such as these."""
        length = float(np.sqrt(np.mean(np.einsum("ij,ij->i", rows, rows, dtype=np.float64)))) or 1.0
        empty = replace(cls.blank(seed, rows.shape[1], pixels), length=length)
        if empty.wide:
            return empty
        at = np.random.default_rng([seed, 1]).integers(len(rows), size=(STEP_FEATURES, DEPTH))
        return replace(empty, thresholds=np.ascontiguousarray(rows[at, empty._steps[0]]))

    @classmethod
    def blank(cls, seed: int, n_columns: int, pixels: bool = False) -> RandomFeatures:
        """Before any row has been seen."""
        steps = 0 if n_columns >= WIDE else STEP_FEATURES
        # sums that forget have all of the values among their features: of many columns they would be too wide
        values = not pixels and 1 + n_columns < MANY_FEATURES
        return cls(seed, n_columns, 1.0, np.zeros((steps, DEPTH), np.float32), values)

    @property
    def wide(self) -> bool:
        return self.n_columns >= WIDE

    @property
    def linear(self) -> int:
        """How many of the features, the first, are 1 and the values themselves."""
        return 1 + self.n_columns * self.values

    @property
    def width(self) -> int:
        return self.linear + self._relu_count + len(self.thresholds)

    def __call__(self, rows: Floats) -> Floats:
        weights, bias = self._relu
        features = np.empty((len(rows), self.width), np.float32)
        features[:, 0] = 1.0
        if self.values:
            features[:, 1 : self.linear] = rows
        random = rows @ weights
        random += bias
        steps = self.linear + self._relu_count
        np.maximum(random, 0.0, out=features[:, self.linear : steps])
        if len(self.thresholds):
            columns, signs, unused = self._steps
            true = ((rows[:, columns] - self.thresholds) * signs > 0) | unused
            features[:, steps:] = true.all(axis=2)
        return features

    @property
    def _relu_count(self) -> int:
        if not self.wide:
            return RELU_FEATURES
        return max(WIDE_FEATURES - (self.linear - 1), WIDE_FEATURES // 2)

    @cached_property
    def _relu(self) -> tuple[Floats, Floats]:
        """Weights [column, feature] and biases."""
        rng, count = np.random.default_rng([self.seed, 0]), self._relu_count
        weights = rng.standard_normal((self.n_columns, count), dtype=np.float32) * np.float32(GAIN / self.length)
        return weights, rng.standard_normal(count, dtype=np.float32) * np.float32(BIAS)

    @cached_property
    def _steps(self) -> tuple[NDArray[np.int64], Floats, NDArray[np.bool_]]:
        """Of each conjunction the columns, on which side of the threshold it is true, and which of the three count."""
        rng = np.random.default_rng([self.seed, 2])
        columns = rng.integers(self.n_columns, size=(STEP_FEATURES, DEPTH))
        signs = np.where(rng.random((STEP_FEATURES, DEPTH)) < 0.5, np.float32(-1), np.float32(1))
        depth = 1 + np.arange(STEP_FEATURES) % DEPTH
        return columns, signs, np.arange(DEPTH) >= depth[:, None]

    @property
    def nbytes(self) -> int:
        return self.thresholds.nbytes

    def state_dict(self) -> dict[str, Any]:
        return {
            "seed": self.seed,
            "length": self.length,
            "thresholds": self.thresholds,
        }

    def loaded(self, saved: Saved) -> RandomFeatures:
        """What ``state_dict`` described, for rows of the same columns."""
        return replace(
            self,
            seed=saved.whole("seed", 0, 2**63),
            length=saved.number("length", 0.0),
            thresholds=np.array(saved.array("thresholds", self.thresholds.shape, "float32")),
        )


@dataclass(frozen=True)
class HashedColumns:
    """A 1, and rows of very many columns, each column added to one of a few with a random sign.

    >>> rows = sparse.csr_array(np.array([[0.0, 2.0, 0.0]], dtype=np.float32))
    >>> float(np.abs(HashedColumns(0, 3)(rows)).sum())
    3.0
    """

    seed: int
    n_columns: int
    buckets: int = field(default=HASHED_FEATURES)

    @property
    def width(self) -> int:
        return 1 + min(self.buckets, self.n_columns)

    @property
    def linear(self) -> int:
        return 1

    @property
    def nbytes(self) -> int:
        return 0

    def state_dict(self) -> dict[str, Any]:
        return {"seed": self.seed}

    def loaded(self, saved: Saved) -> HashedColumns:
        """What ``state_dict`` described."""
        return replace(self, seed=saved.whole("seed", 0, 2**63))

    def __call__(self, rows: Any) -> Floats:
        rows = sparse.csr_array(rows)
        ones = np.ones((rows.shape[0], 1), np.float32)
        if self.n_columns <= self.buckets:
            return np.concatenate([ones, rows.toarray()], axis=1)
        place, sign = hashed(rows.indices, self.seed, self.buckets)
        shape = (rows.shape[0], self.buckets)
        folded = sparse.csr_array((rows.data * sign, place, rows.indptr), shape=shape)
        return np.concatenate([ones, folded.toarray().astype(np.float32)], axis=1)


@dataclass(frozen=True)
class FourierFeatures:
    """A 1, and random Fourier features (Rahimi & Recht 2007): products of two rows' features are near a kernel's.

    The kernel is ``exp(-|a - b|² · NARROW / (n_columns · variance))``, with the variance of all values of the rows that
    the map was drawn from; with ``NARROW = 1`` it would be scikit-learn's ``gamma="scale"``.

    >>> rows = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)
    >>> features = FourierFeatures(seed=0, n_columns=3, count=4000).drawn(rows)(rows)
    >>> features.shape, bool(abs(features[0, 1:] @ features[0, 1:] / 4000 - 1) < 0.05)
    ((50, 4001), True)
    """

    seed: int
    n_columns: int
    count: int
    variance: float = 1.0

    def drawn(self, rows: Floats) -> FourierFeatures:
        """For rows such as these."""
        return replace(self, variance=float(rows.var(dtype=np.float64)) or 1.0)

    @property
    def width(self) -> int:
        return 1 + self.count

    @property
    def linear(self) -> int:
        return 1

    @property
    def nbytes(self) -> int:
        return 0

    def __call__(self, rows: Floats) -> Floats:
        weights, phase = self._waves
        features = np.empty((len(rows), self.width), np.float32)
        features[:, 0] = 1.0
        angle = rows @ weights
        angle *= np.float32(np.sqrt(2 * NARROW / (self.n_columns * self.variance)))
        angle += phase
        np.cos(angle, out=features[:, 1:])
        features[:, 1:] *= np.float32(np.sqrt(2))
        return features

    @cached_property
    def _waves(self) -> tuple[Floats, Floats]:
        """Directions [column, feature] of unit variance, and phases."""
        rng = np.random.default_rng([self.seed, 0])
        weights = rng.standard_normal((self.n_columns, self.count), dtype=np.float32)
        return weights, rng.random(self.count, dtype=np.float32) * np.float32(2 * np.pi)

    def state_dict(self) -> dict[str, Any]:
        return {"seed": self.seed, "variance": self.variance}

    def loaded(self, saved: Saved) -> FourierFeatures:
        """What ``state_dict`` described, for rows of the same columns."""
        seed, variance = saved.whole("seed", 0, 2**63), saved.number("variance", 0.0)
        return replace(self, seed=seed, variance=variance or 1.0)


def hashed(columns: NDArray[Any], seed: int, buckets: int) -> tuple[NDArray[np.int64], Floats]:
    """A bucket and a sign for each column number, by a multiplicative hash."""
    mixed = (columns.astype(np.uint64) + np.uint64(2 * seed + 1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(32)
    sign = np.where(mixed & np.uint64(1), np.float32(1), np.float32(-1))
    return ((mixed >> np.uint64(1)) % np.uint64(buckets)).astype(np.int64), sign


def hashes(spec: InputSpec) -> bool:
    """Whether rows are hashed: sparse ones, and those for whose columns random weights would take 240 MB and more."""
    return spec.n_features > 4 * WIDE_FEATURES or (spec.sparse and spec.n_features >= WIDE)


def first_map(spec: InputSpec, seed: int) -> RandomFeatures | HashedColumns:
    """The map for a stream of which no row has been seen."""
    if hashes(spec):
        return HashedColumns(seed, spec.n_features)
    return RandomFeatures.blank(seed, spec.n_features, pixels=spec.dtype == "uint8")
