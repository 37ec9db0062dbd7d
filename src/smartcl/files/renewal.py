"""A schema and an encoder that know nothing but the stored samples: fill values and categories of forgotten rows go."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse

from smartcl.data.batch import Ints, Rows, row_pieces
from smartcl.files.columns import AS_NUMBERS, Column
from smartcl.files.encoder import Encoder

#: So many rows are made dense at a time.
PIECE_ROWS = 2048


@dataclass(frozen=True)
class Renewal:
    """The encoder as it was and as it is now, and how rows of the one become rows of the other.

    The layout stays: which columns there are, of which kind, and how many features each has.
    """

    before: Encoder
    after: Encoder
    #: Of each category of a dense table, where the names that are left stood before.
    slots: dict[str, Ints]

    @classmethod
    def of(cls, before: Encoder, stored: Rows) -> Renewal:
        """Fill values become the means of the stored values, and names that no stored row has go."""
        pieces = [_own(before, piece) for piece in row_pieces(stored, PIECE_ROWS)] if stored.shape[0] else []
        columns = tuple(
            replace(column, fill=_mean(before, column, pieces)) if column.kind in AS_NUMBERS else column
            for column in before.schema.columns
        )
        after, slots = Encoder(replace(before.schema, columns=columns)), {}
        for name, numbers in before.slots.items():
            begin = before.first_feature(name)
            used = [any(piece[:, begin + slot].any() for piece in pieces) for slot in range(len(numbers))]
            slots[name] = np.flatnonzero(used)
            left = [text for text, slot in numbers.items() if used[slot]]
            after.slots[name] = {text: slot for slot, text in enumerate(left)}
        after.book = before.book
        if before.schema.sparse:
            after.book.keep([] if isinstance(stored, torch.Tensor) else np.unique(stored.indices).tolist())
        return cls(before, after, slots)

    def rows(self, x: Rows) -> Rows:
        """Stored rows as the new encoder would have made them."""
        own = _own(self.before, x)
        made = own.copy()
        for column in self.before.schema.of_kind(*AS_NUMBERS):
            there = _there(self.before, column, own)
            at = self.before.first_feature(column.name)
            values = np.where(there, self.before.values_of(column.name, own[:, at]), self.after.fill_of(column.name))
            made[:, at] = self.after.features_of(column.name, values)
        for name, left in self.slots.items():
            begin, free = self.before.first_feature(name), len(self.before.slots[name])
            made[:, begin : begin + free] = 0.0
            made[:, begin : begin + len(left)] = own[:, begin + left]
        if isinstance(x, torch.Tensor):
            return torch.from_numpy(made)
        hashed = sparse.csr_array(x)[:, own.shape[1] :]
        return sparse.csr_array(sparse.hstack([sparse.csr_array(made), hashed], format="csr", dtype=np.float32))


def _own(encoder: Encoder, x: Rows) -> NDArray[np.float32]:
    """The features before the hashed ones."""
    if isinstance(x, torch.Tensor):
        return x.numpy().astype(np.float32)
    found: NDArray[np.float32] = x[:, : len(encoder.schema.feature_names)].toarray().astype(np.float32)
    return found


def _there(encoder: Encoder, column: Column, own: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Which rows have a value: those that do not say that it is missing, or do not hold what stands in its place."""
    at = encoder.first_feature(column.name)
    if column.missing:
        there: NDArray[np.bool_] = own[:, at + len(column.features(encoder.schema.sparse)) - 1] == 0
    else:
        there = own[:, at] != encoder.features_of(column.name, np.array([encoder.fill_of(column.name)]))
    return there


def _mean(encoder: Encoder, column: Column, pieces: Iterable[NDArray[np.float32]]) -> float:
    """Of the values that are there; a column of which every value is its fill value keeps it."""
    total, count, rows = 0.0, 0, 0
    for own in pieces:
        there = _there(encoder, column, own)
        values = encoder.values_of(column.name, own[:, encoder.first_feature(column.name)])
        total, count, rows = total + float(values[there].sum()), count + int(there.sum()), rows + len(own)
    if not count:
        return 0.0 if column.missing or not rows else column.fill
    return float(np.float32(total / count))
