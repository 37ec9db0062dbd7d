"""The rows of a row table that are in use: side by side in memory, each step a plain Adam step on all of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch

from smartcl.network.adam_step import adam_metric, adam_step_
from smartcl.network.prox import prox_preconditioned, shrink_rows_
from smartcl.network.row_table.missed_steps import AVERAGE_EVERY, RowSchedule, warm_decay

#: Weights worked on at a time, 256 rows of the paper's network: what is made of them stays in the cache.
ACTIVE_PIECE = 256 * 400


@dataclass
class RowState:
    """Weights of some rows, their Adam moments and their averages."""

    weight: torch.Tensor
    mean: torch.Tensor
    square: torch.Tensor
    average: torch.Tensor

    @classmethod
    def empty(cls, rows: int, width: int) -> RowState:
        """Room for this number of rows; their values are arbitrary."""
        return cls(*(torch.empty(rows, width) for _ in range(4)))

    def __getitem__(self, some: slice) -> RowState:
        return RowState(*(column[some] for column in self.columns()))

    def columns(self) -> tuple[torch.Tensor, ...]:
        return self.weight, self.mean, self.square, self.average


class ActiveRows:
    """Rows taken from a table; it learns what became of them when they are put back.

    >>> active = ActiveRows(width=2)
    >>> for column, value in zip(active.room_for(torch.tensor([7, 3]), now=0).columns(), (1.0, 0.0, 0.0, 1.0)):
    ...     _ = column.fill_(value)
    >>> active.step(torch.tensor([[1.0, -1.0], [0.0, 0.0]]), RowSchedule(lr=0.5), now=1)
    >>> active.rows, active.state.weight
    (tensor([7, 3]), tensor([[0.5000, 1.5000], [1.0000, 1.0000]]))
    """

    def __init__(self, width: int) -> None:
        self._rows = torch.zeros(0, dtype=torch.int64)
        self._state = RowState(*(torch.zeros(0, width) for _ in range(4)))
        self._used = 0
        #: From which row on the averages are those of which step.
        self._averaged: list[tuple[int, int]] = []

    def __len__(self) -> int:
        return self._used

    @property
    def rows(self) -> torch.Tensor:
        """Which rows of the table these are."""
        return self._rows[: self._used]

    @property
    def state(self) -> RowState:
        return self._state[: self._used]

    def room_for(self, rows: torch.Tensor, now: int) -> RowState:
        """Take in more rows: the caller fills this with how they should be at this step."""
        self._averaged.append((self._used, now))
        self._reserve(self._used + len(rows))
        new = slice(self._used, self._used + len(rows))
        self._rows[new] = rows
        self._used += len(rows)
        return self._state[new]

    def clear(self) -> None:
        self._used, self._averaged = 0, []

    def pieces(self) -> Iterator[slice]:
        rows = max(1, ACTIVE_PIECE // self._state.weight.shape[1])
        return (slice(start, min(start + rows, self._used)) for start in range(0, self._used, rows))

    @torch.no_grad()
    def step(self, gradient: torch.Tensor, schedule: RowSchedule, now: int) -> None:
        """Adam's step number ``now`` on every row, then the shrinkage and the average."""
        rows = self.state
        adam_step_([rows.weight], [gradient], [rows.mean], [rows.square], now - 1, schedule)
        if schedule.shrink:
            shrink_rows_(rows.weight, schedule.shrink)
        if now % AVERAGE_EVERY == 0:
            self.follow(schedule, now)

    @torch.no_grad()
    def take_exact_step(self, strength: float, schedule: RowSchedule, now: int) -> None:
        """The group lasso's proximal step in the metric of Adam's step number ``now``."""
        for some in self.pieces():
            rows = self._state[some]
            metric = adam_metric(rows.square, now, schedule)
            rows.weight.copy_(prox_preconditioned(rows.weight, metric, strength))
            # No proximal step reaches an idle row: stale momentum would revive a dead one for good.
            rows.mean.mul_((rows.weight != 0).any(dim=1, keepdim=True))

    @torch.no_grad()
    def follow(self, schedule: RowSchedule, now: int) -> None:
        """Let the averages forget as much as in all the steps since they last read the weights."""
        if not schedule.average or not self._averaged:
            return
        ends = [start for start, _ in self._averaged[1:]] + [self._used]
        for (start, since), end in zip(self._averaged, ends, strict=True):
            some = self._state[slice(start, end)]
            some.average.lerp_(some.weight, 1 - warm_decay(schedule.average, now) ** (now - since))
        self._averaged = [(0, now)]

    def _reserve(self, rows: int) -> None:
        if rows > len(self._rows):
            capacity = max(rows, 2 * len(self._rows), 1024)
            self._rows = grown(self._rows, capacity)
            self._state = RowState(*(grown(column, capacity) for column in self._state.columns()))


def grown(column: torch.Tensor, capacity: int) -> torch.Tensor:
    """The column with room for ``capacity`` rows; the values of new ones are arbitrary."""
    larger = column.new_empty((capacity, *column.shape[1:]))
    larger[: len(column)] = column
    return larger
