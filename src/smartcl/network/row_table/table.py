"""A first layer for millions of sparse features: a row of weights per feature seen, updated when touched.

A dense Adam step would move every row at every step: the moments decay, the stale momentum still pushes, the group
lasso shrinks, the average follows. Here a row stays idle until a batch needs it, and gets what it missed applied in
closed form; then it takes the batch's steps with the other active rows. The cost of a batch is linear in its
non-zeros and those it replays.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock, get_ident
from typing import Any

import torch

from smartcl.network.adam_step import MOST_STEPS
from smartcl.network.prox import row_norms
from smartcl.network.row_table.active_rows import ActiveRows, grown
from smartcl.network.row_table.idle_rows import IdleRows, Journal
from smartcl.network.row_table.missed_steps import RowSchedule
from smartcl.saving.saved import Saved

#: Idle weights that are read together, 1,024 rows of the paper's network: what is made of them stays in the cache.
IDLE_PIECE = 1024 * 400


class RowTable:
    """The rows of the features seen so far: all of them as idle rows, and the active ones as they are now.

    What ``activate`` makes active stays so until ``commit`` puts it back. A call is one batch or several: ``begin``,
    then for each ``start_batch`` and ``finish_batch``; until the next ``begin``, ``rollback`` goes back to where it
    began. Meanwhile another thread sees the table as the last finished batch left it.

    >>> table = RowTable(n_features=1_000_000, width=2, initial=lambda rows: torch.ones(rows, 2))
    >>> rows, local = table.activate(torch.tensor([7, 999_999, 7]))
    >>> rows.shape, local.tolist(), len(table)
    (torch.Size([2, 2]), [0, 1, 0], 2)
    """

    def __init__(self, n_features: int, width: int, initial: Callable[[int], torch.Tensor]) -> None:
        self.schedule = RowSchedule()
        self.step = 0
        self._initial = initial
        self._row_of = torch.full((n_features,), -1, dtype=torch.int32)
        self._used = 0
        self.idle = IdleRows.none(width)
        self._active = ActiveRows(width)
        #: Where each row is among the active ones, or -1.
        self._position = torch.zeros(0, dtype=torch.int64)
        self._leaf = torch.zeros(0, width)
        self._journal: Journal | None = None
        #: The thread that is learning a batch, and the size and step of the table before it.
        self._learning: int | None = None
        self._finished = (0, 0)
        #: Held while rows become idle, and by whoever reads them from another thread.
        self.lock = RLock()

    def __getstate__(self) -> dict[str, Any]:
        with self.lock:
            self.commit()
            return {**vars(self), "lock": None, "_journal": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, lock=RLock())

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
        """All active rows, these features' among them, as a leaf that collects their gradient; each feature's place."""
        rows = self._rows_for(features)
        places = self._position.index_select(0, rows)
        idle = rows[places < 0]
        if len(idle):
            for some in torch.split(torch.unique(idle), self._piece):
                self._position[some] = torch.arange(len(self._active), len(self._active) + len(some))
                self.idle.activate(some, self._active.room_for(some, self.step), self.schedule, self.step)
            places = self._position.index_select(0, rows)
        self._leaf = self._active.state.weight.detach().requires_grad_()
        return self._leaf, places

    @property
    def active(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The rows of the last ``activate`` and the leaf that holds their weights and gradient."""
        return self._active.rows[: len(self._leaf)], self._leaf

    def peek(self, features: torch.Tensor, average: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
        """Rows as they are until the next step, these features' among them, and each one's place; nothing changes.

        A feature never seen has zeros.
        """
        average = average and bool(self.schedule.average)
        if self._learning not in (None, get_ident()):
            return self._peek_finished(features, average)
        places = self._places_active(features)
        if places is not None:
            return self._active.state.average if average else self._active.state.weight, places
        distinct, local = torch.unique(features, return_inverse=True)
        rows = self._row_of[distinct].long()
        values = torch.zeros(len(distinct), self._leaf.shape[1])
        for known in torch.split((rows >= 0).nonzero()[:, 0], self._piece):
            values[known] = self._look(rows[known], average)
        return values, local

    def apply_gradient(self) -> None:
        """One Adam step on the active rows, then the shrinkage and the average."""
        assert self._leaf.grad is not None
        self.step += 1
        self._active.step(self._leaf.grad, self.schedule, self.step)

    def take_exact_step(self, strength: float) -> None:
        """The group lasso's proximal step on the active rows, in Adam's metric."""
        self._active.take_exact_step(strength, self.schedule, self.step)

    @torch.no_grad()
    def bury(self, threshold: float) -> None:
        """Set active rows to zero whose weights are all below the threshold; as idle rows they stay so."""
        now = self._active.state
        dead = now.weight.abs().amax(dim=1) < threshold
        now.weight[dead], now.mean[dead] = 0.0, 0.0

    def group_norms(self) -> torch.Tensor:
        """The norm of each feature's row now; zero for one never seen."""
        if self.schedule.shrink:
            norms = self.idle.norms(torch.arange(self._used), self.schedule, self.step)
        else:
            norms = torch.cat([row_norms(self._look(some, average=False)) for some in self._pieces()])
        return self._by_feature(norms, unseen=0.0)

    def alive(self) -> torch.Tensor:
        """Which features have a row that is not zero, or none yet: one never seen is not dead."""
        if self.schedule.shrink:
            return (self.group_norms() > 0) | ~self.seen
        # Without shrinkage an idle row neither dies nor revives: what it was when last touched still holds.
        return self._by_feature(self.idle.products[: self._used, 0].clone(), unseen=1.0) > 0

    def rows(self) -> torch.Tensor:
        """The weights of all rows now, in order of first sight."""
        return torch.cat([self._look(some, average=False) for some in self._pieces()])

    def draw_by(self, initial: Callable[[int], torch.Tensor]) -> None:
        """New rows begin like this from here on."""
        self._initial = initial

    def redraw(self) -> None:
        """Let the active rows begin anew."""
        now = self._active.state
        now.weight.copy_(self._initial(len(self._active)))
        now.mean.zero_()
        now.square.zero_()
        now.average.copy_(now.weight)

    def begin(self) -> Journal:
        """A call begins: what ``rollback`` takes to undo it."""
        self.commit()
        self._journal = Journal(self._used, self.step, self._row_of, self.idle)
        return self._journal

    def start_batch(self) -> None:
        """Make idle what the last batch left active. From here on the active rows are unfinished."""
        with self.lock:
            self.commit()
            self._finished = (self._used, self.step)
            self._learning = get_ident()

    def finish_batch(self) -> None:
        """Fix the active rows as the batch leaves them."""
        self._active.follow(self.schedule, self.step)
        self._learning = None

    def commit(self) -> None:
        """Make the active rows idle as they are. Interrupted, it can be done again."""
        with self.lock:
            if self._journal is not None and len(self._active):
                self._journal.note(self._active.rows, self.idle)
            self._put_back(self.idle)
            self._dismiss()

    def rollback(self, journal: Journal | None) -> None:
        """Back to where a call began; None: it had not got so far, and the active rows are from before it."""
        with self.lock:
            if journal is None:
                self._put_back(self.idle)
            else:
                self._used, self.step = journal.used, journal.step
                self._row_of, self.idle = journal.row_of, journal.idle
                for rows, before in journal.before:
                    self.idle.put(rows, before)
                self._row_of[self._row_of >= self._used] = -1
            self._active.clear()
            self._position = torch.full((len(self.idle),), -1)
            self._leaf = self._leaf.new_zeros(0, self._leaf.shape[1])
            self._learning = self._journal = None

    def state_dict(self) -> dict[str, Any]:
        rows = IdleRows(**{name: column[: self._used].clone() for name, column in self.idle.columns().items()})
        self._put_back(rows)
        return {"step": self.step, "row_of": self._row_of.clone(), **rows.columns()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from ``state_dict()``; what does not fit this table is refused."""
        saved = Saved(state, "table")
        step = saved.whole("step", 0, MOST_STEPS)
        row_of = saved.tensor("row_of", (self.n_features,), torch.int32)
        idle = IdleRows.from_state(saved, self._leaf.shape[1], step)
        used, known = len(idle), row_of[row_of >= 0]
        if int(row_of.min()) < -1 or len(known) != used or not torch.equal(known.sort().values, torch.arange(used)):
            saved.refuse("row_of", f"must number the {used} rows there are, each once")
        self._dismiss()
        self.step, self._row_of, self._used, self.idle = step, row_of.clone(), used, idle
        self._position = torch.full((used,), -1)

    def unfinished(self) -> list[torch.Tensor]:
        """What a batch has made of the active rows: all that must be finite for it to count."""
        return [self._active.state.weight, self._active.state.square]

    @property
    def _piece(self) -> int:
        """How many rows are looked at at a time."""
        return max(1, IDLE_PIECE // self._leaf.shape[1])

    def _pieces(self) -> tuple[torch.Tensor, ...]:
        return torch.split(torch.arange(self._used), self._piece)

    def _peek_finished(self, features: torch.Tensor, average: bool) -> tuple[torch.Tensor, torch.Tensor]:
        """Rows as the last finished batch left them, whatever another thread is learning now."""
        with self.lock:
            used, step = self._finished
            distinct, local = torch.unique(features, return_inverse=True)
            rows = self._row_of[distinct].long()
            values = torch.zeros(len(distinct), self._leaf.shape[1])
            for known in torch.split(((rows >= 0) & (rows < used)).nonzero()[:, 0], self._piece):
                values[known] = self.idle.look(rows[known], self.schedule, step, average)
            return values, local

    def _places_active(self, features: torch.Tensor) -> torch.Tensor | None:
        """Each feature's place among the active rows, if all of them are."""
        rows = self._row_of.index_select(0, features)
        if not len(self._active) or bool((rows < 0).any()):
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
            self.idle.add(fresh, self._initial(len(new)), self.step)
            self._position[fresh] = -1
            self._used += len(new)
            rows = self._row_of.index_select(0, features)
        return rows.long()

    def _reserve(self, rows: int) -> None:
        if rows > len(self.idle):
            capacity = min(max(rows, 2 * len(self.idle), 1024), max(self.n_features, rows))
            self.idle.grow(capacity)
            self._position = grown(self._position, capacity)

    def _put_back(self, rows: IdleRows) -> None:
        """Note there how the active rows are now."""
        self._active.follow(self.schedule, self.step)
        for some in self._active.pieces():
            rows.put_back(self._active.rows[some], self._active.state[some], self.schedule, self.step)

    def _dismiss(self) -> None:
        """No row is active."""
        self._position[self._active.rows] = -1
        self._active.clear()
        self._leaf = self._leaf.new_zeros(0, self._leaf.shape[1])

    def _by_feature(self, by_row: torch.Tensor, unseen: float) -> torch.Tensor:
        """Norms of rows by feature; the active ones are measured, ``by_row`` tells the others."""
        by_row[self._active.rows] = row_norms(self._active.state.weight)
        return torch.cat([by_row.new_full((1,), unseen), by_row]).index_select(0, self._row_of + 1)

    def _look(self, rows: torch.Tensor, average: bool) -> torch.Tensor:
        """The weights of some rows now, or their averages."""
        position = self._position[rows]
        idle = position < 0
        if bool(idle.all()):
            return self.idle.look(rows, self.schedule, self.step, average)
        active = self._active.state.average if average else self._active.state.weight
        values = active[position.clamp(min=0)]
        if bool(idle.any()):
            values[idle] = self.idle.look(rows[idle], self.schedule, self.step, average)
        return values
