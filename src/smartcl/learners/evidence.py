"""What a stream says of who learns from it: who was right alone, whether errors jumped, whether steps still teach."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from smartcl.data.batch import Bools
from smartcl.saved import Saved

Floats: TypeAlias = NDArray[np.float64]


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
    def sureness(self) -> float:
        """The gap in standard errors."""
        return (self.second - self.first) / math.sqrt(self.first + self.second) if self.first + self.second else 0.0


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


@dataclass(frozen=True)
class Record:
    """Of the questions asked lately, how many each of several got right.

    >>> import numpy as np
    >>> Record().after([np.array([True, False]), np.array([True, True])], memory=1.0).accuracy
    array([0.5, 1. ])
    """

    right: tuple[float, ...] = ()
    asked: float = 0.0

    @property
    def accuracy(self) -> Floats:
        return np.array(self.right) / max(self.asked, 1.0)

    def after(self, answers: Sequence[Bools], memory: float) -> Record:
        """With these answers counted in, and so much of the earlier ones left."""
        before = self.right or (0.0,) * len(answers)
        right = tuple(memory * old + float(new.sum()) for old, new in zip(before, answers, strict=True))
        return Record(right, memory * self.asked + len(answers[0]))

    def weaker(self, share: float) -> Record:
        """As if so much less had been asked."""
        return Record(tuple(share * old for old in self.right), share * self.asked)

    def state_dict(self) -> dict[str, Any]:
        return {"right": list(self.right), "asked": self.asked}

    @classmethod
    def from_state(cls, saved: Saved, count: int) -> Record:
        """What ``state_dict`` described, of so many."""
        asked, right = saved.number("asked", 0.0), saved.items("right")
        if len(right) not in (0, count) or not all(type(each) is float and 0 <= each <= asked for each in right):
            saved.refuse("right", f"must be {count} numbers of answers, none above {asked:g}")
        return cls(tuple(right), asked)


#: So much less accuracy, and an answer counts e times less; who would have less than this share has none.
TEMPER, LEAST_SHARE = 0.01, 0.1
#: Of a few answers the accuracy is not known that well: then so many times the root of their number is it.
SHYNESS = 0.2


def shares(merit: Floats, asked: float) -> Floats:
    """How much each of several answers counts, by how often those who give them were right when so many were asked.

    >>> shares(np.array([0.9, 0.9, 0.5]), asked=1000)
    array([0.5, 0.5, 0. ])
    >>> shares(np.array([0.9, 0.8, 0.9]), asked=4).round(2)
    array([0.42, 0.16, 0.42])
    """
    weight = np.exp((merit - merit.max()) / max(TEMPER, SHYNESS / math.sqrt(max(asked, 1.0))))
    weight[weight < LEAST_SHARE * weight.sum()] = 0.0
    result: Floats = weight / weight.sum()
    return result


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


#: After so many batches inputs are compared with those of the past; at once, and again, where all is new.
COMPARED_EVERY, FIRST_LOOKS = 20, 3
#: What each look at the past leaves of the one before.
PAST_MEMORY = 0.65
#: How much the present counts beside the past where inputs are new: in it, forgetting does not show.
PRESENT_WEIGHT = 0.1
#: How fast it comes to that as inputs become unlike; and how much faster where nobody knows the past, of which they may
#: be a part under wrong labels.
UNLIKE, UNLIKE_UNKNOWN = 2.0, 6.0
#: By so much those without guards must be better there than the guarded one, who comes first and forgets least; and,
#: where only some inputs are new, by so much of what nobody knows: those may have wrong labels.
STAND_BACK, UNEXPLAINED = 0.05, 0.4


@dataclass(frozen=True)
class Likeness(Noted):
    """How much the newest inputs have in common with older ones: 0, as those of a new task, to 1."""

    common: float = 0.0
    looks: float = 0.0
    #: Batches since the last look.
    since: float = 0.0

    @property
    def due(self) -> bool:
        """Is it time for a look?"""
        return self.looks < FIRST_LOOKS or self.since >= COMPARED_EVERY

    def later(self, share: float) -> Likeness:
        """After a batch without a look that was worth this share of a batch."""
        return replace(self, since=self.since + share)

    def after(self, common: float) -> Likeness:
        """With another look counted as much as all before it."""
        return Likeness((self.common + common) / 2 if self.looks else common, self.looks + 1)


NOTHING_ASKED, NO_RECORD, UNALARMED, FULL_PACE = Duel(), Record(), Alertness(), Pace()
#: Until inputs have been compared: at the beginning there is no past, after a jump of the errors it may be another one.
ALL_ALIKE, ALL_NEW = Likeness(common=1.0), Likeness()


@dataclass(frozen=True)
class Evidence:
    """All that the stream has said so far of those who learn from it: of the past and of what came next."""

    past: Record = NO_RECORD
    present: Record = NO_RECORD
    #: Of the same rows as they came and as the memory would hold them: the past is remembered coarsely.
    came: Record = NO_RECORD
    held: Record = NO_RECORD
    #: The one who knows the newest samples only, against the best of the others.
    scouted: Duel = NOTHING_ASKED
    alert: Alertness = UNALARMED
    pace: Pace = FULL_PACE
    likeness: Likeness = ALL_ALIKE

    def merit(self, changed: bool) -> Floats:
        """How good each is; in a changed world, by the present alone. Where inputs are new, guards come first."""
        if changed or not self.past.asked:
            return self.present.accuracy
        merit = self.whole_merit
        alike, unlike = self.likeness.common, 1 - self.likeness.common
        merit[1:] -= unlike * (STAND_BACK * unlike + UNEXPLAINED * alike * (1 - merit.max()))
        return merit

    def asked(self, changed: bool) -> float:
        """How many different questions the merit goes by: about the past the same ones are asked again and again."""
        return self.present.asked if changed or not self.past.asked else self.past.asked * (1 - PAST_MEMORY)

    @property
    def whole_merit(self) -> Floats:
        """By the past, as it would be without coarse values, and by the present, as far as its inputs are the same."""
        past = self.past.accuracy + (self.came.accuracy - self.held.accuracy if self.held.asked else 0.0)
        faster = UNLIKE_UNKNOWN * (1 - past.max())
        weight = max(PRESENT_WEIGHT, 1 - (UNLIKE + faster) * (1 - self.likeness.common))
        merit: Floats = (1 - weight) * past + weight * self.present.accuracy
        return merit

    def state_dict(self) -> dict[str, Any]:
        return {name: part.state_dict() for name, part in vars(self).items()}

    @classmethod
    def from_state(cls, saved: Saved, count: int) -> Evidence:
        past, present, came, held = (
            Record.from_state(saved.part(name), count) for name in ("past", "present", "came", "held")
        )
        alert, pace = Alertness.from_state(saved.part("alert")), Pace.from_state(saved.part("pace"))
        scouted, likeness = Duel.from_state(saved.part("scouted")), Likeness.from_state(saved.part("likeness"))
        return cls(past, present, came, held, scouted, alert, pace, likeness)
