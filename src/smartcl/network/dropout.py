"""Dropout of input values: a network that must do without any one feature leans on all of them."""

from __future__ import annotations

import numpy as np
import torch

from smartcl.network.inputs import Columns, Prepared, SparseInput


def drop_inputs(rows: Prepared, rate: float, rng: np.random.Generator) -> Prepared:
    """The rows with this share of their values at zero and the others scaled up to the same mean.

    The share is taken to the next 1/256: one random byte a value is enough, and cheap.

    >>> drop_inputs(torch.ones(2, 3), 0.5, np.random.default_rng(0))
    tensor([[2., 0., 0.],
            [0., 0., 0.]])
    """
    kept = max(1, round(256 * (1 - rate)))
    if kept == 256:
        return rows
    match rows:
        case torch.Tensor():
            return _drop(rows, kept, rng)
        case Columns():
            return Columns(_drop(rows.values, kept, rng), rows.features)
        case SparseInput():
            stay = torch.from_numpy(np.flatnonzero(_stays(rows.values.shape, kept, rng).numpy()))
            values = rows.values.index_select(0, stay).mul_(256 / kept)
            offsets = torch.searchsorted(stay, rows.offsets)
            return SparseInput(rows.indices.index_select(0, stay), offsets, values, rows.n_features)


def _drop(values: torch.Tensor, kept: int, rng: np.random.Generator) -> torch.Tensor:
    return (values * (256 / kept)).mul_(_stays(values.shape, kept, rng))


def _stays(shape: torch.Size, kept: int, rng: np.random.Generator) -> torch.Tensor:
    drawn = np.frombuffer(rng.bytes(shape.numel()), dtype=np.uint8)
    return torch.from_numpy(drawn < kept).reshape(shape)
