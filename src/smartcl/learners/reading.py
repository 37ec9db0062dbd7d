"""Stored samples for the many steps of a batch: the store does not change between them, so each is read once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch

from smartcl.data.batch import Ints
from smartcl.learners.weights import Labelled, take_samples
from smartcl.memory import SampleStore

#: Values read at a time, about, however large the memory is.
READ_CELLS = 2**22


def read_once(draws: Sequence[Ints], read: Callable[[Ints], Labelled], width: int) -> Iterator[Labelled | None]:
    """The samples at these places, step by step; None where none were drawn.

    Those of as many steps as ``READ_CELLS`` allows, for rows of this width, are read together, each of them once.
    """
    at_once = max(1, READ_CELLS // max(1, max(map(len, draws), default=0) * width))
    for first in range(0, len(draws), at_once):
        some = draws[first : first + at_once]
        places = np.unique(np.concatenate(some))
        stored = read(places) if len(places) else None
        for draw in some:
            found = torch.from_numpy(np.searchsorted(places, draw))
            yield None if stored is None else take_samples(stored, found)


def row_cells(store: SampleStore) -> int:
    """About how many values are read of a row: all, but of a sparse one hardly more than it has bytes."""
    return min(store.n_features, -(-store.rows.nbytes // max(1, len(store)))) if store.sparse else store.n_features
