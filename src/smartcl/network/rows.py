"""A first layer for millions of sparse features: a row of weights per feature seen, updated when touched.

A dense Adam step would move every row at every step: the moments decay, the stale momentum still pushes, the group
lasso shrinks, the average follows. Here a row sleeps until a batch needs it, and ``_woken`` applies what it missed in
closed form; then it takes the batch's steps with the others that are awake. The cost of a batch is linear in its
non-zeros and those it replays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from smartcl.network.awake import AwakeRows, RowState, grown
from smartcl.network.prox import row_norms, shrink_factor
from smartcl.network.sleep import RowSchedule, pushes, trails

#: Sleeping rows looked at at a time: what is made of them stays in the cache.
PIECE = 1024


class RowTable:
    """Weights, Adam moments and averages of the features seen so far.

    What ``activate`` wakes stays awake until ``commit`` puts it back; ``rollback`` forgets it instead.

    >>> table = RowTable(n_features=1_000_000, width=2, initial=lambda rows: torch.ones(rows, 2))
    >>> rows, local = table.activate(torch.tensor([7, 999_999, 7]))
    >>> rows.shape, local.tolist(), len(table)
    (torch.Size([2, 2]), [0, 1, 0], 2)
    """

    _columns = ("weight", "mean", "square", "average", "last", "products")

    def __init__(self, n_features: int, width: int, initial: Callable[[int], torch.Tensor]) -> None:
        self.schedule = RowSchedule()
        self.step = 0
        self._initial = initial
        self._row_of = torch.full((n_features,), -1, dtype=torch.int32)
        self._used = 0
        self.weight, self.mean, self.square, self.average = (torch.zeros(0, width) for _ in range(4))
        self.last = torch.zeros(0, dtype=torch.int64)
        self.products = torch.zeros(0, 3)
        self._awake = AwakeRows(width)
        #: Where each row is among those awake, or -1.
        self._position = torch.zeros(0, dtype=torch.int64)
        self._leaf = torch.zeros(0, width)
        self._before = (0, 0)

    def __len__(self) -> int:
        return self._used

    @property
    def n_features(self) -> int:
        return len(self._row_of)

    @property
    def seen(self) -> torch.Tensor:
        """Which features have a row."""
        return self._row_of >= 0

    def activate(self, features: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """All rows awake, these features' among them, as a leaf that collects their gradient; each feature's place."""
        rows = self._rows_for(features)
        places = self._position.index_select(0, rows)
        asleep = rows[places < 0]
        if len(asleep):
            for some in torch.split(torch.unique(asleep), PIECE):
                self._position[some] = torch.arange(len(self._awake), len(self._awake) + len(some))
                self._wake(some, self._awake.room_for(some, self.step))
            places = self._position.index_select(0, rows)
        self._leaf = self._awake.state.weight.detach().requires_grad_()
        return self._leaf, places

    @property
    def active(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The rows of the last ``activate`` and the leaf that holds their weights and gradient."""
        return self._awake.rows[: len(self._leaf)], self._leaf

    def peek(self, features: torch.Tensor, average: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
        """Rows as they are until the next step, these features' among them, and each one's place; nothing changes.

        A feature never seen has zeros.
        """
        average = average and bool(self.schedule.average)
        places = self._places_awake(features)
        if places is not None:
            return self._awake.state.average if average else self._awake.state.weight, places
        distinct, local = torch.unique(features, return_inverse=True)
        rows = self._row_of[distinct].long()
        values = torch.zeros(len(distinct), self.weight.shape[1])
        for known in torch.split((rows >= 0).nonzero()[:, 0], PIECE):
            values[known] = self._look(rows[known], average)
        return values, local

    def apply_gradient(self) -> None:
        """One Adam step on the rows awake, then the shrinkage and the average."""
        assert self._leaf.grad is not None
        self.step += 1
        self._awake.step(self._leaf.grad, self.schedule, self.step)

    def take_exact_step(self, strength: float) -> None:
        """The group lasso's proximal step on the rows awake, in Adam's metric."""
        self._awake.take_exact_step(strength, self.schedule, self.step)

    @torch.no_grad()
    def bury(self, threshold: float) -> None:
        """Set rows awake to zero whose weights are all below the threshold; asleep they stay so."""
        now = self._awake.state
        dead = now.weight.abs().amax(dim=1) < threshold
        now.weight[dead], now.mean[dead] = 0.0, 0.0

    def group_norms(self) -> torch.Tensor:
        """The norm of each feature's row now; zero for one never seen."""
        if self.schedule.shrink:
            pushed, shrinkage = self._lengths(torch.arange(self._used))[1:]
            norms = (pushed - shrinkage).clamp_(min=0).float()
        else:
            norms = torch.cat([row_norms(self._look(some, average=False)) for some in self._pieces()])
        return self._by_feature(norms, unseen=0.0)

    def alive(self) -> torch.Tensor:
        """Which features have a row that is not zero, or none yet: one never seen is not dead."""
        if self.schedule.shrink:
            return (self.group_norms() > 0) | ~self.seen
        # Without shrinkage a sleeping row neither dies nor revives: what it was when last touched still holds.
        return self._by_feature(self.products[: self._used, 0].clone(), unseen=1.0) > 0

    def rows(self) -> torch.Tensor:
        """The weights of all rows now, in order of first sight."""
        return torch.cat([self._look(some, average=False) for some in self._pieces()])

    def begin(self) -> None:
        """From here on, what happens can be undone by ``rollback``."""
        self._put_back()
        self._before = (self._used, self.step)

    def commit(self) -> None:
        """What happened stands."""
        self._put_back()

    def rollback(self) -> None:
        """Back to ``begin``."""
        self._dismiss()
        self._used, self.step = self._before
        self._row_of[self._row_of >= self._used] = -1

    def state_dict(self) -> dict[str, Any]:
        columns = {name: getattr(self, name)[: self._used].clone() for name in self._columns}
        self._write(columns)
        return {"step": self.step, "row_of": self._row_of.clone(), **columns}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._dismiss()
        self.step = int(state["step"])
        self._row_of = state["row_of"].clone()
        for name in self._columns:
            setattr(self, name, state[name].clone())
        self._used = len(self.weight)
        self._position = torch.full((self._used,), -1)

    def _pieces(self) -> tuple[torch.Tensor, ...]:
        return torch.split(torch.arange(self._used), PIECE)

    def _places_awake(self, features: torch.Tensor) -> torch.Tensor | None:
        """Each feature's place among the rows awake, if all of them are."""
        rows = self._row_of.index_select(0, features)
        if not len(self._awake) or bool((rows < 0).any()):
            return None
        places = self._position.index_select(0, rows)
        return None if bool((places < 0).any()) else places

    def _rows_for(self, features: torch.Tensor) -> torch.Tensor:
        """Each feature's row, made now if there is none yet."""
        rows = self._row_of.index_select(0, features)
        unknown = rows < 0
        if bool(unknown.any()):
            new = torch.unique(features[unknown])
            self._reserve(self._used + len(new))
            fresh = slice(self._used, self._used + len(new))
            self._row_of[new] = torch.arange(fresh.start, fresh.stop, dtype=torch.int32)
            self.weight[fresh] = self._initial(len(new))
            self.average[fresh] = self.weight[fresh]
            self.mean[fresh], self.square[fresh] = 0.0, 0.0
            self.products[fresh] = _products(self.weight[fresh], path=None)
            self.last[fresh], self._position[fresh] = self.step, -1
            self._used += len(new)
            rows = self._row_of.index_select(0, features)
        return rows.long()

    def _reserve(self, rows: int) -> None:
        if rows <= len(self.weight):
            return
        capacity = min(max(rows, 2 * len(self.weight), 1024), max(self.n_features, rows))
        for name in (*self._columns, "_position"):
            setattr(self, name, grown(getattr(self, name), capacity))

    def _put_back(self) -> None:
        self._write({name: getattr(self, name) for name in self._columns})
        self._dismiss()

    def _dismiss(self) -> None:
        """Nobody is awake."""
        self._position[self._awake.rows] = -1
        self._awake.clear()
        self._leaf = self._leaf.new_zeros(0, self._leaf.shape[1])

    def _write(self, columns: dict[str, torch.Tensor]) -> None:
        """Note in these columns how the rows awake are now; momentum pushes them from here."""
        self._awake.follow(self.schedule, self.step)
        for some in self._awake.pieces():
            rows, now = self._awake.rows[some], self._awake.state[some]
            columns["last"][rows] = self.step
            # Without shrinkage nothing depends on the norm of a row on its way.
            path = self._path(now.mean, now.square, columns["last"][rows]) if self.schedule.shrink else None
            columns["products"][rows] = _products(now.weight, path)
            for name in ("weight", "mean", "square", "average"):
                columns[name].index_copy_(0, rows, getattr(now, name))

    def _by_feature(self, by_row: torch.Tensor, unseen: float) -> torch.Tensor:
        """Norms of rows by feature; those awake are measured, ``by_row`` tells the others."""
        by_row[self._awake.rows] = row_norms(self._awake.state.weight)
        result = torch.full((self.n_features,), unseen)
        seen = self.seen
        result[seen] = by_row[self._row_of[seen].long()]
        return result

    def _look(self, rows: torch.Tensor, average: bool) -> torch.Tensor:
        """The weights of some rows now, or their averages."""
        position = self._position[rows]
        asleep = position < 0
        if bool(asleep.all()):
            return self._seen_asleep(rows, average)
        awake = self._awake.state.average if average else self._awake.state.weight
        values = awake[position.clamp(min=0)]
        if bool(asleep.any()):
            values[asleep] = self._seen_asleep(rows[asleep], average)
        return values

    def _seen_asleep(self, rows: torch.Tensor, average: bool) -> torch.Tensor:
        state = RowState.empty(len(rows), self.weight.shape[1])
        self._place(rows, state, average)
        return state.average if average else state.weight

    def _wake(self, rows: torch.Tensor, state: RowState) -> None:
        """Fill in sleeping rows as a dense optimizer would have them now, had their gradient been zero meanwhile."""
        self._place(rows, state, average=bool(self.schedule.average))
        slept = (self.step - self.last[rows]).double()
        if bool(slept.any()):
            beta1, beta2 = self.schedule.betas
            state.mean.mul_(_column(beta1**slept))
            state.square.mul_(_column(beta2**slept))

    def _place(self, rows: torch.Tensor, state: RowState, average: bool) -> None:
        """Fill in where sleeping rows and, if wanted, their averages (else the rows again) are now, and their moments
        as they fell asleep.
        """
        s, last = self.schedule, self.last[rows]
        weight, mid = state.weight, state.average
        for table, into in ((self.weight, weight), (self.mean, state.mean), (self.square, state.square)):
            torch.index_select(table, 0, rows, out=into)
        if average:
            torch.index_select(self.average, 0, rows, out=mid)
        if bool((last < self.step).any()):
            path = self._path(state.mean, state.square, last)
            reach, norm, shrinkage = self._lengths(rows)
            weight.addcmul_(_column(-reach), path)
            pushed = weight.clone() if s.shrink else weight
            if s.shrink:
                weight.mul_(_column(shrink_factor(norm, shrinkage)))
            if average:
                fades_after = norm / s.shrink if s.shrink else (self.step - last).double()
                kept, momentum, shrinking = trails(s.average, s.betas, last, self.step, fades_after)
                torch.lerp(weight, mid, _column(kept), out=mid).addcmul_(_column(s.lr * momentum), path)
                if s.shrink:
                    mid.addcmul_(_column(s.shrink * shrinking / norm.clamp(min=1e-30)), pushed)
        if not average:
            mid.copy_(weight)

    def _path(self, mean: torch.Tensor, square: torch.Tensor, last: torch.Tensor) -> torch.Tensor:
        """The direction in which momentum pushes a row on from its last step."""
        root = (1 - self.schedule.betas[1] ** last.clamp(min=1).double()).sqrt_()
        return mean / square.sqrt().add_(_column(self.schedule.eps * root))

    def _lengths(self, rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """How far momentum carried each row along its path, its norm there, and by how much that shrank since."""
        last = self.last[rows]
        reach = self.schedule.lr * pushes(last, self.step, self.schedule.betas)
        own, across, path = self.products[rows].double().unbind(dim=1)
        norm = (own - 2 * reach * across + reach.square() * path).clamp_(min=0).sqrt_()
        return reach, norm, (self.step - last).double() * self.schedule.shrink


def _products(weight: torch.Tensor, path: torch.Tensor | None) -> torch.Tensor:
    """``w·w``, ``w·p`` and ``p·p`` per row: with them, the norm of ``w − c·p`` costs nothing for any ``c``."""
    own = (weight * weight).sum(1)
    nothing = torch.zeros_like(own)
    along = (nothing, nothing) if path is None else ((weight * path).sum(1), (path * path).sum(1))
    return torch.stack([own, *along], dim=1)


def _column(values: torch.Tensor) -> torch.Tensor:
    return values.to(torch.float32)[:, None]
