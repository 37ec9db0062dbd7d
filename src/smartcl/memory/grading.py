"""At what precision a memory holds its values, and in which code: learned from what it holds."""

from __future__ import annotations

import numpy as np

from smartcl.memory.coded_rows import by_column
from smartcl.memory.levels import Levels, exact_levels, learn_levels
from smartcl.memory.row_code import RowCode
from smartcl.memory.store import SampleStore

#: The share of a memory that the scales of features may take.
SCALES_SHARE = 1 / 16


def agrees(precision: str | int, levels: Levels) -> bool:
    """Whether a memory of this precision can hold its values as these levels."""
    if isinstance(precision, int):
        return not levels.exact and len(levels) < precision
    return precision == "auto" or (precision == "exact" and levels.exact)


def learn_code(sample: SampleStore, precision: str | int, room: int) -> RowCode | None:
    """A code for samples like these at this precision, with tables that pay in ``room`` bytes.

    None where there is none: values too many to be levels, and to be exact.
    """
    rows = sample.rows.nonzeros(np.arange(len(sample)), sample.schema)
    if isinstance(precision, str):
        levels = exact_levels(rows.values)
    else:
        levels = learn_levels(rows, sample.n_features, precision, int(SCALES_SHARE * room))
    if levels is None:
        return None
    numbered = by_column(levels.numbered(rows), sample.schema)
    return RowCode.learn(numbered, levels, sample.n_features, room, beside=2 + sample.columns.width)
