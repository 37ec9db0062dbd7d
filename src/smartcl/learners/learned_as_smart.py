"""Other memories with ``smart``'s training: the difference that is left is due to its memory."""

from __future__ import annotations

from smartcl.data.spec import InputSpec
from smartcl.learners.der import StoredLogits, dark_distance
from smartcl.learners.learner import Labelled, Learner
from smartcl.learners.method_settings import DarkTraining, ReservoirTraining, SmartTraining
from smartcl.learners.sceptic import Sceptic, Taught
from smartcl.learners.smart import objective
from smartcl.memory.budget import UNBOUNDED
from smartcl.selection.reservoir import Everything, Reservoir


class DarkSceptic(StoredLogits, Sceptic):
    """A sceptic whose replayed samples are also to get the answers they once got.

    The averaged network still teaches, so that DER++ has all that ``smart`` has.
    """

    recipe: DarkTraining

    def cautious_step(self, new: Labelled, replay: Taught | None) -> None:
        if replay is None:
            super().cautious_step(new, replay)
            return
        dark, stored = self.draw_dark(len(replay.y))
        logits = self.answered(new.rows, replay.rows, dark)
        learned, remembered = logits[: -len(stored)], logits[-len(stored) :]
        slope = self.cautious_slope(learned.detach(), [new, replay.samples], replay)
        self.model.descend((slope * learned).sum() + self.recipe.dark * dark_distance(remembered, stored))


def er_smart(spec: InputSpec, memory: str | int, settings: ReservoirTraining, seed: int = 0) -> Learner:
    """A reservoir of whole samples, learned from as smart learns."""
    return Sceptic(spec, memory, settings, Reservoir(), objective(settings), whole=settings.whole, seed=seed)


def derpp_smart(spec: InputSpec, memory: str | int, settings: DarkTraining, seed: int = 0) -> Learner:
    """DER++'s reservoir of whole samples with their logits, learned from as smart learns."""
    return DarkSceptic(spec, memory, settings, Reservoir(), objective(settings), whole=settings.whole, seed=seed)


def joint_smart(spec: InputSpec, memory: str | int, settings: SmartTraining, seed: int = 0) -> Learner:
    """Every sample ever seen, learned from as smart learns: ``memory`` is ignored. The upper bound for ``smart``."""
    return Sceptic(spec, UNBOUNDED, settings, Everything(), objective(settings), seed=seed)
