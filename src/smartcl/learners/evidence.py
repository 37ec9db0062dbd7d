"""What a stream says of who learns from it: who was right alone, whether errors jumped, whether steps still teach."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, Self

from smartcl.data.batch import Bools
from smartcl.saved import Saved


class Noted:
    """A value made of numbers that are saved with a learner."""

    def state_dict(self) -> dict[str, Any]:
        return {part.name: float(getattr(self, part.name)) for part in fields(self)}  # type: ignore[arg-type]

    @classmethod
    def from_state(cls, saved: Saved) -> Self:
        """What ``state_dict`` described: numbers that are not negative."""
        return cls(**{part.name: saved.number(part.name, 0.0) for part in fields(cls)})  # type: ignore[arg-type]


@dataclass(frozen=True)
class Duel(Noted):
    """Two answer the same questions: how many were asked lately, and how many only one of the two got right.

    >>> import numpy as np
    >>> duel = Duel().after(np.array([True, False, False]), np.array([True, True, True]), memory=1.0)
    >>> duel.gap, round(duel.sureness, 2)
    (0.6666666666666666, 1.41)
    """

    first: float = 0.0
    second: float = 0.0
    asked: float = 0.0

    def after(self, first: Bools, second: Bools, memory: float) -> Duel:
        """With these answers counted in, and so much of the earlier ones left."""
        return Duel(
            memory * self.first + float((first & ~second).sum()),
            memory * self.second + float((second & ~first).sum()),
            memory * self.asked + len(first),
        )

    def weaker(self, share: float) -> Duel:
        """As if so much less had been asked."""
        return Duel(share * self.first, share * self.second, share * self.asked)

    @property
    def gap(self) -> float:
        """By how much more of the answers of the second were right."""
        return (self.second - self.first) / self.asked if self.asked else 0.0

    @property
    def doubt(self) -> float:
        """The standard error of the gap, were the questions independent."""
        return math.sqrt(self.first + self.second + 1) / self.asked if self.asked else 1.0

    @property
    def sureness(self) -> float:
        """The gap in standard errors."""
        return (self.second - self.first) / math.sqrt(self.first + self.second) if self.first + self.second else 0.0


#: Errors of a batch so many standard errors above the usual share are a jump.
JUMP = 3.0
#: Batches before which nothing is usual yet.
USUAL_AFTER = 5
#: How fast the usual share of errors follows a higher and a lower one.
RISE, FALL = 0.1, 0.2


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
    jump: float = 0.0

    @property
    def jumped(self) -> bool:
        return self.jump > 0

    def after(self, errors: float, rows: int) -> Alertness:
        """After a batch of so many rows with this share of errors."""
        if not self.batches:
            return Alertness(errors, 1.0)
        noise = math.sqrt(max(self.usual * (1 - self.usual), 0.01) / rows)
        if self.batches >= USUAL_AFTER and errors - self.usual > JUMP * noise:
            return Alertness(errors, self.batches + 1, 1.0)
        rate = RISE if errors > self.usual else FALL
        return Alertness(self.usual + rate * (errors - self.usual), self.batches + 1)


#: How fast the two averages of the errors follow.
LATELY, LONG = 0.2, 0.04
#: The least share of the steps that a batch gets.
LEAST = 0.1
#: By how much the share falls at a batch that brought nothing new, and rises at one that did.
SLOWER, FASTER = 0.93, 2.0


@dataclass(frozen=True)
class Pace(Noted):
    """The share of its steps that a batch is worth: all while errors rise or fall, ever fewer while nothing changes.

    >>> pace = Pace()
    >>> for _ in range(60):
    ...     pace = pace.after(0.02, 50)
    >>> pace.steps(20), pace.after(0.5, 50).after(0.5, 50).after(0.5, 50).steps(20)
    (2, 16)
    """

    lately: float = 0.0
    long: float = 0.0
    share: float = 1.0
    batches: float = 0.0

    def steps(self, most: int) -> int:
        return max(1, round(most * self.share))

    def after(self, errors: float, rows: int) -> Pace:
        """After a batch of so many rows with this share of errors before it was learned."""
        batches = self.batches + 1
        lately = self.lately + max(LATELY, 1 / batches) * (errors - self.lately)
        long = self.long + max(LONG, 1 / batches) * (errors - self.long)
        noise = math.sqrt(max(long * (1 - long), 0.01) * LATELY / (2 - LATELY) / rows)
        factor = FASTER if abs(lately - long) > noise else SLOWER
        return Pace(lately, long, min(1.0, max(LEAST, self.share * factor)), batches)
