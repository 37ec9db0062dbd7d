"""A schema and an encoder that know nothing but the stored samples: all that forgotten rows have taught them goes.

Fill values become means of stored values, names that no stored row has lose their columns, and rates of names and words
begin anew: what is stored of rates tells of all rows there ever were.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse

from smartcl.columns.column_schema import AS_NUMBERS, Column
from smartcl.columns.row_encoder import RowEncoder
from smartcl.data.batch import Ints, Rows, row_pieces

#: Rows that are made dense at a time.
PIECE_ROWS = 2048


@dataclass(frozen=True)
class Renewal:
    """The encoder as it was and as it is now, and how rows of the one become rows of the other.

    The layout stays: which columns there are, of which kind, and how many features each has.
    """

    before: RowEncoder
    after: RowEncoder
    #: Features of names that no stored row has.
    gone: Ints

    @classmethod
    def of(cls, before: RowEncoder, stored: Rows) -> Renewal:
        """Fill values become the means of the stored values, and names that no stored row has go."""
        pieces = [_own(before, piece) for piece in row_pieces(stored, PIECE_ROWS)] if stored.shape[0] else []
        columns = tuple(
            replace(
                column,
                fill=_mean(before, column, pieces),
                why=_without_values(column),
                trend=before.trend_of(column),
            )
            if column.kind in AS_NUMBERS
            else replace(column, why=_without_values(column))
            for column in before.schema.columns
        )
        after = RowEncoder(replace(before.schema, columns=columns))
        gone: list[int] = []
        for name, own in before.own.items():
            begin = before.first_feature(name)
            used = {place for place in range(own.width) if any(piece[:, begin + place].any() for piece in pieces)}
            after.own[name] = own.only(used)
            gone += [begin + place for place in range(own.width) if place not in used]
        after.book = before.book
        if before.schema.sparse:
            after.book.keep([] if isinstance(stored, torch.Tensor) else np.unique(stored.indices).tolist())
        return cls(before, after, np.array(gone, dtype=np.int64))

    def rows(self, x: Rows) -> Rows:
        """Stored rows as the new encoder would have made them."""
        own = _own(self.before, x)
        made = own.copy()
        for column in self.before.schema.of_kind(*AS_NUMBERS):
            there = _there(self.before, column, own)
            at = self.before.first_feature(column.name)
            values = np.where(there, self.before.values_of(column.name, own[:, at]), self.after.fill_of(column.name))
            made[:, at] = self.after.features_of(column.name, values)
        made[:, self.before.learned_features()] = 0.0
        made[:, self.gone] = 0.0
        if isinstance(x, torch.Tensor):
            return torch.from_numpy(made)
        numbered = sparse.csr_array(x)[:, own.shape[1] :]
        return sparse.csr_array(sparse.hstack([sparse.csr_array(made), numbered], format="csr", dtype=np.float32))


def _without_values(column: Column) -> str:
    """The reason for a column's kind, without the value that was always there."""
    return column.why.split("; always ")[0]


def _own(encoder: RowEncoder, x: Rows) -> NDArray[np.float32]:
    """The features before the hashed ones."""
    if isinstance(x, torch.Tensor):
        return x.numpy().astype(np.float32)
    found: NDArray[np.float32] = x[:, : len(encoder.schema.feature_names)].toarray().astype(np.float32)
    return found


def _there(encoder: RowEncoder, column: Column, own: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Which rows have a value: those that do not say that it is missing, or do not hold what stands in its place."""
    at = encoder.first_feature(column.name)
    if column.missing:
        there: NDArray[np.bool_] = (
            own[:, at + len(column.features(encoder.schema.rates, encoder.schema.word_rates)) - 1] == 0
        )
    else:
        there = own[:, at] != encoder.features_of(column.name, np.array([encoder.fill_of(column.name)]))
    return there


def _mean(encoder: RowEncoder, column: Column, pieces: Iterable[NDArray[np.float32]]) -> float:
    """Of the values that are there; a column of which every value is its fill value keeps it."""
    total, count, rows = 0.0, 0, 0
    for own in pieces:
        there = _there(encoder, column, own)
        values = encoder.values_of(column.name, own[:, encoder.first_feature(column.name)])
        total, count, rows = total + float(values[there].sum()), count + int(there.sum()), rows + len(own)
    if not count:
        return 0.0 if column.missing or not rows else column.fill
    return float(np.float32(total / count))
