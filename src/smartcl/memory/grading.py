"""Choice of a memory's precision and code, learned from what it holds and what arrives."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import chain
from typing import TypeAlias

import numpy as np

from smartcl.memory.column_order import AS_THEY_ARE, ColumnOrder, orders
from smartcl.memory.levels import Levels, exact_levels, learn_levels
from smartcl.memory.nonzeros import Nonzeros
from smartcl.memory.row_code import RowCode, bytes_a_row
from smartcl.memory.store import SampleStore

#: From samples as they are and as they would be held to the change in the answers, relative to learning one batch.
Judge: TypeAlias = Callable[[SampleStore, SampleStore], float]

#: The numbers of levels that ``"auto"`` tries, from the coarsest on; if all can be told apart, values stay exact.
LADDER = (2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128)

#: A stored sample stands for those that had no room; if it stands for more than this number, it is not made coarser.
MOST_SPOKEN_FOR = 9

#: Levels and codes are looked for anew when the stream is this many times as long as it was.
LEARN_AGAIN = 2.0

#: The most samples that levels are compared with exact values on.
LOOKED_AT = 256

#: The share of a memory that the scales of features may take.
SCALES_SHARE = 1 / 16


def agrees(precision: str | int, levels: Levels) -> bool:
    """Whether a memory of this precision may hold its values at these levels."""
    if isinstance(precision, int):
        return not levels.exact and len(levels) < precision
    return precision == "auto" or (precision == "exact" and levels.exact)


def choose_order(sample: SampleStore, room: int) -> ColumnOrder:
    """The order of features that fits most samples like these into a memory of ``room`` bytes."""
    rows, present = _nonzeros(sample), Levels(np.ones(1, dtype=np.float32), exact=False)

    def bytes_a_row_in(order: ColumnOrder) -> float:
        placed, left = order.place(present.numbered(rows), sample.schema), room - order.nbytes
        return bytes_a_row(placed, present, sample.n_features, left, _beside(sample)) * room / left

    return min((order for order in orders(rows, sample.n_features) if 2 * order.nbytes < room), key=bytes_a_row_in)


def choose_levels(
    sample: SampleStore,
    exact: SampleStore,
    precision: str | int,
    room: int,
    offered: int = 0,
    judge: Judge | None = None,
    held: Levels | None = None,
    order: ColumnOrder = AS_THEY_ARE,
) -> Levels | None:
    """Levels for samples like these at this precision, in a memory of ``room`` bytes; ``exact`` are as they arrived.

    By itself (``"auto"``), the fewest that cannot be told from the values as they are: that change the answers no more
    than learning does, while as many batches pass as samples ``offered`` to a memory for each it then holds (at random,
    so their changes add up like their root). But more, while all samples of the stream fit all the same: what is let go
    of does not return. None where values must be exact and are too many to be levels.
    """
    rows, as_arrived = _nonzeros(sample), _nonzeros(exact)
    looked_at = [
        each.probe(np.arange(len(each)), LOOKED_AT) for each in ([exact] if exact is sample else [exact, sample])
    ]

    def of(count: int) -> Levels:
        return learn_levels(rows, as_arrived, sample.n_features, count, int(SCALES_SHARE * room), held)

    def capacity(levels: Levels) -> float:
        return room / bytes_a_row(*_numbered(sample, levels, order), room, _beside(sample))

    def told_apart(levels: Levels, judge: Judge) -> bool:
        spoken_for = min(MOST_SPOKEN_FOR, max(1.0, offered / capacity(levels)))
        changed = max(judge(each, each.rounded(levels)) for each in looked_at)
        return changed > math.sqrt(spoken_for)

    if isinstance(precision, int):
        return of(precision)
    coarse = held is not None and not held.exact
    all_there_are = None if coarse else exact_levels(rows.values)
    if precision == "exact" or judge is None:
        return all_there_are
    counts = [count for count in LADDER if all_there_are is None or count <= len(all_there_are)]
    finer = chain(map(of, counts), [all_there_are])
    levels = next((each for each in finer if each is None or each.exact or not told_apart(each, judge)), None)
    if levels is None:
        return of(LADDER[-1]) if coarse else None
    for more in finer:
        if more is None or capacity(more) < LEARN_AGAIN * offered:
            break
        levels = more
    return levels


def learn_code(sample: SampleStore, levels: Levels, room: int, order: ColumnOrder = AS_THEY_ARE) -> RowCode:
    """A code for samples like these at the precision of these levels, with tables that pay in ``room`` bytes."""
    return RowCode.learn(*_numbered(sample, levels, order), room - order.nbytes, _beside(sample), order)


def error(samples: SampleStore, levels: Levels) -> float:
    """The mean square error of these samples at these levels, relative to the mean square of their values."""
    rows = _nonzeros(samples)
    lost = levels.read(np.maximum(1, levels.numbers(rows)), rows.ids).astype(np.float64) - rows.values
    return float(np.square(lost).sum() / max(np.square(rows.values, dtype=np.float64).sum(), np.finfo(np.float64).tiny))


def _numbered(samples: SampleStore, levels: Levels, order: ColumnOrder) -> tuple[Nonzeros, Levels, int]:
    """The samples all of whose values are levels, by column and number; the levels, and the columns there are."""
    numbered = order.place(levels.numbered(_nonzeros(samples)), samples.schema)
    known = np.flatnonzero(numbered.all_of(numbered.values > 0))
    return numbered.take(known), levels, samples.n_features


def _beside(samples: SampleStore) -> int:
    """The bytes of a row that are not its text: its length, in two bytes at most, and the columns."""
    return 2 + samples.columns.width


def _nonzeros(samples: SampleStore) -> Nonzeros:
    return samples.rows.nonzeros(np.arange(len(samples)), samples.schema)
