"""At what precision a memory holds its values, and in which code: learned from what it holds and what arrives."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from smartcl.memory.coded_rows import by_column
from smartcl.memory.levels import Levels, exact_levels, learn_levels
from smartcl.memory.row_code import RowCode
from smartcl.memory.store import SampleStore

#: Asked about samples as they are and as they would be held: how well they can be told apart. Up to 1: not at all.
Judge: TypeAlias = Callable[[SampleStore, SampleStore], float]

#: The numbers of levels that ``"auto"`` tries, from the coarsest on; if all can be told apart, values stay exact.
LADDER = (2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128)

#: The share of a memory that the scales of features may take.
SCALES_SHARE = 1 / 16


def agrees(precision: str | int, levels: Levels) -> bool:
    """Whether a memory of this precision can hold its values as these levels."""
    if isinstance(precision, int):
        return not levels.exact and len(levels) < precision
    return precision == "auto" or (precision == "exact" and levels.exact)


def choose_levels(
    sample: SampleStore, arrived: SampleStore, precision: str | int, room: int, judge: Judge | None = None
) -> Levels | None:
    """Levels for samples like these at this precision, in a memory of ``room`` bytes.

    By itself (``"auto"``), the fewest that cannot be told from the samples that have just ``arrived`` as they are. None
    where values must be exact and are too many to be levels.
    """
    rows = sample.rows.nonzeros(np.arange(len(sample)), sample.schema)
    scales_room = int(SCALES_SHARE * room)
    if isinstance(precision, int):
        return learn_levels(rows, sample.n_features, precision, scales_room)
    exact = exact_levels(rows.values)
    if precision == "auto" and judge is not None:
        for count in LADDER:
            if exact is not None and len(exact) < count:
                return exact
            levels = learn_levels(rows, sample.n_features, count, scales_room)
            if judge(arrived, arrived.rounded(levels)) <= 1:
                return levels
    return exact


def learn_code(sample: SampleStore, levels: Levels, room: int) -> RowCode:
    """A code for samples like these at the precision of these levels, with tables that pay in ``room`` bytes."""
    rows = sample.rows.nonzeros(np.arange(len(sample)), sample.schema)
    numbered = by_column(levels.numbered(rows), sample.schema)
    known = np.flatnonzero(numbered.all_of(numbered.values > 0))
    beside = 2 + sample.columns.width
    return RowCode.learn(numbered.take(known), levels, sample.n_features, room, beside)


def error(samples: SampleStore, levels: Levels) -> float:
    """The mean square of what the values of these samples lose, relative to their own."""
    rows = samples.rows.nonzeros(np.arange(len(samples)), samples.schema)
    lost = levels.read(np.maximum(1, levels.numbers(rows)), rows.ids).astype(np.float64) - rows.values
    return float(np.square(lost).sum() / max(np.square(rows.values, dtype=np.float64).sum(), np.finfo(np.float64).tiny))
