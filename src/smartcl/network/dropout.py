"""Dropout of input values, with masks that cost little beside the products they are for."""

from __future__ import annotations

import numpy as np
import torch

from smartcl.data.batch import Bools
from smartcl.network.inputs import NarrowInput, Prepared, SparseInput


def drop_inputs(rows: Prepared, rate: float, rng: np.random.Generator) -> Prepared:
    """The rows with this share of their values at zero and the others scaled up to the same mean.

    A network that cannot rely on any one feature uses all of them.

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
            return rows * _mask(rows, kept, rng)
        case NarrowInput():
            return NarrowInput(rows.values * _mask(rows.values, kept, rng), rows.features)
        case SparseInput():
            stay = torch.from_numpy(np.flatnonzero(_stays(len(rows.values), kept, rng)))
            values = rows.values.index_select(0, stay).mul_(256 / kept)
            offsets = torch.searchsorted(stay, rows.offsets)
            return SparseInput(rows.indices.index_select(0, stay), offsets, values, rows.n_features)


def _mask(values: torch.Tensor, kept: int, rng: np.random.Generator) -> torch.Tensor:
    factors = np.multiply(_stays(values.numel(), kept, rng), 256 / kept, dtype=np.float32)
    return torch.from_numpy(factors).reshape(values.shape)


def _stays(count: int, kept: int, rng: np.random.Generator) -> Bools:
    """Eight values a draw: the generator's own words, byte by byte."""
    words = rng.bit_generator.random_raw(-(-count // 8)).astype("<u8", copy=False)
    return words.view(np.uint8)[:count] < kept
