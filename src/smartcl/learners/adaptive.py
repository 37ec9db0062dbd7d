"""``smart`` for any stream: guards where they help, and a memory that lets go of what no longer holds.

Three networks learn from the one memory. The *guarded* one is a sceptic's. The *plain* one is smaller, without guards,
and learns fast. The *scout* is smaller still and knows the newest samples only. Before a batch is learned all three
answer it, and the first two some stored samples that are held out of replay: what they get right decides who answers
for the learner. Where the scout, who knows nothing of the past, beats the one who leads, the world has changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import torch
import torch.nn.functional as F

from smartcl.data.batch import Batch, Bools
from smartcl.data.spec import InputSpec
from smartcl.learners.evidence import USUAL_AFTER, Alertness, Duel, Pace
from smartcl.learners.factory import Method
from smartcl.learners.learner import Labelled, Learner
from smartcl.learners.model import Model
from smartcl.learners.recipe import Recipe
from smartcl.learners.sceptic import ROTATION, Sceptic, Taught
from smartcl.learners.smart import SMART, SmartSettings, schematic
from smartcl.learners.weights import narrowed_samples, take_samples, weight_of, weighted_mean
from smartcl.memory import Observation
from smartcl.memory.schematic_memory import ExtraColumns
from smartcl.network.inputs import Prepared, join_alike
from smartcl.saved import Saved
from smartcl.selection.roles import ASLEEP, HELD_OUT, REPLAYED, Roles

#: The plain network and the scout: without guards, and as small as does no harm.
PLAIN = Recipe(hidden=(256, 256), lr=1e-3, iterations=20, replay=150, average=0.98)
SCOUT = Recipe(hidden=(128, 128), lr=2e-3, iterations=20, replay=100, average=0.95)

#: The rows over which the answers to new batches are compared, and the share of them forgotten with each look back.
PRESENT_ROWS, PAST_MEMORY = 1000, 0.9
#: How much the present counts beside the past: in it, forgetting does not show.
PRESENT_WEIGHT = 0.25
#: One sample in so many is held out of learning while the two networks compete; at most so many are asked about.
RESERVE, RESERVE_ASKED = 10, 300
#: The lead, in standard errors, at which the plain network takes over again, and the guarded one gives up for good.
LEADS, GIVES_UP, GIVES_UP_ROWS = 2.0, 5.0, 1000
#: The scout leads from the first sureness on, and finds that the world has changed from the second on.
SCOUT_LEADS, CHANGED = 2.0, 3.0
#: The newest stored samples that a scout knows, and how fast it forgets them.
WINDOW, SCOUT_MEMORY = 500, 100
#: What is left of the scout's lead once it has been found to be no more than a new task.
CALMED = 0.7
#: Newest samples, and as many older ones, between which a network may be torn; the steps it gets; the errors, in
#: standard errors above the usual, from which it is; and the belief in a label from which it is sure of it.
TORN_BY, TORN_STEPS, TORN, SURE, LEAST_NOISE = 300, 60, 1.0, 0.95, 0.2
#: Stored samples looked at when the world has changed.
REASSESSED = 3000
#: Of the moments at which a change was noticed, so many are kept.
CHANGES_KEPT = 100

NOTHING_ASKED, CALM, FULL_PACE = Duel(), Alertness(), Pace()


@dataclass(frozen=True)
class Evidence:
    """All that the stream has said so far. ``guarded`` and ``plain`` compete; the scout is set against who leads."""

    present: Duel = NOTHING_ASKED
    past: Duel = NOTHING_ASKED
    scouted: Duel = NOTHING_ASKED
    alert: Alertness = CALM
    pace: Pace = FULL_PACE

    @property
    def gap(self) -> float:
        """By how much the plain network is ahead of the guarded one."""
        return self.past.gap + PRESENT_WEIGHT * self.present.gap

    @property
    def gap_error(self) -> float:
        return float(np.hypot(self.past.doubt, PRESENT_WEIGHT * self.present.doubt))

    def state_dict(self) -> dict[str, Any]:
        return {name: part.state_dict() for name, part in vars(self).items()}

    @classmethod
    def from_state(cls, saved: Saved) -> Evidence:
        present, past, scouted = (Duel.from_state(saved.part(name)) for name in ("present", "past", "scouted"))
        alert, pace = Alertness.from_state(saved.part("alert")), Pace.from_state(saved.part("pace"))
        return cls(present, past, scouted, alert, pace)


class Adaptive(Sceptic):
    """A sceptic beside whom a plain network and a scout learn; the stream says who answers, and how many steps pay."""

    MODELS: ClassVar[tuple[str, ...]] = ("model", "plain", "scout")
    extra_dtypes: ClassVar[Mapping[str, str] | None] = {"role": "uint8"}

    plain: Model
    scout: Model
    #: Of the batch being learned, the rows that are not.
    _held_out: Bools = np.zeros(0, dtype=np.bool_)
    evidence = Evidence()
    #: Does the plain network lead, which learns faster, and has the guarded one given up?
    plain_leads = True
    given_up = False
    #: The rows learned, and how many of the newest stored samples the scout knows.
    rows_seen = 0
    known_to_scout = 0
    #: Was the world found changed when the scout was last ahead, and after how many rows was a change noticed?
    changed = False
    changes: tuple[int, ...] = ()

    def __init__(self, spec: InputSpec, memory: str | int, **arguments: Any) -> None:
        super().__init__(spec, memory, **arguments)
        self.plain, self.scout = (Model(spec, self.no_wider(recipe), (), self.rng) for recipe in (PLAIN, SCOUT))

    def no_wider(self, recipe: Recipe) -> Recipe:
        """The recipe of a smaller network, with no layer wider than the guarded one's; or of the user's own."""
        mine, hidden = self.recipe, tuple(min(recipe.hidden[0], width) for width in self.recipe.hidden)
        return replace(recipe, hidden=hidden, network=mine.network, optimizer=mine.optimizer, augment=mine.augment)

    @property
    def leader(self) -> str:
        """Who answers: ``guarded``, ``plain`` or ``scout``."""
        if self.changed and self.evidence.scouted.sureness > SCOUT_LEADS:
            return "scout"
        return "plain" if self.plain_leads else "guarded"

    @property
    def judge(self) -> Model:
        return self.scout if self.leader == "scout" else self._veteran

    @property
    def _veteran(self) -> Model:
        """Of the two who know the past, the one who leads."""
        return self.plain if self.plain_leads else self.model

    def learn(self, new: Labelled, task: int | None) -> None:
        """All steps on a batch, less the few rows of it that are held out while two networks compete."""
        self.weigh(new)
        self._held_out = self.rng.random(len(new[1])) < (0 if self.given_up else 1 / RESERVE)
        if self._held_out.all():
            self._held_out[0] = False
        self.learn_rows(narrowed_samples(take_samples(new, torch.from_numpy(np.flatnonzero(~self._held_out)))))
        self.rows_seen += len(new[1])

    def learn_rows(self, new: Labelled) -> None:
        self.regard_classes(new)
        steps, stored = self.evidence.pace.steps(self.recipe.iterations), self.recalled()
        if not self.given_up:
            lesson = torch.zeros(0) if stored is None else self.lessons(*stored)
            for place in self.draws(stored, round(self.recipe.replay * (1 - self.doubt / 2)), steps):
                self.cautious_step(new, taught(stored, lesson, place))
            self.contradicted = self.updated_share(new)
        for place in self.draws(stored, PLAIN.replay, steps):
            self.teach(self.plain, new, None if stored is None or place is None else take_samples(stored, place))
        self.teach_scout(new, steps)
        for model in (self.plain, self.scout):
            model.settle(self.rng)
        if self.evidence.scouted.sureness > CHANGED:
            self.reassess(new)

    @torch.no_grad()
    def weigh(self, new: Labelled) -> None:
        """Ask all who learn about the batch, before it is learned, and about the past; draw the conclusions."""
        if not self.batches:
            return
        rows, y = new
        guarded, plain, scout = (right(model, rows, y) for model in self.models)
        before, kept = self.evidence, (1 - 1 / PRESENT_ROWS) ** len(y)
        leading = plain if self.plain_leads else guarded
        answered = scout if self.leader == "scout" else leading
        past = before.past if self.given_up else self.asked_about_the_past()
        self.evidence = replace(
            before,
            present=before.present.after(guarded, plain, kept),
            past=past,
            scouted=before.scouted if self.batches < USUAL_AFTER else before.scouted.after(leading, scout, kept),
            alert=before.alert.after(float(1 - scout.mean()), len(y)),
            pace=before.pace.after(float(1 - answered.mean()), len(y)),
        )
        gap, error = self.evidence.gap, self.evidence.gap_error
        self.plain_leads = gap >= 0 if self.plain_leads else gap > LEADS * error
        self.given_up = self.given_up or (gap > GIVES_UP * error and self.rows_seen >= GIVES_UP_ROWS)
        self.changed = self.changed and self.evidence.scouted.gap > 0
        if self.evidence.alert.jumped:
            self.known_to_scout = 0

    def asked_about_the_past(self) -> Duel:
        """Who knows the samples that are never replayed."""
        held_out = np.flatnonzero(self.roles == HELD_OUT)
        if not len(held_out):
            return self.evidence.past
        if len(held_out) > RESERVE_ASKED:
            held_out = self.rng.choice(held_out, RESERVE_ASKED, replace=False)
        rows, y = self.recall(self.memory.store, held_out)
        return self.evidence.past.after(right(self.model, rows, y), right(self.plain, rows, y), PAST_MEMORY)

    @property
    def roles(self) -> Roles:
        """What each stored sample is there for."""
        return self.memory.store.extra["role"] if len(self.memory) else np.zeros(0, dtype=np.uint8)

    def recalled(self) -> Labelled | None:
        """The stored samples that this batch may be learned with: awake, and not of the reserve."""
        pool = np.flatnonzero(self.roles != ASLEEP if self.given_up else self.roles == REPLAYED)
        if not len(pool):
            return None
        if len(pool) > 2 * ROTATION:
            pool = self.rng.choice(pool, ROTATION, replace=False)
        stored = self.recall(self.memory.store, pool)
        for model in self.models:
            model.expect(stored[0])
        return stored

    def draws(self, stored: Labelled | None, count: int, steps: int) -> list[torch.Tensor | None]:
        """What each step replays, as places among those recalled, drawn without replacement."""
        if stored is None:
            return [None] * steps
        held = len(stored[1])
        return [torch.from_numpy(self.rng.choice(held, min(count, held), replace=False)) for _ in range(steps)]

    def teach_scout(self, new: Labelled, steps: int) -> None:
        """The scout learns the batch and the newest samples, the sooner forgotten the older they are."""
        known = min(self.known_to_scout, WINDOW, len(self.memory))
        if not known:
            for _ in range(steps):
                self.teach(self.scout, new, None)
            return
        newest = self.recall(self.memory.store, np.arange(len(self.memory) - known, len(self.memory)))
        for _ in range(steps):
            ages = (self.rng.standard_exponential(min(known, SCOUT.replay)) * SCOUT_MEMORY).astype(np.int64)
            place = torch.from_numpy(known - 1 - np.minimum(ages, known - 1))
            self.teach(self.scout, new, take_samples(newest, place))

    def teach(self, model: Model, new: Labelled, replay: Labelled | None) -> None:
        """One step of a network without guards."""
        parts = [new] if replay is None else [new, replay]
        _, answers = self.regarded(model.network(*(rows for rows, _ in parts)), len(new[1]))
        y = torch.cat([labels for _, labels in parts])
        model.descend(weighted_mean(F.nll_loss(answers, y, reduction="none"), weight_of(parts)))

    def reassess(self, new: Labelled) -> None:
        """The scout is ahead of who knows the past: has the world changed, or is this a new task?

        Whoever learns a new task can have the old ones too; where the world has changed, nobody can have both. So a
        copy of the plain network learns the newest and the older samples, one as much as the other. If it is torn,
        stored samples that it is not sure of and that the scout contradicts fall asleep: they are not replayed, and
        leave first. Those the scout agrees with wake up.
        """
        torn = self.torn(new)
        if torn is None:
            self.evidence = replace(self.evidence, scouted=self.evidence.scouted.weaker(CALMED))
            return
        self.changed = True
        index = np.sort(self.rng.choice(len(self.memory), min(len(self.memory), REASSESSED), replace=False))
        rows, y = self.recall(self.memory.store, index)
        agrees, unsure = right(self.scout, rows, y), belief(torn, rows, y) < SURE
        roles = self.roles.copy()
        roles[index[agrees & (roles[index] == ASLEEP)]] = REPLAYED
        roles[index[~agrees & unsure]] = ASLEEP
        self.memory.store = self.memory.store.with_extra(role=roles)
        if not self.changes or self.rows_seen - self.changes[-1] > PRESENT_ROWS:
            self.changes = (*self.changes, self.rows_seen)[-CHANGES_KEPT:]

    def torn(self, new: Labelled) -> Model | None:
        """A copy of the plain network between the newest and the older samples, if it cannot have both.

        What it gets wrong then is set against what another copy gets wrong between two parts of the older samples. A
        row table cannot be copied; there, no change is ever found.
        """
        held, known = len(self.memory), min(self.known_to_scout, TORN_BY, len(self.memory))
        older = self.rng.permutation(np.flatnonzero(self.roles[: held - known] != ASLEEP))[: 2 * TORN_BY]
        if len(older) < 2 or self.plain.network.table is not None:
            return None
        here, there = (self.recall(self.memory.store, part) for part in np.array_split(older, 2))
        newest = new
        if known:
            rows, y = self.recall(self.memory.store, np.arange(held - known, held))
            newest = join_alike([new[0], rows], self.spec.n_features), torch.cat([new[1], y])
        (copy, wrong), (_, usual) = self.between(newest, there), self.between(here, there)
        noise = max(np.hypot(wrong.std(), usual.std()), LEAST_NOISE) / np.sqrt(min(len(wrong), len(usual)))
        return copy if wrong.mean() > usual.mean() + TORN * noise else None

    def between(self, some: Labelled, others: Labelled) -> tuple[Model, Bools]:
        """A copy of the plain network taught some samples as much as others, and what it still gets wrong."""
        copy, count = self.plain.copy(), PLAIN.replay // 2
        for _ in range(TORN_STEPS):
            teach(copy, *(drawn(samples, count, self.rng) for samples in (some, others)))
        return copy, ~np.concatenate([right(copy, *some), right(copy, *others)])

    def extra_columns(self, batch: Batch) -> ExtraColumns:
        held_out = self._held_out if len(self._held_out) == len(batch) else np.zeros(len(batch), dtype=np.bool_)
        return {"role": np.where(held_out, HELD_OUT, REPLAYED).astype(np.uint8)}

    def remember(self, batch: Batch) -> Observation:
        """Store the batch; the scout goes on knowing what is left of the newest."""
        before = len(self.memory)
        seen = super().remember(batch)
        self.known_to_scout = int((seen.kept >= before - self.known_to_scout).sum()) + len(seen.stored)
        return seen

    def discard(self, gone: Bools) -> None:
        """Take stored samples out of the memory; of those that the scout knows, the others are left."""
        known = int((~gone[len(gone) - self.known_to_scout :]).sum())
        super().discard(gone)
        self.known_to_scout = known

    def state_dict(self) -> dict[str, Any]:
        with self._lock:
            return {
                **super().state_dict(),
                "plain": self.plain.state_dict(),
                "scout": self.scout.state_dict(),
                "evidence": self.evidence.state_dict(),
                "plain_leads": self.plain_leads,
                "given_up": self.given_up,
                "rows_seen": self.rows_seen,
                "known_to_scout": self.known_to_scout,
                "changed": self.changed,
                "changes": list(self.changes),
            }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        saved = Saved(state, "learner")
        with self.all_or_nothing():
            super().load_state_dict(state)
            self.begin_batch()
            self.plain.load_state_dict(saved.entries("plain"))
            self.scout.load_state_dict(saved.entries("scout"))
            self.evidence = Evidence.from_state(saved.part("evidence"))
            self.plain_leads, self.given_up = saved.flag("plain_leads"), saved.flag("given_up")
            self.rows_seen = saved.whole("rows_seen", 0)
            self.known_to_scout = saved.whole("known_to_scout", 0, len(self.memory))
            self.changed, changes = saved.flag("changed"), saved.items("changes")
            if len(changes) > CHANGES_KEPT or not all(type(row) is int and row >= 0 for row in changes):
                saved.refuse("changes", f"must be at most {CHANGES_KEPT} numbers of rows")
            self.changes = tuple(changes)
            self.finish_batch()


def teach(model: Model, some: Labelled, others: Labelled) -> None:
    """One step by the plain cross-entropy, of some samples as much as of others."""
    logits = model.network(some[0], others[0])
    model.descend(F.cross_entropy(logits, torch.cat([some[1], others[1]])))


def taught(stored: Labelled | None, lesson: torch.Tensor, place: torch.Tensor | None) -> Taught | None:
    """What a step of the guarded network replays, with its teacher's lessons."""
    if stored is None or place is None:
        return None
    some = take_samples(stored, place)
    return Taught(*some, lesson[place], weight_of([some]))


@torch.no_grad()
def right(model: Model, rows: Prepared, y: torch.Tensor) -> Bools:
    """Which labels a model's average gives itself."""
    result: Bools = (model.predictor(rows).argmax(dim=1) == y).numpy()
    return result


@torch.no_grad()
def belief(model: Model, rows: Prepared, y: torch.Tensor) -> Any:
    """How likely a model's average finds each label."""
    return model.predictor(rows).softmax(dim=1).gather(1, y[:, None])[:, 0].numpy()


def drawn(samples: Labelled, count: int, rng: np.random.Generator) -> Labelled:
    """So many of the samples, or all, in random order."""
    n = len(samples[1])
    return take_samples(samples, torch.from_numpy(rng.choice(n, min(count, n), replace=False)))


@dataclass(frozen=True)
class AdaptiveSettings(SmartSettings):
    """Those of `smart`; but values are kept only as precisely as makes a difference."""

    precision: str | int = "auto"


def adaptive(spec: InputSpec, memory: str | int, settings: AdaptiveSettings, seed: int = 0) -> Learner:
    """`smart` for any stream: beside it two small networks without guards; the stream says who answers."""
    return schematic(Adaptive, spec, memory, settings, seed)


METHODS = {"adaptive": Method(adaptive, AdaptiveSettings(), SMART)}
