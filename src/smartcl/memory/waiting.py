"""Saved form of the rows that wait in a memory until their batch is complete."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from scipy import sparse

from smartcl.data.batch import Batch, Rows
from smartcl.saving.saved import Saved


def waiting_state(rows: Batch) -> dict[str, Any]:
    """Plain arrays; ``waiting_rows`` makes the rows of them again."""
    if isinstance(rows.x, torch.Tensor):
        x = {"values": rows.x.numpy()}
    else:
        x = {"data": rows.x.data, "indices": rows.x.indices, "indptr": rows.x.indptr}
    weight = None if rows.weight is None else rows.weight.numpy()
    return {"x": x, "y": rows.y.numpy(), "ids": rows.ids, "weight": weight}


def waiting_rows(saved: Saved, n_features: int, n_classes: int | None) -> Batch:
    """The rows that ``waiting_state`` described, all of them possible in a stream of this width."""
    y = np.array(saved.array("y", (None,), "int64"))
    if not len(y) or not 0 <= y.min() <= y.max() < (n_classes or np.inf):
        saved.refuse("y", f"must be labels below {n_classes}")
    weight = np.array(saved.array("weight", y.shape, "float32")) if saved.has("weight") else None
    if weight is not None and not (weight > 0).all():
        saved.refuse("weight", "must be above 0")
    ids = np.array(saved.array("ids", y.shape, "int64")) if saved.has("ids") else None
    return Batch(
        _rows(saved.part("x"), len(y), n_features),
        torch.from_numpy(y),
        ids=ids,
        weight=None if weight is None else torch.from_numpy(weight),
    )


def _rows(saved: Saved, count: int, n_features: int) -> Rows:
    if "values" in saved:
        return torch.from_numpy(np.array(saved.array("values", (count, n_features), "uint8", "float32")))
    data = np.array(saved.array("data", (None,), "uint8", "float32"))
    indices = np.array(saved.array("indices", data.shape, "int32", "int64"))
    indptr = np.array(saved.array("indptr", (count + 1,), "int32", "int64"))
    try:
        found = sparse.csr_array((data, indices, indptr), shape=(count, n_features))
        found.check_format(full_check=True)
    except ValueError as error:
        saved.refuse("indices", f"must be those of {count} sparse rows: {error}")
    return found
