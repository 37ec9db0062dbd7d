"""Sums of a stream: second moments of features and their products with the labels, and the ridge weights they give.

Sums are the same in any order, they add up over machines, and a row can be taken out again. Small ones are kept in
double precision; wide ones in single precision, one triangle only (LAPACK's rectangular full packed format).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from smartcl.data.batch import Doubles, Floats, Ints
from smartcl.learners.class_places import placed
from smartcl.saving.saved import Saved

#: From this many features on, sums are packed in single precision: 3,800 of them take 29 MB instead of 116.
PACKED_FROM = 1024
#: Added to the penalty, as a share of the mean diagonal: below it a double-precision factorisation may fail.
JITTER = 1e-9


@dataclass(frozen=True, eq=False)
class Moments:
    """What some rows add to sums: ``second = Σ f fᵀ``, ``products = Σ f Yᵀ``, and how many rows they count for."""

    second: Doubles
    products: Doubles
    rows: float

    @classmethod
    def of(cls, features: Floats, y: NDArray[Any], n_classes: int, weight: Floats | None = None) -> Moments:
        doubled = features.astype(np.float64)
        weighed = doubled if weight is None else doubled * weight[:, None]
        rows = float(len(y)) if weight is None else float(weight.sum(dtype=np.float64))
        return cls(doubled.T @ weighed, weighed.T @ np.eye(n_classes)[y], rows)


@dataclass(frozen=True, eq=False)
class Sums:
    """``second = Σ f fᵀ`` and ``products = Σ f Yᵀ`` over weighted rows, ``rows`` of them, older ones counting less.

    >>> features = np.array([[1.0, 0.0], [1.0, 1.0]], dtype=np.float32)
    >>> sums = Sums.empty(2, 2, forgetting=1.0).with_rows(features, np.array([0, 1]))
    >>> sums.weights(penalty=1e-6).round(2)
    array([[ 1.,  0.],
           [-1.,  1.]], dtype=float32)
    """

    second: NDArray[Any]
    products: Doubles
    rows: float
    forgetting: float

    @classmethod
    def empty(cls, width: int, n_classes: int, forgetting: float, packed: bool = False) -> Sums:
        packed = packed or width >= PACKED_FROM
        second = np.zeros(width * (width + 1) // 2, np.float32) if packed else np.zeros((width, width))
        return cls(second, np.zeros((width, n_classes)), 0.0, forgetting)

    @property
    def width(self) -> int:
        return len(self.products)

    @property
    def nbytes(self) -> int:
        return self.second.nbytes + self.products.nbytes

    def with_rows(self, features: Floats, y: NDArray[Any], weight: Floats | None = None, batches: float = 0.0) -> Sums:
        """With these rows counted in, after that many batches' worth of forgetting.

        Rows of negative weight are taken out again.
        """
        features = features[:, : self.width]
        if self.second.ndim == 2:
            return self.plus(Moments.of(features, y, self.products.shape[1], weight), batches)
        left = self.forgetting**batches
        weighed = features if weight is None else features * weight[:, None]
        products = left * self.products + weighed.T @ np.eye(self.products.shape[1])[y]
        count = float(len(y)) if weight is None else float(weight.sum(dtype=np.float64))
        return replace(
            self, second=self._packed(features, weighed, left), products=products, rows=left * self.rows + count
        )

    def plus(self, rows: Moments, batches: float) -> Sums:
        """With the moments of some rows added, after that many batches' worth of forgetting."""
        left = self.forgetting**batches
        if left == 1:
            second, products = self.second + rows.second, self.products + rows.products
        else:
            second, products = left * self.second, left * self.products
            second += rows.second
            products += rows.products
        return replace(self, second=second, products=products, rows=left * self.rows + rows.rows)

    def _packed(self, features: Floats, weighed: Floats, left: float) -> NDArray[Any]:
        packed = self.second
        if weighed is features:
            return np.asarray(lapack.ssfrk(self.width, len(features), 1.0, np.asfortranarray(features.T), left, packed))
        for sign in (1.0, -1.0):  # a symmetric update takes square roots of weights
            some = weighed[:, 0] * sign > 0  # the first feature is 1
            if some.any():
                rooted = features[some] * np.sqrt(np.abs(weighed[some, :1]))
                packed = lapack.ssfrk(self.width, len(rooted), sign, np.asfortranarray(rooted.T), left, packed)
                left = 1.0
        return np.asarray(packed if left == 1.0 else left * packed)

    def matrix(self) -> Doubles:
        """The second moments as a whole matrix in double precision, of which one triangle counts."""
        if self.second.ndim == 2:
            return self.second.copy()
        full, _ = lapack.stfttr(self.width, self.second)
        return np.asarray(full, dtype=np.float64)

    def weights(self, penalty: float, width: int | None = None) -> Floats:
        """Ridge regression on the first features: ``(second + penalty·I)⁻¹ products``; the constant is not shrunk."""
        width = self.width if width is None else width
        second = self.matrix()[:width, :width]
        diagonal = np.einsum("ii->i", second)
        diagonal[1:] += penalty
        diagonal += JITTER * float(diagonal.mean()) + 1e-12
        columns = second.T if second.flags.c_contiguous else second  # as LAPACK reads it, without another copy
        _, weights, failed = lapack.dposv(columns, self.products[:width], lower=0, overwrite_a=1)
        if failed or not np.isfinite(weights).all():
            return np.zeros((width, self.products.shape[1]), np.float32)
        return np.ascontiguousarray(weights, dtype=np.float32)  # LAPACK answers column by column; as from a file

    @property
    def mean_square(self) -> float:
        """The mean diagonal of the second moments a row, the constant left out."""
        return self.trace / max(1.0, self.rows) / max(1, self.width - 1)

    @property
    def trace(self) -> float:
        diagonal = np.einsum("ii->i", self.matrix() if self.second.ndim == 1 else self.second)
        return float(diagonal[1:].sum())

    def widened(self, n_classes: int) -> Sums:
        """With room for classes first seen now."""
        more = n_classes - self.products.shape[1]
        return replace(self, products=np.pad(self.products, ((0, 0), (0, more))))

    def placed(self, at: Ints, n_classes: int) -> Sums:
        """With its classes at these places among ``n_classes``."""
        return replace(self, products=placed(self.products, at, n_classes))

    @classmethod
    def combined(cls, parts: Sequence[tuple[float, Sums]]) -> Sums:
        """Sums of the same features and classes, each times its factor; a negative factor takes them out again.

        >>> one = Sums.empty(2, 2, 1.0).with_rows(np.array([[1.0, 3.0]], dtype=np.float32), np.array([0]))
        >>> two = Sums.empty(2, 2, 1.0).with_rows(np.array([[1.0, 5.0]], dtype=np.float32), np.array([1]))
        >>> Sums.combined([(1, one), (1, two)]).second
        array([[ 2.,  8.],
               [ 8., 34.]])
        """
        first = parts[0][1]
        second, products = np.zeros(first.second.shape), np.zeros(first.products.shape)
        for factor, part in parts:
            second += factor * part.second
            products += factor * part.products
        rows = sum(factor * part.rows for factor, part in parts)
        return cls(second.astype(first.second.dtype, copy=False), products, max(0.0, rows), first.forgetting)

    def state_dict(self) -> dict[str, Any]:
        return {"second": self.second, "products": self.products, "rows": self.rows}

    def loaded(self, saved: Saved) -> Sums:
        """What ``state_dict`` described, for the same features and classes."""
        return replace(
            self,
            second=np.array(saved.array("second", self.second.shape, str(self.second.dtype))),
            products=np.array(saved.array("products", self.products.shape, "float64")),
            rows=saved.number("rows", 0.0),
        )


def leave_one_out(features: Floats, y: NDArray[Any], n_classes: int, penalties: Doubles) -> Doubles:
    """For each penalty, the share of rows that ridge regression on all other rows puts into their class.

    One decomposition serves all penalties: the residual left out is ``(y − ŷ)/(1 − h)`` with the leverage ``h``.

    >>> x = np.array([[1.0, 0.0], [1.0, 0.1], [1.0, 0.9], [1.0, 1.0]], dtype=np.float32)
    >>> leave_one_out(x, np.array([0, 0, 1, 1]), 2, np.array([1e-3, 1e6]))
    array([1., 0.])
    """
    doubled = features[:, 1:].astype(np.float64)
    doubled -= doubled.mean(axis=0)
    targets = np.eye(n_classes)[y]
    mean = targets.mean(axis=0)
    values, vectors = np.linalg.eigh(doubled @ doubled.T if len(doubled) <= doubled.shape[1] else doubled.T @ doubled)
    values = np.maximum(values, 0.0)
    if len(doubled) > doubled.shape[1]:  # to left singular vectors; those of no length do not matter
        vectors = doubled @ vectors / np.sqrt(np.maximum(values, 1e-12 * max(values.max(), 1e-300)))
    projected = vectors.T @ (targets - mean)
    shares = []
    for penalty in penalties:
        shrunk = values / (values + penalty)
        fitted = vectors @ (shrunk[:, None] * projected)
        leverage = np.minimum((vectors**2) @ shrunk + 1 / len(y), 1 - 1e-6)[:, None]
        left_out = targets - (targets - mean - fitted) / (1 - leverage)
        shares.append(float((left_out.argmax(axis=1) == y).mean()))
    return np.array(shares)
