"""Drift: sums that forget are compared with sums that do not, and the newest inputs with older ones.

* *changed*: the short memory is surely better on inputs that the past has seen too. What is outdated goes.
* *new task*: it is better, but on other inputs. Nothing is forgotten.
* *recurred*: sums kept from before an earlier change are surely better than those of the whole past.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import lapack

from smartcl.data.batch import Bools, Floats
from smartcl.learners.ensemble.settings import BATCH_ROWS, LOOK_ROWS, RARE, RECENT_ROWS, SAME_INPUTS, SURE
from smartcl.saving.saved import Saved

#: The kinds of change.
CHANGED, NEW_TASK, RECURRED = "changed", "new task", "recurred"
#: Changes that are remembered.
MOST_CHANGES = 100


@dataclass(frozen=True)
class Change:
    """After which row what kind of change was noticed, and by what evidence.

    ``lead`` is by how much more of the answers the better memory had right, ``sureness`` the same in standard errors,
    ``coverage`` the share of the past's inputs that the newest rows cover.
    """

    row: int
    kind: str
    lead: float
    sureness: float
    coverage: float
    #: The newest rows that are surely of the time after the change.
    rows_after: int = 0

    def state_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_state(cls, saved: Saved) -> Change:
        return cls(
            saved.whole("row", 0),
            saved.choice("kind", CHANGED, NEW_TASK, RECURRED),
            saved.number("lead", -1.0, 1.0),
            saved.number("sureness"),
            saved.number("coverage", 0.0, 1.0),
            saved.whole("rows_after", 0),
        )


@dataclass(frozen=True)
class Comparison:
    """Two answer the same rows: of the newest, how many only one of the two got right.

    >>> right, wrong = np.array([True, True]), np.array([False, True])
    >>> Comparison().after(wrong, right).lead
    0.5
    """

    first: float = 0.0
    second: float = 0.0
    rows: float = 0.0

    def after(self, first: Bools, second: Bools) -> Comparison:
        """With these answers counted in; older ones count less."""
        left = (1 - 1 / RECENT_ROWS) ** len(first)
        return Comparison(
            left * self.first + float((first & ~second).sum()),
            left * self.second + float((second & ~first).sum()),
            left * self.rows + len(first),
        )

    @property
    def lead(self) -> float:
        """By how much more of the answers of the second were right."""
        return (self.second - self.first) / self.rows if self.rows else 0.0

    @property
    def sureness(self) -> float:
        """The lead in standard errors."""
        differing = self.first + self.second
        return (self.second - self.first) / math.sqrt(differing) if differing else 0.0

    def state_dict(self) -> dict[str, float]:
        return asdict(self)

    @classmethod
    def from_state(cls, saved: Saved) -> Comparison:
        return cls(*(saved.number(name, 0.0) for name in ("first", "second", "rows")))


@dataclass(frozen=True)
class Alert:
    """The usual share of errors, and whether those of the last batch jumped far above it.

    >>> alert = Alert()
    >>> for _ in range(20):
    ...     alert = alert.after(errors=0.02, rows=50)
    >>> alert.jumped, alert.after(errors=0.5, rows=50).jumped
    (False, True)
    """

    usual: float = 0.5
    rows: float = 0.0
    #: Rows since the last jump, those of the last batch left out: they are not stored yet.
    since: float = 0.0
    last: float = 0.0
    jumped: bool = False

    def after(self, errors: float, rows: int) -> Alert:
        """After this number of rows with this share of errors."""
        usual = max(self.usual, RARE)
        excess = (errors - usual) / math.sqrt(max(usual * (1 - usual), RARE) / rows)
        if self.rows >= RECENT_ROWS / 2 and excess > 2 * SURE and errors >= 0.5:
            return Alert(errors, last=float(rows), jumped=True)
        seen = self.rows + rows
        rate = rows / min(seen, RECENT_ROWS)
        return Alert(self.usual + rate * (errors - self.usual), seen, self.since + self.last, last=float(rows))

    def state_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_state(cls, saved: Saved) -> Alert:
        usual, rows, since, last = (saved.number(name, 0.0) for name in ("usual", "rows", "since", "last"))
        return cls(usual, rows, since, last, saved.flag("jumped"))


class Overlap(NamedTuple):
    """How much new rows look like older ones, an estimate, and its standard error.

    >>> Overlap(0.5, 0.1).surely_other, Overlap(0.8, 0.1).surely_other
    (True, False)
    """

    share: float
    error: float

    @property
    def surely_other(self) -> bool:
        """Whether the new rows are other inputs, beyond the error of the estimate."""
        return self.share + SURE * self.error < SAME_INPUTS

    @property
    def same(self) -> bool:
        """Whether the new rows look like the same inputs."""
        return self.share >= SAME_INPUTS


#: Too few rows were compared to say anything.
UNKNOWN = Overlap(0.0, math.inf)


@dataclass(frozen=True)
class DriftWatch:
    """The whole past against a short memory, and against sums kept from before; and the changes noticed."""

    short: Comparison = Comparison()
    kept: Comparison = Comparison()
    alert: Alert = Alert()
    changes: tuple[Change, ...] = ()

    def after(self, pool: Bools, whole: Bools, short: Bools, kept: Bools | None) -> DriftWatch:
        """With these right answers counted in; after a jump of the pool's errors they alone count."""
        alert = self.alert.after(float(1 - pool.mean()), len(pool))
        before = DriftWatch() if alert.jumped else self
        again = Comparison() if kept is None else before.kept.after(whole, kept)
        return DriftWatch(before.short.after(whole, short), again, alert, self.changes)

    @property
    def leader(self) -> Comparison | None:
        """The comparison in which the whole past has surely fallen behind."""
        kept, short = self.kept, self.short
        if kept.sureness > SURE and kept.lead >= short.lead:
            return kept
        return short if short.sureness > SURE else None

    def verdict(self, row: int, coverage: Callable[[], Overlap]) -> Change | None:
        """What has changed, if anything surely has and it was not just noticed.

        >>> watch = DriftWatch(short=Comparison(first=2, second=30, rows=200), alert=Alert(since=900))
        >>> watch.verdict(900, lambda: Overlap(0.9, 0.1)).kind, watch.verdict(900, lambda: Overlap(0.1, 0.1)).kind
        ('changed', 'new task')
        >>> watch.verdict(900, lambda: Overlap(0.8, 0.1)) is None
        True
        """
        leader = self.leader
        calm = bool(self.changes) and row - self.changes[-1].row < min(RECENT_ROWS, self.alert.since)
        if leader is None or calm:
            return None
        covered = coverage()
        if leader is self.kept:
            kind = RECURRED
        elif covered.same:
            kind = CHANGED
        elif covered.surely_other and not self._in_new_task(row):
            kind = NEW_TASK
        else:
            return None
        rows_after = int(min(LOOK_ROWS, self.alert.since))
        return Change(row, kind, leader.lead, leader.sureness, covered.share, rows_after)

    def _in_new_task(self, row: int) -> bool:
        """Whether the last change was a new task, and errors have not jumped since: it is still the same one."""
        last = self.changes[-1] if self.changes else None
        return last is not None and last.kind == NEW_TASK and row - self.alert.since <= last.row

    def noted(self, change: Change) -> DriftWatch:
        """From here on answers are compared anew; the newest changes are remembered."""
        return DriftWatch(alert=self.alert, changes=(*self.changes, change)[-MOST_CHANGES:])

    @classmethod
    def together(cls, parts: Sequence[tuple[float, DriftWatch]], base: DriftWatch, since: int) -> DriftWatch:
        """Of streams that went on side by side, by their shares of the rows after the row ``since``.

        Their changes are noted where they would be if the rows had come in turns. Answers are compared anew, for they
        will be others.
        """
        own = [
            replace(change, row=round(since + (change.row - since) / share))
            for share, part in parts
            for change in part.changes
            if share and change not in base.changes
        ]
        seen = [(share, part.alert) for share, part in parts if share]
        usual, rows = (sum(share * getattr(alert, name) for share, alert in seen) for name in ("usual", "rows"))
        calm = min((alert.since / share for share, alert in seen), default=0.0)
        changes = (*base.changes, *sorted(own, key=lambda change: change.row))
        return cls(alert=Alert(usual, rows, calm), changes=changes[-MOST_CHANGES:])

    def state_dict(self) -> dict[str, Any]:
        parts = {name: getattr(self, name).state_dict() for name in ("short", "kept", "alert")}
        return {**parts, "changes": [change.state_dict() for change in self.changes]}

    @classmethod
    def from_state(cls, saved: Saved) -> DriftWatch:
        return cls(
            Comparison.from_state(saved.part("short")),
            Comparison.from_state(saved.part("kept")),
            Alert.from_state(saved.part("alert")),
            tuple(Change.from_state(part) for part in saved.parts("changes")),
        )


def overlap(new: Floats, old: Floats) -> Overlap:
    """How much new rows look like older ones: 1 if they cannot be told apart, 0 if each can.

    Told by ridge regression of as many new as older rows on 1 and 0, each row left out of the one that tells it. The
    standard error is that of the share of rows told rightly.

    >>> rng = np.random.default_rng(0)
    >>> alike = overlap(*rng.normal(size=(2, 200, 5)).astype(np.float32))
    >>> apart = overlap(*(rng.normal(size=(2, 200, 5)) + [[[0]], [[4]]]).astype(np.float32))
    >>> alike.share > 0.8, apart.share < 0.1
    (True, True)
    """
    both = np.concatenate([new, old])
    both -= both.mean(axis=0, dtype=np.float64).astype(np.float32)
    target = np.repeat(np.array([0.5, -0.5], np.float32), [len(new), len(old)])
    penalty = BATCH_ROWS * float(np.square(both).mean()) + 1e-12
    if both.shape[1] < len(both):
        second = both.T @ both
        second.flat[:: len(second) + 1] += np.float32(penalty)
        factor, _ = lapack.spotrf(second, lower=1, overwrite_a=1)
        whitened, _ = lapack.strtrs(factor, both.T, lower=1)
        fitted, leverage = (whitened @ target) @ whitened, np.einsum("ij,ij->j", whitened, whitened)
    else:
        gram = (both @ both.T).astype(np.float64)
        inverse = np.linalg.inv(gram + penalty * np.eye(len(both)))
        fitted, leverage = gram @ (inverse @ target), 1 - penalty * np.diag(inverse)
    leverage += 1 / len(both)  # that of the mean: otherwise the others' mean tells where the row left out lies
    left_out = target - (target - fitted) / np.maximum(1 - leverage, 1e-6)
    right = left_out * target > 0
    sides = right[: len(new)], right[len(new) :]
    accuracy = sum(side.mean() for side in sides) / 2
    variance = sum(side.var() / len(side) for side in sides) / 4
    return Overlap(float(np.clip(2 * (1 - accuracy), 0.0, 1.0)), 2 * math.sqrt(variance))
