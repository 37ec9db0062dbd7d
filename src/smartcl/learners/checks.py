"""Checks of batches before anything changes: each error names the argument, what is wrong, and what is right."""

from __future__ import annotations

import math

import numpy as np
import torch
from scipy import sparse

from smartcl.data.batch import Batch, Rows
from smartcl.data.spec import InputSpec

TOO_LARGE = "x must fit single precision: it contains NaN, or values or sums of duplicate entries beyond 3.4e38"


def flat_rows(x: Rows, spec: InputSpec) -> Rows:
    """Rows of the right width, one dimension each."""
    if isinstance(x, torch.Tensor) and spec.shape is not None and tuple(x.shape[1:]) == spec.shape:
        x = x.flatten(1)
    if x.ndim != 2 or x.shape[1] != spec.n_features:
        raise ValueError(f"x must have {spec.n_features} features, got the shape {tuple(x.shape)}")
    return x


def check_rows(x: Rows, spec: InputSpec) -> Rows:
    """Rows a network of this spec can take: right width, finite numbers, dense or sparse as the stream is."""
    x = flat_rows(x, spec)
    if isinstance(x, torch.Tensor):
        return _to_sparse(_check_dense(x)) if spec.sparse else _check_dense(x)
    if not np.issubdtype(x.dtype, np.number) or np.issubdtype(x.dtype, np.complexfloating):
        raise ValueError(f"x must hold real numbers, got dtype {x.dtype}")
    if x.nnz and not (int(x.indices.min()) >= 0 and int(x.indices.max()) < spec.n_features):
        raise ValueError(f"x must have column indices from 0 to {spec.n_features - 1}: it has others")
    if not np.isfinite(x.data).all():
        raise ValueError("x must be finite: it contains NaN or infinity")
    if not x.has_canonical_format:
        x = x.copy()
        x.sum_duplicates()
    if not np.isfinite(x.data.astype(np.float32, copy=False)).all():
        raise ValueError(TOO_LARGE)
    if np.issubdtype(x.dtype, np.float64):
        x = x.astype(np.float32)
    return x if spec.sparse else torch.from_numpy(x.toarray())


def check_batch(batch: Batch, spec: InputSpec) -> Batch:
    """The batch as the learner will use it, or a ``ValueError``."""
    if len(batch) == 0:
        raise ValueError("x must hold at least one row, got an empty batch")
    x = check_rows(batch.x, spec)
    if batch.y.is_floating_point() or batch.y.is_complex() or batch.y.dtype == torch.bool:
        raise ValueError(f"y must hold integer class numbers, got dtype {batch.y.dtype}")
    labels = batch.y.numpy()
    low, high = int(labels.min()), int(labels.max())
    if low < 0 or high >= spec.n_classes:
        raise ValueError(f"y must lie in 0..{spec.n_classes - 1}, got labels from {low} to {high}")
    weight = None if batch.weight is None else batch.weight.float()
    if weight is not None and not bool(((weight > 0) & weight.isfinite()).all()):
        raise ValueError("weight must be finite and above 0: leave out rows that are to count nothing")
    return Batch(x, batch.y.long(), batch.task, batch.ids, weight)


def all_finite(values: torch.Tensor) -> bool:
    """Whether every value is a number; without an array of their size beside them, unless their sum overflows."""
    return math.isfinite(values.sum().item()) or bool(torch.isfinite(values).all())


def largest(x: Rows) -> float:
    """The largest absolute value of some rows."""
    values = x.numpy() if isinstance(x, torch.Tensor) else x.data
    return float(np.abs(values.astype(np.float64)).max(initial=0.0))


def _check_dense(x: torch.Tensor) -> torch.Tensor:
    if x.is_complex() or x.dtype == torch.bool:
        raise ValueError(f"x must hold real numbers, got dtype {x.dtype}")
    if x.is_floating_point() and not all_finite(x):
        raise ValueError("x must be finite: it contains NaN or infinity")
    if x.dtype == torch.float64:
        x = x.float()
        if not all_finite(x):
            raise ValueError(TOO_LARGE)
    return x


def _to_sparse(x: torch.Tensor) -> Rows:
    return sparse.csr_array(x.numpy())
