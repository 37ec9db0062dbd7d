"""Samples and a past as members read them, made of plain arrays: rows are their own values and features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from scipy import sparse

from smartcl.data.batch import Batch
from smartcl.data.spec import InputSpec
from smartcl.learners.class_counts import ClassCounts
from smartcl.learners.ensemble.member import Past, Recent
from smartcl.learners.ensemble.rows import Samples, View

NO_MEMORY: Any = None


def plain(x: Any) -> Any:
    """A tensor as an array; sparse rows as they are."""
    return x.numpy() if isinstance(x, torch.Tensor) else x


def view(x: Any) -> View:
    """Rows that need no scale and no map."""
    rows = torch.from_numpy(x) if isinstance(x, np.ndarray) else x
    return View(rows, prepare=lambda x: x, scale=plain, features=lambda values: values)


def samples(x: Any, y: Any, weight: Any = None) -> Samples:
    """Labelled rows."""
    return Samples(view(x), np.asarray(y, dtype=np.int64), None if weight is None else np.asarray(weight, np.float32))


def past(
    x: Any,
    y: Any,
    n_classes: int = 2,
    weight: Any = None,
    seed: int = 0,
    seen: Sequence[int] | None = None,
    **more: Any,
) -> Past:
    """A past in which these are the newest stored samples, and of each class so many were seen: many, or ``seen``."""
    spec = InputSpec(n_features=x.shape[1], n_classes=n_classes, sparse=sparse.issparse(x))
    counts = replace(ClassCounts.none(n_classes), seen=np.array([10**6] * n_classes if seen is None else seen))
    recent = Recent(x, x, np.asarray(y, dtype=np.int64), None if weight is None else np.asarray(weight, np.float32))
    rng, stored = np.random.default_rng(seed), samples(x, y, weight)
    return Past(spec, NO_MEMORY, recent, counts, None, lambda values: values, rng, stored.taken, **more)


def blobs(
    rng: np.random.Generator, rows: int, width: int = 6, n_classes: int = 2, spread: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Features of which the first is 1, about a mean for each class; the means are always the same."""
    means = np.random.default_rng(99).normal(size=(n_classes, width - 1))
    y = rng.integers(0, n_classes, rows)
    x = means[y] + spread * rng.normal(size=(rows, width - 1))
    return np.hstack([np.ones((rows, 1)), x]).astype(np.float32), y


def batches_of(x: Any, y: np.ndarray, size: int = 50, **columns: np.ndarray) -> list[Batch]:
    """A stream cut into batches; ``ids`` and ``weight`` come along."""
    found = []
    for start in range(0, len(y), size):
        part = slice(start, start + size)
        rows = torch.from_numpy(x[part]) if isinstance(x, np.ndarray) else x[part]
        weight = torch.from_numpy(columns["weight"][part]) if "weight" in columns else None
        ids = columns["ids"][part] if "ids" in columns else None
        found.append(Batch(rows, torch.from_numpy(y[part].astype(np.int64)), ids=ids, weight=weight))
    return found
