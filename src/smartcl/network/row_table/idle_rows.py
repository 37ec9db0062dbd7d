"""All rows of a row table as they became idle, and where a dense Adam would have them by now."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Self

import torch

from smartcl.network.prox import shrink_factor
from smartcl.network.row_table.active_rows import RowState, grown
from smartcl.network.row_table.missed_steps import RowSchedule, pushes, trails
from smartcl.saving.saved import Saved


@dataclass
class IdleRows:
    """A row's weights, Adam moments and averages, the step it was last touched, and products that tell its norm.

    >>> idle = IdleRows.none(width=2)
    >>> idle.grow(3)
    >>> idle.add(slice(0, 1), torch.tensor([[3.0, 4.0]]), now=0)
    >>> idle.look(torch.tensor([0]), RowSchedule(shrink=1.0), now=2)
    tensor([[1.8000, 2.4000]])
    """

    weight: torch.Tensor
    mean: torch.Tensor
    square: torch.Tensor
    average: torch.Tensor
    last: torch.Tensor
    products: torch.Tensor

    @classmethod
    def none(cls, width: int) -> Self:
        weight, mean, square, average = (torch.zeros(0, width) for _ in range(4))
        return cls(weight, mean, square, average, torch.zeros(0, dtype=torch.int64), torch.zeros(0, 3))

    def __len__(self) -> int:
        """How many rows there is room for."""
        return len(self.weight)

    def columns(self) -> dict[str, torch.Tensor]:
        return {column.name: getattr(self, column.name) for column in fields(self)}

    def take(self, rows: torch.Tensor) -> IdleRows:
        """Copies of some rows."""
        return IdleRows(**{name: column.index_select(0, rows) for name, column in self.columns().items()})

    def put(self, rows: torch.Tensor, others: IdleRows) -> None:
        """Some rows as these others are."""
        for name, column in self.columns().items():
            column.index_copy_(0, rows, getattr(others, name))

    @classmethod
    def from_state(cls, saved: Saved, width: int, step: int) -> Self:
        """Rows of this width that a table saved at this step, or a refusal."""
        rows = len(saved.tensor("weight", (None, width)))
        columns = {
            name: saved.tensor(name, (rows, *column.shape[1:]), column.dtype).clone()
            for name, column in cls.none(width).columns().items()
        }
        if bool(((columns["last"] < 0) | (columns["last"] > step)).any()):
            saved.refuse("last", f"must lie from 0 to {step}, the steps taken")
        if bool((columns["square"] < 0).any()):
            saved.refuse("square", "must not be negative")
        return cls(**columns)

    def grow(self, capacity: int) -> None:
        """Make room for ``capacity`` rows; the values of new ones are arbitrary."""
        for name, column in self.columns().items():
            setattr(self, name, grown(column, capacity))

    def add(self, rows: slice, weight: torch.Tensor, now: int) -> None:
        """Rows that begin at this step."""
        self.weight[rows], self.average[rows] = weight, weight
        self.mean[rows], self.square[rows] = 0.0, 0.0
        self.last[rows], self.products[rows] = now, _products(weight, path=None)

    def put_back(self, rows: torch.Tensor, state: RowState, schedule: RowSchedule, now: int) -> None:
        """Rows that become idle like this at this step; momentum pushes them from here."""
        self.last[rows] = now
        # Without shrinkage nothing depends on the norm of a row on its way.
        path = _path(state.mean, state.square, self.last[rows], schedule) if schedule.shrink else None
        self.products[rows] = _products(state.weight, path)
        for name in ("weight", "mean", "square", "average"):
            getattr(self, name).index_copy_(0, rows, getattr(state, name))

    def activate(self, rows: torch.Tensor, state: RowState, schedule: RowSchedule, now: int) -> None:
        """Fill in rows as a dense optimizer would have them now, had their gradient been zero meanwhile."""
        self._place(rows, state, schedule, now, average=bool(schedule.average))
        missed = (now - self.last[rows]).double()
        if bool(missed.any()):
            beta1, beta2 = schedule.betas
            state.mean.mul_(_column(beta1**missed))
            state.square.mul_(_column(beta2**missed))

    def look(self, rows: torch.Tensor, schedule: RowSchedule, now: int, average: bool = False) -> torch.Tensor:
        """The weights of some rows now, or their averages."""
        state = RowState.empty(len(rows), self.weight.shape[1])
        self._place(rows, state, schedule, now, average)
        return state.average if average else state.weight

    def norms(self, rows: torch.Tensor, schedule: RowSchedule, now: int) -> torch.Tensor:
        """The norms of rows that shrink while they are idle."""
        _, pushed, shrinkage = self._lengths(rows, schedule, now)
        return (pushed - shrinkage).clamp_(min=0).float()

    def _place(self, rows: torch.Tensor, state: RowState, s: RowSchedule, now: int, average: bool) -> None:
        """Fill in rows, their averages if wanted (else the rows again), and their moments as they became idle."""
        last, weight, mid = self.last[rows], state.weight, state.average
        for column, into in ((self.weight, weight), (self.mean, state.mean), (self.square, state.square)):
            torch.index_select(column, 0, rows, out=into)
        if average:
            torch.index_select(self.average, 0, rows, out=mid)
        if bool((last < now).any()):
            path = _path(state.mean, state.square, last, s)
            reach, norm, shrinkage = self._lengths(rows, s, now)
            weight.addcmul_(_column(-reach), path)
            pushed = weight.clone() if s.shrink else weight
            if s.shrink:
                weight.mul_(_column(shrink_factor(norm, shrinkage)))
            if average:
                fades_after = norm / s.shrink if s.shrink else (now - last).double()
                kept, momentum, shrinking = trails(s.average, s.betas, last, now, fades_after)
                torch.lerp(weight, mid, _column(kept), out=mid).addcmul_(_column(s.lr * momentum), path)
                if s.shrink:
                    mid.addcmul_(_column(s.shrink * shrinking / norm.clamp(min=1e-30)), pushed)
        if not average:
            mid.copy_(weight)

    def _lengths(
        self, rows: torch.Tensor, schedule: RowSchedule, now: int
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """The distance that momentum carried each row along its path, the row's norm there, and the shrinkage since."""
        last = self.last[rows]
        reach = schedule.lr * pushes(last, now, schedule.betas)
        own, across, path = self.products[rows].double().unbind(dim=1)
        norm = (own - 2 * reach * across + reach.square() * path).clamp_(min=0).sqrt_()
        return reach, norm, (now - last).double() * schedule.shrink


@dataclass
class Journal:
    """State of a table at the beginning of a call: its size, its step, and the former values of rows that changed."""

    used: int
    step: int
    row_of: torch.Tensor
    idle: IdleRows
    before: list[tuple[torch.Tensor, IdleRows]] = field(default_factory=list)
    _noted: torch.Tensor | None = None

    def note(self, rows: torch.Tensor, idle: IdleRows) -> None:
        """Note rows before they change; rows that are noted already or are new need no note."""
        if self._noted is None:
            self._noted = torch.zeros(self.used, dtype=torch.bool)
        rows = rows[rows < self.used]
        rows = rows[~self._noted[rows]]
        self.before.append((rows, idle.take(rows)))
        self._noted[rows] = True


def _path(mean: torch.Tensor, square: torch.Tensor, last: torch.Tensor, schedule: RowSchedule) -> torch.Tensor:
    """The direction in which momentum pushes a row on from its last step."""
    root = (1 - schedule.betas[1] ** last.clamp(min=1).double()).sqrt_()
    return mean / square.sqrt().add_(_column(schedule.eps * root))


def _products(weight: torch.Tensor, path: torch.Tensor | None) -> torch.Tensor:
    """``w·w``, ``w·p`` and ``p·p`` per row: with them, the norm of ``w − c·p`` costs nothing for any ``c``."""
    own = (weight * weight).sum(1)
    nothing = torch.zeros_like(own)
    along = (nothing, nothing) if path is None else ((weight * path).sum(1), (path * path).sum(1))
    return torch.stack([own, *along], dim=1)


def _column(values: torch.Tensor) -> torch.Tensor:
    return values.to(torch.float32)[:, None]
