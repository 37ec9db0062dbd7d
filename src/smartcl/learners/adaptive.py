"""``smart`` for any stream: guards where they help, and a memory that lets go of what no longer holds.

A committee of five networks learns from the one memory. Where the scout, who knows nothing of the past, beats those who
do, a task is new or the world has changed; what then contradicts the present falls asleep, and wakes if it comes back.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from smartcl.data.batch import Batch, Bools
from smartcl.data.spec import InputSpec
from smartcl.learners.committee import PLAIN, SCOUTED_ROWS
from smartcl.learners.evidence import ALL_ALIKE, Record
from smartcl.learners.factory import Method
from smartcl.learners.learner import Labelled, Learner
from smartcl.learners.model import Model
from smartcl.learners.rehearsal import WINDOW, Rehearsal
from smartcl.learners.sceptic import ROTATION, Taught
from smartcl.learners.smart import SMART, SmartSettings, schematic
from smartcl.learners.steps import whole_steps
from smartcl.learners.weights import narrowed_samples, take_samples
from smartcl.learners.worlds import (
    Worlds,
    belief,
    in_common,
    misled_by,
    right,
    to_be_sure,
    told_apart,
    torn_between,
)
from smartcl.memory import Observation
from smartcl.memory.schematic_memory import ExtraColumns
from smartcl.network.inputs import join_alike
from smartcl.regularizers.group_lasso import GroupLasso
from smartcl.regularizers.ncc import NCC
from smartcl.regularizers.regularizer import Regularizer
from smartcl.saved import Saved
from smartcl.selection.roles import ASLEEP, HELD_OUT, REPLAYED

#: One sample in so many is held out of learning, and in more so many once so many are.
RESERVE, LATER_RESERVE, ENOUGH_HELD_OUT = 10, 50, 300
#: The sureness of the scout, and the samples it knows, from which it is asked whether the world has changed.
CHANGED, KNOWN_ENOUGH = 3.0, 100
#: What is left of the scout's lead once it has been found to be no more than a new task, and the rows until it is asked
#: about again.
CALMED, CALM_ROWS = 0.1, 250
#: Newest samples, and as many older ones, between which a network may be torn; the belief from which it is sure.
TORN_BY, SURE = 300, 0.95
#: Of the samples since the scout began, the newest that older ones may mislead.
MISLED_BY = 600
#: Stored samples looked at when the world has changed; and the belief below which one contradicts a world that is back.
REASSESSED, DISBELIEVED = 20_000, 0.05
#: The steps that the group lasso settles at once.
SETTLED_TOGETHER = 5
#: Of the moments at which a change was noticed, so many are kept.
CHANGES_KEPT = 100


class Adaptive(Rehearsal):
    """A committee whose scout learns the newest samples only, and says when the world is no longer what it was."""

    #: Of the batch being learned, the rows that are not.
    _held_out: Bools = np.zeros(0, dtype=np.bool_)
    worlds = Worlds()
    #: The rows learned.
    rows_seen = 0
    #: The rows until which a lead of the scout says nothing new.
    calm_until = 0
    #: After how many rows a change of the world was noticed.
    changes: tuple[int, ...] = ()

    @property
    def spared(self) -> int:
        """What the scout knows: of another world, it may be all there is."""
        return min(self.known_to_scout, WINDOW) + len(self._held_out)

    @property
    def teaches(self) -> bool | None:
        return self.worlds.teaches

    def learn(self, new: Labelled, task: int | None) -> None:
        """All steps on a batch, less the few rows of it that are held out."""
        if self.batches:
            self.look_back(new, self.weigh(new))
        reserve = RESERVE if (self.roles == HELD_OUT).sum() < ENOUGH_HELD_OUT else LATER_RESERVE
        self._held_out = self.rng.random(len(new[1])) < 1 / reserve
        if self._held_out.all():
            self._held_out[0] = False
        self.learn_rows(narrowed_samples(take_samples(new, torch.from_numpy(np.flatnonzero(~self._held_out)))))
        self.rows_seen += len(new[1])

    def learn_rows(self, new: Labelled) -> None:
        self.regard_classes(new)
        guarded, plain, line, scout = self.steps()
        replayed = round(self.recipe.replay * (1 - self.doubt / 2))
        stored = self.recalled(min(ROTATION, max(guarded * replayed, plain * PLAIN.replay)))
        self.regard_replayed(np.zeros(0, dtype=np.int64) if stored is None else stored[1].numpy())
        if guarded:
            lesson = torch.zeros(0) if stored is None else self.lessons(*stored)
            for place in self.draws(stored, replayed, guarded):
                self.cautious_step(new, Taught.of(stored, lesson, place))
            self.contradicted = self.updated_share(new)
        for place in self.draws(stored, PLAIN.replay, plain):
            self.teach(self.plain, new, None if stored is None or place is None else take_samples(stored, place))
        self.teach_means(new, stored)
        self.teach_line(new, line)
        self.teach_scout(new, scout)
        for model in (self.plain, self.line, self.scout):
            model.settle(self.rng)
        ahead = self.evidence.scouted.sureness > CHANGED and self.known_to_scout >= KNOWN_ENOUGH
        if ahead and self.rows_seen >= self.calm_until:
            self.reassess(new)
        self.evidence = replace(self.evidence, likeness=self.evidence.likeness.later(self.evidence.pace.share))
        if self.evidence.likeness.due:
            self.compare_inputs(new)

    def look_back(self, new: Labelled, answered: Bools) -> None:
        """Note how things are; if a former world knows the batch better than those who answered it, it is back."""
        if self.evidence.alert.jumped:
            self.known_to_scout = 0
            self.scout.begin_anew(self.rng)
        if self.plain.network.table is not None:  # which cannot be copied
            return
        self.worlds = self.worlds.asked(*new, answered, self.plain.predictor).after(self.plain.predictor, len(answered))
        former = self.worlds.former
        if former is None or not self.worlds.returned:
            return
        held = self.some_held()
        rows, y = self.recall(self.memory.store, held)
        believed, roles = belief(former, rows, y), self.roles.copy()
        roles[held[(believed > 0.5) & (roles[held] == ASLEEP)]] = REPLAYED
        roles[held[believed < DISBELIEVED]] = ASLEEP
        self.memory.store = self.memory.store.with_extra(role=roles)
        self.worlds = self.worlds.left()
        self.plain.take_over(former)
        known = [right(model.predictor, *new) for model in self.models]
        self.note_change()
        self.evidence = replace(self.evidence, present=Record().after(known, 0.0), likeness=ALL_ALIKE)

    def reassess(self, new: Labelled) -> None:
        """The scout is ahead of who knows the past: has the world changed, or is this a new task?

        If a network is torn between the newest and the older samples, those that it is not sure of and that the scout
        contradicts fall asleep: they are not replayed, and leave first. Those the scout agrees with wake up.
        """
        torn = self.torn(new)
        if torn is None:
            self.evidence = replace(self.evidence, scouted=self.evidence.scouted.weaker(CALMED))
            self.calm_until = self.rows_seen + CALM_ROWS
            return
        if not self.just_changed:
            self.note_change()
        self.calm_until = self.rows_seen + (self.rows_seen - self.changes[-1]) // 2
        self.worlds = self.worlds.left()
        held = self.some_held()
        rows, y = self.recall(self.memory.store, held)
        agrees, unsure = right(self.scout.predictor, rows, y), belief(torn.predictor, rows, y) < SURE
        roles = self.roles.copy()
        roles[held[agrees & (roles[held] == ASLEEP)]] = REPLAYED
        roles[held[~agrees & unsure]] = ASLEEP
        self.memory.store = self.memory.store.with_extra(role=roles)

    @property
    def just_changed(self) -> bool:
        """Is the newest change known, and the scout still ahead for it?"""
        return self.changed and self.rows_seen - self.changes[-1] < SCOUTED_ROWS

    def note_change(self) -> None:
        """From here on the past is another: what was said of it does not hold."""
        self.changed = True
        self.evidence = replace(self.evidence, past=Record())
        self.changes = (*self.changes, self.rows_seen)[-CHANGES_KEPT:]

    def some_held(self) -> Any:
        """The places of all stored samples, or of many."""
        return np.sort(self.rng.choice(len(self.memory), min(len(self.memory), REASSESSED), replace=False))

    def torn(self, new: Labelled) -> Model | None:
        """A copy of the plain network between the newest and the older samples, if it cannot have both.

        A row table cannot be copied; there, no change is ever found.
        """
        newest, *older = self.newest_and_older(new)
        if len(older) < 2 or self.plain.network.table is not None:
            return None
        if self.just_changed:
            return torn_between(self.plain, newest, older, self.rng)
        if not self.worlds.elders:
            return None
        elder, distrusted = self.worlds.elders[0], self.distrust > 0
        sure = to_be_sure(self.plain, elder, newest, older, self.spec, distrusted, self.rng)
        if sure is None:
            return None
        torn = torn_between(self.plain, newest, older, self.rng, sure)
        if torn is None and (parts := self.newest_and_older(new, MISLED_BY, self.known_to_scout))[1:]:
            newest, *older = parts
            torn = misled_by(self.plain, newest, older, self.rng)
        return torn

    def newest_and_older(self, new: Labelled, most: int = TORN_BY, since: int = TORN_BY) -> list[Labelled]:
        """The batch and the newest stored samples that the scout knows, and two parts of older ones, if there are any.

        At most so many of the newest, and none among the older that came since so many samples.
        """
        held, known = len(self.memory), min(self.known_to_scout, most, len(self.memory))
        before = max(0, held - min(self.known_to_scout, since))
        older = self.rng.permutation(np.flatnonzero(self.roles[:before] != ASLEEP))[: 2 * TORN_BY]
        newest = new
        if known:
            rows, y = self.recall(self.memory.store, np.arange(held - known, held))
            newest = join_alike([new[0], rows], self.spec.n_features), torch.cat([new[1], y])
        if len(older) < 2:
            return [newest]
        return [newest, *(self.recall(self.memory.store, part) for part in np.array_split(older, 2))]

    def compare_inputs(self, new: Labelled) -> None:
        """Are the inputs that come those of the past? Then the present is an honest judge of who knows them."""
        newest, *older = self.newest_and_older(new)
        if older and not self.spec.sparse:
            common = in_common(*told_apart(newest[0], [rows for rows, _ in older], self.spec, self.rng))
            self.evidence = replace(self.evidence, likeness=self.evidence.likeness.after(common))

    def extra_columns(self, batch: Batch) -> ExtraColumns:
        held_out = self._held_out if len(self._held_out) == len(batch) else np.zeros(len(batch), dtype=np.bool_)
        return {"role": np.where(held_out, HELD_OUT, REPLAYED).astype(np.uint8)}

    def remember(self, batch: Batch) -> Observation:
        """Store the batch, unless it is one of many; the scout goes on knowing what is left of the newest."""
        before = len(self.memory)
        if not whole_steps(self.offering, self.batches):
            return Observation(np.arange(before), np.zeros(0, dtype=np.int64))
        seen = super().remember(batch)
        self.known_to_scout = int((seen.kept >= before - self.known_to_scout).sum()) + len(seen.stored)
        return seen

    def discard(self, gone: Bools) -> None:
        """Take stored samples out of the memory; of those that the scout knows, the others are left."""
        known = int((~gone[len(gone) - self.known_to_scout :]).sum())
        super().discard(gone)
        self.known_to_scout = known

    def add_classes(self, n_classes: int) -> None:
        with self.all_or_nothing():
            super().add_classes(n_classes)
            self.worlds = self.worlds.widened(n_classes, self.rng)

    def state_dict(self) -> dict[str, Any]:
        with self._lock:
            return {
                **super().state_dict(),
                "worlds": self.worlds.state_dict(),
                "rows_seen": self.rows_seen,
                "known_to_scout": self.known_to_scout,
                "calm_until": self.calm_until,
                "changes": list(self.changes),
            }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        saved = Saved(state, "learner")
        with self.all_or_nothing():
            super().load_state_dict(state)
            self.begin_batch()
            self.worlds = Worlds.from_state(saved.part("worlds"), self.plain.predictor)
            self.rows_seen = saved.whole("rows_seen", 0)
            self.known_to_scout = saved.whole("known_to_scout", 0, len(self.memory))
            self.calm_until = saved.whole("calm_until", 0)
            self.changes = saved.counts("changes", int(self.changed), CHANGES_KEPT)
            self.finish_batch()


@dataclass(frozen=True)
class AdaptiveSettings(SmartSettings):
    """Those of ``smart``, in the numbers that this processor multiplies fastest; single steps are settled together."""

    arithmetic: str | None = "auto"

    @property
    def regularizers(self) -> list[Regularizer]:
        return [GroupLasso(self.alpha, self.form, together=SETTLED_TOGETHER), NCC(self.beta)]


def adaptive(spec: InputSpec, memory: str | int, settings: AdaptiveSettings, seed: int = 0) -> Learner:
    """`smart` for any stream: beside it small networks without guards; the stream says whose answers count."""
    return schematic(Adaptive, spec, memory, settings, seed)


METHODS = {"adaptive": Method(adaptive, AdaptiveSettings(), SMART)}
