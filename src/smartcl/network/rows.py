"""A first layer for millions of sparse features: a row of weights per feature seen, updated when touched.

A dense Adam step would move every row at every step: the moments decay, the stale momentum still pushes, the group
lasso shrinks, the average follows. Here a row sleeps from its last touch to the next, and ``_awake`` applies what it
missed in closed form, so the cost of a step is linear in the non-zeros of its batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch

from smartcl.network.prox import prox_preconditioned, shrink_factor, shrink_rows_
from smartcl.network.sleep import RowSchedule, pushes, trails, warm_decay

#: Rows worked on at a time: what is made of them stays in the cache.
PIECE = 4096


@dataclass
class _Slice:
    """Some rows, brought up to the present."""

    weight: torch.Tensor
    mean: torch.Tensor
    square: torch.Tensor
    average: torch.Tensor

    @classmethod
    def join(cls, pieces: list[_Slice]) -> _Slice:
        columns = zip(*((p.weight, p.mean, p.square, p.average) for p in pieces), strict=True)
        return cls(*(torch.cat(column) for column in columns))

    def pieces(self) -> Iterator[_Slice]:
        """Views of at most ``PIECE`` rows each."""
        columns = (torch.split(c, PIECE) for c in (self.weight, self.mean, self.square, self.average))
        return (_Slice(*piece) for piece in zip(*columns, strict=True))


class RowTable:
    """Weights, Adam moments and averages of the features seen so far.

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
        self._active: tuple[torch.Tensor, torch.Tensor, _Slice] | None = None
        self._journal: list[dict[str, torch.Tensor]] | None = None
        self._journalled = torch.zeros(0, dtype=torch.bool)
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
        """The distinct rows these features need, as a leaf that collects their gradient, and each one's place in it."""
        distinct, local = torch.unique(features, return_inverse=True)
        rows = self._rows_for(distinct)
        awake = self._awake(rows)
        leaf = awake.weight.detach().requires_grad_()
        self._active = (rows, leaf, awake)
        return leaf, local

    @property
    def active(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The rows of the last ``activate`` and the leaf that holds their weights and gradient."""
        assert self._active is not None
        return self._active[0], self._active[1]

    def peek(self, features: torch.Tensor, average: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
        """As ``activate``, but nothing changes, and a feature never seen has the zero row."""
        distinct, local = torch.unique(features, return_inverse=True)
        rows = self._row_of[distinct].long()
        values = torch.zeros(len(distinct), self.weight.shape[1])
        for known in torch.split((rows >= 0).nonzero()[:, 0], PIECE):
            weight, mid, _, _ = self._place(rows[known], average)
            values.index_copy_(0, known, mid if average else weight)
        return values, local

    @torch.no_grad()
    def apply_gradient(self) -> None:
        """One Adam step on the active rows, then the shrinkage and the average."""
        assert self._active is not None
        rows, leaf, awake = self._active
        assert leaf.grad is not None
        self.step += 1
        self._remember(rows)
        for piece, some, gradient in zip(
            torch.split(rows, PIECE), awake.pieces(), torch.split(leaf.grad, PIECE), strict=True
        ):
            self._descend(piece, some, gradient)
        self._active = None

    def group_norms(self) -> torch.Tensor:
        """The norm of each feature's row now; zero for one never seen."""
        pushed, shrinkage = self._lengths(torch.arange(self._used))[1:]
        norms = torch.zeros(self.n_features)
        seen = self.seen
        norms[seen] = (pushed - shrinkage).clamp_(min=0).float()[self._row_of[seen].long()]
        return norms

    def alive(self) -> torch.Tensor:
        """Which features have a row that is not zero, or none yet: one never seen is not dead."""
        if self.schedule.shrink:
            return (self.group_norms() > 0) | ~self.seen
        # Without shrinkage a sleeping row neither dies nor revives: what it was when last touched still holds.
        alive = torch.ones(self.n_features, dtype=torch.bool)
        alive[self.seen] = (self.products[: self._used, 0] > 0)[self._row_of[self.seen].long()]
        return alive

    def rows(self) -> torch.Tensor:
        """The weights of all rows now, in order of first sight."""
        return self._awake(torch.arange(self._used)).weight

    def begin(self) -> None:
        """From here on, remember what is overwritten, so that ``rollback`` can undo it."""
        self._journal, self._before = [], (self._used, self.step)
        self._journalled = torch.zeros(len(self.weight), dtype=torch.bool)

    def commit(self) -> None:
        self._journal, self._active = None, None

    def rollback(self) -> None:
        """Back to ``begin``."""
        for entry in reversed(self._journal or []):
            rows = entry["rows"]
            for name in self._columns:
                getattr(self, name)[rows] = entry[name]
        self._used, self.step = self._before
        self._row_of[self._row_of >= self._used] = -1
        self.commit()

    def state_dict(self) -> dict[str, Any]:
        columns = {name: getattr(self, name)[: self._used].clone() for name in self._columns}
        return {"step": self.step, "row_of": self._row_of.clone(), **columns}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.step = int(state["step"])
        self._row_of = state["row_of"].clone()
        for name in self._columns:
            setattr(self, name, state[name].clone())
        self._used = len(self.weight)
        self._journalled = torch.zeros(self._used, dtype=torch.bool)
        self.commit()

    def _rows_for(self, features: torch.Tensor) -> torch.Tensor:
        rows = self._row_of[features].long()
        new = rows < 0
        count = int(new.sum())
        if count:
            self._reserve(self._used + count)
            rows[new] = torch.arange(self._used, self._used + count)
            self._row_of[features[new]] = rows[new].to(torch.int32)
            fresh = slice(self._used, self._used + count)
            self.weight[fresh] = self._initial(count)
            self.average[fresh] = self.weight[fresh]
            self.mean[fresh], self.square[fresh] = 0.0, 0.0
            self.products[fresh] = _products(self.weight[fresh], self.mean[fresh])
            self.last[fresh] = self.step
            self._used += count
        return rows

    def _reserve(self, rows: int) -> None:
        if rows <= len(self.weight):
            return
        capacity = min(max(rows, 2 * len(self.weight), 1024), max(self.n_features, rows))
        for name in (*self._columns, "_journalled"):
            old = getattr(self, name)
            grown = old.new_zeros((capacity, *old.shape[1:]))
            grown[: len(old)] = old
            setattr(self, name, grown)

    def _descend(self, rows: torch.Tensor, awake: _Slice, gradient: torch.Tensor) -> None:
        """An Adam step on some rows that are awake."""
        s, (beta1, beta2) = self.schedule, self.schedule.betas
        awake.mean.lerp_(gradient, 1 - beta1)
        awake.square.mul_(beta2).addcmul_(gradient, gradient, value=1 - beta2)
        root = (1 - beta2**self.step) ** 0.5
        path = awake.mean / awake.square.sqrt().add_(s.eps * root)
        awake.weight.sub_(path, alpha=s.lr * root / (1 - beta1**self.step))
        if s.shrink:
            shrink_rows_(awake.weight, s.shrink)
        if s.prox and self.step % s.prox_every == 0:
            scale = awake.square.div(root**2).sqrt_().add_(s.eps)
            awake.weight.copy_(prox_preconditioned(awake.weight, scale.div_(s.lr), s.prox * s.prox_every))
            # No proximal step reaches a sleeping row: stale momentum would revive a dead one for good.
            lives = (awake.weight != 0).any(dim=1, keepdim=True)
            awake.mean.mul_(lives)
            path.mul_(lives)
        if s.average:
            awake.average.lerp_(awake.weight, 1 - warm_decay(s.average, self.step))
        self._write(rows, awake, path)

    def _write(self, rows: torch.Tensor, now: _Slice, path: torch.Tensor) -> None:
        """Keep these rows as they are now; ``path`` is where momentum pushes them from here."""
        self.weight.index_copy_(0, rows, now.weight)
        self.mean.index_copy_(0, rows, now.mean)
        self.square.index_copy_(0, rows, now.square)
        if self.schedule.average:
            self.average.index_copy_(0, rows, now.average)
        self.last[rows] = self.step
        self.products[rows] = _products(now.weight, path)

    def _awake(self, rows: torch.Tensor) -> _Slice:
        """These rows as they are now, worked out piece by piece."""
        if len(rows) <= PIECE:
            return self._awake_piece(rows)
        return _Slice.join([self._awake_piece(piece) for piece in torch.split(rows, PIECE)])

    def _awake_piece(self, rows: torch.Tensor) -> _Slice:
        """These rows as a dense optimizer would have them now, had their gradient been zero while they slept."""
        weight, average, mean, square = self._place(rows, average=True)
        slept = (self.step - self.last[rows]).double()
        if bool(slept.any()):
            beta1, beta2 = self.schedule.betas
            mean, square = mean * _column(beta1**slept), square * _column(beta2**slept)
        return _Slice(weight, mean, square, average)

    def _place(
        self, rows: torch.Tensor, average: bool
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        """Where rows and, if wanted, their averages (else the rows again) are now; their moments when last touched."""
        s, last, average = self.schedule, self.last[rows], average and bool(self.schedule.average)
        weight, mean, square = (table.index_select(0, rows) for table in (self.weight, self.mean, self.square))
        mid = self.average.index_select(0, rows) if average else weight
        if not bool((last < self.step).any()):
            return weight, mid, mean, square
        path = mean / (square.sqrt().add_(_column(s.eps * (1 - s.betas[1] ** last.clamp(min=1).double()).sqrt())))
        reach, norm, shrinkage = self._lengths(rows)
        pushed = weight.addcmul_(_column(-reach), path)
        weight = pushed * _column(shrink_factor(norm, shrinkage)) if s.shrink else pushed
        if not average:
            return weight, weight, mean, square
        fades_after = norm / s.shrink if s.shrink else (self.step - last).double()
        kept, momentum, shrinking = trails(s.average, s.betas, last, self.step, fades_after)
        mid = torch.lerp(weight, mid, _column(kept)).addcmul_(_column(s.lr * momentum), path)
        if s.shrink:
            mid.addcmul_(_column(s.shrink * shrinking / norm.clamp(min=1e-30)), pushed)
        return weight, mid, mean, square

    def _lengths(self, rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """How far momentum carried each row along its path, its norm there, and by how much that shrank since."""
        last = self.last[rows]
        reach = self.schedule.lr * pushes(last, self.step, self.schedule.betas)
        own, across, path = self.products[rows].double().unbind(dim=1)
        norm = (own - 2 * reach * across + reach.square() * path).clamp_(min=0).sqrt_()
        return reach, norm, (self.step - last).double() * self.schedule.shrink

    def _remember(self, rows: torch.Tensor) -> None:
        if self._journal is None:
            return
        fresh = rows[~self._journalled[rows]]
        if len(fresh):
            self._journalled[fresh] = True
            entry = {name: getattr(self, name).index_select(0, fresh) for name in self._columns}
            self._journal.append({"rows": fresh, **entry})


def _products(weight: torch.Tensor, path: torch.Tensor) -> torch.Tensor:
    """``w·w``, ``w·p`` and ``p·p`` per row: with them, the norm of ``w − c·p`` costs nothing for any ``c``."""
    return torch.stack([(weight * weight).sum(1), (weight * path).sum(1), (path * path).sum(1)], dim=1)


def _column(values: torch.Tensor) -> torch.Tensor:
    return values.to(torch.float32)[:, None]
