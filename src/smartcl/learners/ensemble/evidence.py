"""Evidence of the stream on the members: honest answers, the weights they give, calibration, and drift."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from smartcl.data.batch import Bools, Doubles, Floats, Ints
from smartcl.learners.ensemble.calibration import Calibration
from smartcl.learners.ensemble.drift import Change, DriftWatch
from smartcl.learners.ensemble.settings import (
    AFTER_JUMP,
    BATCH_ROWS,
    LOOK_ROWS,
    RARE,
    RECENT_ROWS,
    SMALL_SHARE,
    SURE,
    WORTH,
)
from smartcl.learners.ensemble.weighting import Answered, Weights, newest
from smartcl.saving.saved import Saved

#: The parts of the evidence that are by class.
PLACED = ("present", "past", "weights", "later", "later_weights")


@dataclass(frozen=True)
class Roles:
    """Which experts drift is told from: the whole past, a short memory, a snapshot; None where there are none."""

    whole: int
    short: int
    snapshot: int


@dataclass(frozen=True, eq=False)
class Evidence:
    """Answers to the newest rows before they were learned, and to held-out rows of the past as things are now.

    The past counts where the newest rows say nothing of it: classes that stay away, inputs of another kind. It also
    says how much each member counts for rows that are far from the newest labels (``later``): held-out rows are as far.
    """

    present: Answered
    past: Answered
    weights: Weights
    calibration: Calibration
    drift: DriftWatch
    #: Answers at the last looks at held-out rows that were made to be far from the newest labels, and their weights.
    later: Answered
    later_weights: Weights
    #: 0 when the newest inputs were surely of another kind than the past's, and up to 1 again if later looks deny it.
    familiar: float = 1.0
    #: The share of the past that the newest rows speak for; 1 until there is a past.
    coverage: float = 1.0
    #: The members without which the pool's answers would be worse, of those that were asked about.
    adds: tuple[str, ...] = ()

    @classmethod
    def none(cls, experts: int, n_classes: int) -> Evidence:
        nothing, equal = Answered.none(experts, n_classes), Weights.equal(experts, n_classes)
        return cls(nothing, nothing, equal, Calibration.none(), DriftWatch(), nothing, equal)

    def probabilities(self, logs: Floats) -> Doubles:
        """Of answers ``[row, expert, class]``, weighed and calibrated."""
        return self.calibration.applied(self.weights.pooled(logs))

    @property
    def known(self) -> Answered:
        """The answers that weights are fitted to.

        Held-out rows are a sample of the whole stream: if inputs are of another kind now, they alone count. If only
        some classes stay away, their rows count beside the present, each side by its share of the held-out rows.
        """
        if not self.past.weight.any():
            return self.present
        if self.past.weight.all():
            return self.past
        here = float((self.past.weight == 0).sum() / max(self.present.weight.sum(), 1e-12))
        return self.present.weaker(min(1.0, here)).and_then(self.past)

    def after(self, said: Answered, roles: Roles | None) -> Evidence:
        """With answers that were given before their rows were learned."""
        pooled, drift, present, calibration = self.weights.pooled(said.logs), self.drift, self.present, self.calibration
        if roles is not None:
            right = said.logs.argmax(axis=2) == said.y[:, None]
            known: Bools | None = right[:, roles.snapshot] if np.ptp(said.logs[:, roles.snapshot]) else None
            drift = drift.after(pooled.argmax(axis=1) == said.y, right[:, roles.whole], right[:, roles.short], known)
            if drift.alert.jumped:
                present, calibration = present.weaker(AFTER_JUMP), calibration.weaker(AFTER_JUMP)
        calibration = calibration.after(pooled, said.y, said.weight)
        return replace(self, present=newest(present, said), calibration=calibration, drift=drift).fitted()

    def fitted(self) -> Evidence:
        """With weights one step nearer to those that explain all answers best."""
        return replace(self, weights=self.weights.fitted(self.known))

    def looked_back(self, past: Answered, other_inputs: bool) -> Evidence:
        """With answers to held-out rows: those of absent classes count, or all if the inputs are of another kind."""
        familiar = 0.0 if other_inputs else min(1.0, self.familiar + SMALL_SHARE)
        away = self.stay_away[past.y]
        weight = past.weight if familiar < 0.5 else np.where(away, past.weight, np.float32(0))
        coverage = min(familiar, 1 - float(away.mean()))
        looked = replace(self, past=replace(past, weight=weight), familiar=familiar, coverage=coverage)
        return replace(looked, weights=looked.weights.refitted(looked.known))

    def asked_of_later(self, past: Answered) -> Evidence:
        """With answers to held-out rows of which nothing was said of the labels of their time."""
        later = self.later.and_then(past, 2 * RECENT_ROWS)
        return replace(self, later=later, later_weights=self.later_weights.refitted(later))

    @property
    def stay_away(self) -> Bools:
        """Which classes are missing from the newest rows, or nearly so."""
        n_classes = self.present.logs.shape[2]
        came = np.bincount(self.present.y[-LOOK_ROWS:], minlength=n_classes)
        return np.asarray(came < RARE * came.sum() / max(1, n_classes))

    def noted(self, change: Change) -> Evidence:
        """With the change; answers are compared anew."""
        return replace(self, drift=self.drift.noted(change))

    def judged_anew(self, said: Answered) -> Evidence:
        """After a change members answer otherwise: their answers of now, to rows not learned yet, count for most.

        What the past said of them does not hold any more.
        """
        present = newest(self.present.weaker(AFTER_JUMP), said)
        later = self.later.weaker(AFTER_JUMP)
        return replace(self, present=present, past=self.past.weaker(0.0), later=later).fitted()

    def asked_who_adds(self, members: Mapping[str, slice]) -> Evidence:
        """Would the pool's answers be surely worse without the experts of each of these members?"""
        known = self.known
        if not len(known):
            return self
        worth = {name: self.weights.worth(known, experts) for name, experts in members.items()}
        return replace(
            self, adds=tuple(name for name, (rise, error) in worth.items() if rise > max(WORTH, SURE * error))
        )

    @property
    def noise(self) -> float:
        """An estimate of the share of wrong labels: how often even the surest answers are wrong.

        Answers to held-out rows of the past count too: those to rows of a new task may be sure and wrong.
        """
        if len(self.past) < BATCH_ROWS:
            return self.calibration.least_errors
        shares = self.weights.pooled(self.past.logs)
        surest = np.argsort(-shares.max(axis=1), kind="stable")[: len(shares) // 2]
        errors = float((shares[surest].argmax(axis=1) != self.past.y[surest]).mean())
        return min(self.calibration.least_errors, errors)

    def placed(self, at: Ints, n_classes: int) -> Evidence:
        """With its classes at these places among ``n_classes``."""
        parts = {name: getattr(self, name).placed(at, n_classes) for name in PLACED}
        return replace(self, **parts)

    @classmethod
    def together(cls, parts: Sequence[tuple[float, Evidence]], drift: DriftWatch) -> Evidence:
        """What was said on streams that went on side by side, by their shares of the rows; to be judged anew."""
        known = [(share, each) for share, each in parts if share] or list(parts)
        familiar, coverage = (
            sum(share * getattr(each, name) for share, each in known) for name in ("familiar", "coverage")
        )
        present = Answered.joined([each.present for _, each in known], 2 * RECENT_ROWS)
        return cls(
            present,
            present.last(0),
            Weights.mean([(share, each.weights) for share, each in known]),
            Calibration.joined([each.calibration for _, each in known]),
            drift,
            Answered.joined([each.later for _, each in known], 2 * RECENT_ROWS),
            Weights.mean([(share, each.later_weights) for share, each in known]),
            min(1.0, familiar),
            min(1.0, coverage),
            tuple(sorted({name for _, each in known for name in each.adds})),
        )

    def judged_by(self, said: Answered) -> Evidence:
        """By what members say now of rows that none has learned, in the place of what they said before.

        Where there are few such rows, what was said before still counts, a little.
        """
        if len(said) >= RECENT_ROWS:
            present = said.last(2 * RECENT_ROWS)
        else:
            present = self.present.weaker(AFTER_JUMP).and_then(said, 2 * RECENT_ROWS)
        weights = self.weights.refitted(present)
        calibration = self.calibration.weaker(AFTER_JUMP).after(weights.pooled(said.logs), said.y, said.weight)
        return replace(self, present=present, weights=weights, calibration=calibration)

    def widened(self, n_classes: int) -> Evidence:
        return replace(
            self,
            present=self.present.widened(n_classes),
            past=self.past.widened(n_classes),
            weights=self.weights.widened(n_classes),
            later=self.later.widened(n_classes),
            later_weights=self.later_weights.widened(n_classes),
        )

    @property
    def nbytes(self) -> int:
        return self.present.nbytes + self.past.nbytes + self.later.nbytes + self.calibration.nbytes

    def state_dict(self) -> dict[str, Any]:
        parts = {name: getattr(self, name) for name in (*PLACED, "calibration", "drift")}
        states = {name: part.state_dict() for name, part in parts.items()}
        return {**states, "familiar": self.familiar, "coverage": self.coverage, "adds": list(self.adds)}

    def loaded(self, saved: Saved) -> Evidence:
        return Evidence(
            self.present.loaded(saved.part("present")),
            self.past.loaded(saved.part("past")),
            self.weights.loaded(saved.part("weights")),
            Calibration.from_state(saved.part("calibration")),
            DriftWatch.from_state(saved.part("drift")),
            self.later.loaded(saved.part("later")),
            self.later_weights.loaded(saved.part("later_weights")),
            saved.number("familiar", 0.0, 1.0),
            saved.number("coverage", 0.0, 1.0),
            tuple(str(name) for name in saved.items("adds")),
        )
