"""What a stream says of who learns from it: who was right, who alone, and whether what comes has come before."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from smartcl.data.batch import Bools
from smartcl.learners.pace import Alertness, Noted, Pace
from smartcl.saved import Saved

Floats: TypeAlias = NDArray[np.float64]


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
