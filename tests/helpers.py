"""What many tests share: streams and settings small enough to train in milliseconds, and comparing states."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from scipy import sparse

from smartcl.data.batch import Batch
from smartcl.data.spec import InputSpec

#: Settings that make any method quick on small data.
SMALL = {"hidden": (12,), "iterations": 3, "lr": 1e-2}


def small_spec(sparse_rows: bool = False, n_features: int = 20) -> InputSpec:
    return InputSpec(n_features=n_features, n_classes=2, dtype="float32", sparse=sparse_rows)


def small_batches(
    count: int = 6, rows: int = 10, sparse_rows: bool = False, seed: int = 0, n_features: int = 20
) -> list[Batch]:
    """Batches of mostly zero rows whose first feature decides the label; two tasks, one after the other."""
    rng = np.random.default_rng(seed)
    batches = []
    for number in range(count):
        x = rng.normal(size=(rows, n_features)) * (rng.random((rows, n_features)) < 0.3)
        x[:, 0] = rng.normal(size=rows)
        x = np.round(x, 1).astype(np.float32)
        y = torch.from_numpy((x[:, 0] > 0).astype(np.int64))
        task, first = int(number >= count // 2), number * rows
        rows_ = sparse.csr_array(x) if sparse_rows else torch.from_numpy(x)
        batches.append(Batch(rows_, y, task, np.arange(first, first + rows)))
    return batches


def assert_same_state(a: Any, b: Any, where: str = "state") -> None:
    """Fail with the path of the first difference."""
    if isinstance(a, dict):
        assert a.keys() == b.keys(), where
        for key in a:
            assert_same_state(a[key], b[key], f"{where}.{key}")
    elif isinstance(a, (list, tuple)):
        assert len(a) == len(b), where
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            assert_same_state(x, y, f"{where}[{i}]")
    elif isinstance(a, torch.Tensor):
        assert a.dtype == b.dtype, where
        assert torch.equal(a, b), where
    elif isinstance(a, np.ndarray):
        assert a.dtype == b.dtype, where
        assert np.array_equal(a, b), where
    else:
        assert a == b, where
