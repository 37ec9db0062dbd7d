"""Whether the numbers of a column only rise, or only fall, along the stream: a clock, and no feature.

The next values of a row counter, a time stamp or the day of a month lie outside of all that was learned. The medians of
blocks of rows are followed. A column is a clock while they move in one direction, and by more than values differ within
a block. A cycle jumps back: the day of the month is a clock until its second month is over.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smartcl.saving.saved import Saved

#: Rows of a block, and blocks that tell whether a column is a clock.
BLOCK_ROWS, ENOUGH_BLOCKS = 50, 10
#: The share of all moves that may go against the trend: rows of a log are not quite in order.
AGAINST = 0.1
#: The part of the way from the least median to the greatest that values of one block may be apart.
NARROW = 0.5
#: A move against the trend by more than this share of the range seen so far is a jump back: a cycle begins anew. From
#: this number of cycles on their values are known.
JUMP_BACK, KNOWN_CYCLES = 0.5, 2
#: After rows were forgotten, medians are kept in steps of the range's power of two over this.
STEPS = 16
#: Stands for no value in a saved state, which holds finite numbers only.
LARGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True, eq=False)
class Trends:
    """How columns have gone so far, as one value that is replaced; and the rows of a block that is not full yet.

    >>> rising, steady = np.arange(1000.0), np.tile([1.0, 2.0, 5.0], 334)[:1000]
    >>> Trends.none(2).after(np.stack([rising, steady], axis=1)).clocks
    array([ True, False])
    """

    pending: NDArray[np.float64]
    #: Blocks in all, and of each column those with a value.
    blocks: int
    known: NDArray[np.int64]
    last: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    up: NDArray[np.float64]
    down: NDArray[np.float64]
    jumps: NDArray[np.int64]
    #: The sum of the differences between the least and the greatest value of each block.
    within: NDArray[np.float64]

    @classmethod
    def none(cls, columns: int) -> Trends:
        zero, count = np.zeros(columns), np.zeros(columns, np.int64)
        return cls(np.zeros((0, columns)), 0, count, zero, zero, zero, zero, zero, count, zero)

    @property
    def sure(self) -> bool:
        """Whether there were rows enough."""
        return self.blocks >= ENOUGH_BLOCKS

    @property
    def clocks(self) -> NDArray[np.bool_]:
        """Which columns have moved in one direction only; and those that have always had one value."""
        one_way = np.minimum(self.up, self.down) <= AGAINST * np.maximum(self.up, self.down)
        narrow = self.within <= NARROW * self.span * self.known
        found: NDArray[np.bool_] = one_way & narrow & (self.jumps < KNOWN_CYCLES)
        return found

    @property
    def span(self) -> NDArray[np.float64]:
        """From the least of the medians to the greatest."""
        found: NDArray[np.float64] = self.high - self.low
        return found

    def after(self, rows: NDArray[np.float64]) -> Trends:
        """With these rows, columns side by side; NaN where there is no value."""
        rows = np.concatenate([self.pending, rows]) if len(self.pending) else rows
        found = self
        for first in range(0, len(rows) - BLOCK_ROWS + 1, BLOCK_ROWS):
            found = found._after_block(rows[first : first + BLOCK_ROWS])
        left = len(rows) - len(rows) % BLOCK_ROWS
        return Trends(rows[left:].copy(), *(getattr(found, field.name) for field in fields(self)[1:]))

    def _after_block(self, block: NDArray[np.float64]) -> Trends:
        least, medians, most = _least_median_most(block)
        there = np.isfinite(medians)
        began = there & (self.known == 0)
        medians = np.where(there, medians, self.last)
        low, high = (np.where(began, medians, each) for each in (self.low, self.high))
        move = np.where(began, 0.0, medians - self.last)
        against = move * (self.up - self.down) < 0
        jump = against & (np.abs(move) > JUMP_BACK * self.span)
        steady = np.where(jump, 0.0, move)
        return Trends(
            self.pending,
            self.blocks + 1,
            self.known + there,
            medians,
            np.minimum(low, medians),
            np.maximum(high, medians),
            self.up + np.maximum(steady, 0.0),
            self.down + np.maximum(-steady, 0.0),
            self.jumps + jump,
            self.within + np.where(there, most - least, 0.0),
        )

    def without_values(self) -> Trends:
        """With no value of any row: a block that is not full goes, and all the rest is kept in coarse steps.

        Steps lead away from the trend, so that the next move is never one against it. A median that all blocks had
        stays if there were two of them; what a single block has told is forgotten but for the spread of its values.

        >>> Trends.none(1).after(np.arange(120.0)[:, None]).without_values().last
        array([74.])
        """
        moved, often = self.span > 0, self.known >= 2
        step = _power_of_two(self.span) / STEPS

        def coarse(values: NDArray[np.float64], rounded: Any) -> NDArray[np.float64]:
            return np.where(moved, rounded(values / step) * step, np.where(often, values, 0.0))

        return Trends(
            self.pending[:0],
            self.blocks,
            np.where(often, self.known, 0),
            np.where(self.up >= self.down, coarse(self.last, np.floor), coarse(self.last, np.ceil)),
            coarse(self.low, np.floor),
            coarse(self.high, np.ceil),
            coarse(self.up, np.round),
            coarse(self.down, np.round),
            self.jumps,
            np.where(moved, coarse(self.within, np.round), np.minimum(self.within, _power_of_two(self.within))),
        )

    def state_dict(self) -> dict[str, Any]:
        return {**{field.name: getattr(self, field.name) for field in fields(self)}, "pending": finite(self.pending)}

    def loaded(self, saved: Saved) -> Trends:
        """What ``state_dict`` described, of as many columns."""
        columns = len(self.last)
        pending = with_gaps(saved.array("pending", (None, columns), "float64"))
        if len(pending) >= BLOCK_ROWS:
            saved.refuse("pending", f"must be fewer than {BLOCK_ROWS} rows")
        last, low, high, up, down, within = (
            np.array(saved.array(name, (columns,), "float64"))
            for name in ("last", "low", "high", "up", "down", "within")
        )
        known, jumps = (np.array(saved.array(name, (columns,), "int64")) for name in ("known", "jumps"))
        if not all((each >= 0).all() for each in (up, down, known, jumps, within)):
            saved.refuse("up", "must not be negative, as down, known, jumps and within")
        return Trends(pending, saved.whole("blocks", 0), known, last, low, high, up, down, jumps, within)


def _power_of_two(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The greatest that is not above each value; 1 in the place of 0.

    >>> _power_of_two(np.array([0.0, 0.3, 5.0]))
    array([1.  , 0.25, 4.  ])
    """
    found: NDArray[np.float64] = np.exp2(np.floor(np.log2(np.where(values > 0, values, 1.0))))
    return found


def _least_median_most(
    block: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Of each column, of the values that are there; NaN where there is none.

    >>> _least_median_most(np.array([[1.0, np.nan], [3.0, np.nan], [2.0, np.nan]]))
    (array([ 1., nan]), array([ 2., nan]), array([ 3., nan]))
    """
    ordered = np.sort(block, axis=0)  # what is missing comes last
    last, columns = np.maximum(np.isfinite(ordered).sum(axis=0) - 1, 0), np.arange(block.shape[1])
    return ordered[0], ordered[last // 2, columns], ordered[last, columns]


def finite(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values for a saved state, with a number for what is missing."""
    return np.where(np.isfinite(values), values, LARGEST)


def with_gaps(saved: NDArray[np.float64]) -> NDArray[np.float64]:
    """What ``finite`` was given.

    >>> with_gaps(finite(np.array([1.0, np.nan])))
    array([ 1., nan])
    """
    return np.where(saved == LARGEST, np.nan, saved)
