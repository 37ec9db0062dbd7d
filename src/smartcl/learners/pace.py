"""How errors go: whether they jumped, and whether a batch is still worth all steps."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, Self

from smartcl.saved import Saved


class Noted:
    """A value made of numbers that are saved with a learner."""

    def state_dict(self) -> dict[str, Any]:
        return {part.name: float(getattr(self, part.name)) for part in fields(self)}  # type: ignore[arg-type]

    @classmethod
    def from_state(cls, saved: Saved) -> Self:
        """What ``state_dict`` described: numbers that are not negative."""
        return cls(**{part.name: saved.number(part.name, 0.0) for part in fields(cls)})  # type: ignore[arg-type]


#: Errors of a batch so many standard errors above the usual share are a jump; no share is so usual as to be below this.
JUMP, FEW_ERRORS = 3.0, 0.01
#: Batches before which nothing is usual yet.
USUAL_AFTER = 5
#: How fast the usual share of errors follows a higher and a lower one.
RISE, FALL = 0.1, 0.2


def excess(share: float, usual: float, rows: int) -> float:
    """By how many standard errors a share of so many rows is above the usual one, whether that is small or large.

    Angles, not shares: of the angle of a share the standard error is the same wherever it lies (Anscombe, 1948).

    >>> round(excess(0.5, 0.25, 100), 2), round(excess(0.05, 0.0, 100), 2)
    (5.24, 4.51)
    """
    return 2 * math.sqrt(rows) * (math.asin(math.sqrt(share)) - math.asin(math.sqrt(usual)))


@dataclass(frozen=True)
class Alertness(Noted):
    """The usual share of errors, and whether the last batch's was far above it.

    >>> calm = Alertness()
    >>> for _ in range(10):
    ...     calm = calm.after(0.1, 50)
    >>> calm.after(0.12, 50).jumped, calm.after(0.4, 50).jumped
    (False, True)
    """

    usual: float = 0.0
    batches: float = 0.0
    #: Batches since the last jump; 0 in the batch that jumped.
    since: float = 1.0

    @property
    def jumped(self) -> bool:
        return self.since == 0

    def after(self, errors: float, rows: int) -> Alertness:
        """After a batch of so many rows with this share of errors."""
        if not self.batches:
            return Alertness(errors, 1.0)
        if self.batches >= USUAL_AFTER and excess(errors, max(self.usual, FEW_ERRORS), rows) > JUMP:
            return Alertness(errors, self.batches + 1, since=0.0)
        rate = RISE if errors > self.usual else FALL
        return Alertness(self.usual + rate * (errors - self.usual), self.batches + 1, self.since + 1)


#: Batches in which nothing changes before the steps become fewer, and as many again after a rise that was no jump; in a
#: stream of fewer batches than so many they never do.
CALM, CALM_AGAIN, YOUNG_STREAM = 30, 10, 100
#: How fast three averages of the errors follow; by how many standard errors the first two must be off the third.
QUICK, SLOW, LEVEL = 0.2, 0.05, 0.02
QUICK_RISE, SLOW_CHANGE = 2.5, 2.0
#: The share of its steps left with each further batch in which nothing changes, and the least there is; and how many
#: times as large it becomes with each batch in which something seems to.
SLOWER, LEAST, FASTER = 0.9, 0.025, 1.5


@dataclass(frozen=True)
class Pace(Noted):
    """The share of its steps that a batch is worth: all while they teach or errors rise, ever fewer while not.

    >>> pace = Pace()
    >>> for _ in range(150):
    ...     pace = pace.after(0.02, 50, jumped=False)
    >>> pace.share, pace.after(0.5, 50, jumped=True).share
    (0.025, 1.0)
    """

    quick: float = 0.0
    slow: float = 0.0
    level: float = 0.0
    batches: float = 0.0
    calm: float = 0.0
    share: float = 1.0

    def after(self, errors: float, rows: int, jumped: bool, teaches: bool | None = None) -> Pace:
        """After a batch of so many rows with this share of errors before it was learned.

        ``teaches`` says whether the steps before have taught anything; where nobody knows, errors that fall do.
        """
        batches = self.batches + 1
        quick, slow, level = (
            old + max(rate, 1 / batches) * (errors - old)
            for old, rate in ((self.quick, QUICK), (self.slow, SLOW), (self.level, LEVEL))
        )
        error = math.sqrt(max(level * (1 - level), 0.01) / rows)
        quick_error, slow_error = (error * math.sqrt(rate / (2 - rate)) for rate in (QUICK, SLOW))
        averages = {"quick": quick, "slow": slow, "level": level, "batches": batches}
        surprised = self.batches >= USUAL_AFTER and excess(errors, max(self.level, FEW_ERRORS), rows) > JUMP
        rising = quick - level > QUICK_RISE * quick_error or slow - level > SLOW_CHANGE * slow_error
        if surprised or jumped or rising or teaches:
            share = 1.0 if surprised else min(1.0, FASTER * self.share)
            return Pace(**averages, calm=min(self.calm, CALM - CALM_AGAIN) if share == 1 else self.calm, share=share)
        if teaches is None and level - slow > SLOW_CHANGE * slow_error:
            return Pace(**averages, calm=self.calm, share=self.share)
        slower = self.calm >= CALM and batches > YOUNG_STREAM
        share = max(LEAST, SLOWER * self.share) if slower else self.share
        return Pace(**averages, calm=self.calm + 1, share=share)
