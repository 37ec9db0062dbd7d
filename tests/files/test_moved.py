"""What moved at a change: planted moves are named, and nothing else is."""

from __future__ import annotations

import numpy as np
import torch
from scipy import sparse

from smartcl.files.moved import what_moved
from smartcl.memory import SampleStore


def test_what_was_moved_is_named_and_nothing_else() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2000, 5)).astype(np.float32)
    y = (x[:, 0] > 0).astype(np.int64)
    x[1000:, 2] += 1.5
    y[1000:] = x[1000:, 0] < 0.8
    names, classes = [f"column {number}" for number in range(5)], ["no", "yes"]
    for sparse_rows in (False, True):
        rows = sparse.csr_array(x) if sparse_rows else torch.from_numpy(x)
        store = SampleStore.empty(5, sparse=sparse_rows)
        store = store.join(store.pack(rows, y))
        moved = what_moved(store, 1000, names.__getitem__, classes)
        assert any(text.startswith("mean of column 2 ") for text in moved)
        assert any(text.startswith("correlation of column 0 with ") for text in moved)
        assert any(text.startswith("share of ") for text in moved)
        assert not any(f"column {number}" in text for text in moved for number in (1, 3, 4))
        assert what_moved(store.take(np.arange(2000) < 900), 400, names.__getitem__, classes) == []
