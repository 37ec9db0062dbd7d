"""Five networks learn one stream, and those who are right more often count more in the answer.

The *guarded* one is a sceptic's, the *plain* one smaller, without guards and fast, the *line* a softmax regression; the
*means* need few samples, the *scout* is to know the newest only. They are asked about each batch before it is learned
(the present) and about stored samples that are never learned (the past): two sources that need no test label.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import torch

from smartcl.data.batch import Batch, Bools
from smartcl.data.spec import InputSpec
from smartcl.learners.evidence import ALL_NEW, PAST_MEMORY, Evidence, Floats, Record, shares
from smartcl.learners.learner import Labelled, probabilities
from smartcl.learners.model import Model
from smartcl.learners.pace import USUAL_AFTER
from smartcl.learners.recipe import Recipe
from smartcl.learners.sceptic import Sceptic
from smartcl.learners.steps import catching_up, eagerness, watchfulness, whole_steps
from smartcl.learners.worlds import is_right, right
from smartcl.memory.pool import Offer
from smartcl.network.inputs import Prepared
from smartcl.network.line import Line
from smartcl.network.mlp import ROW_TABLE_WEIGHTS
from smartcl.network.network import Network
from smartcl.network.plain import PlainNetwork, PlainPool, plain_network
from smartcl.saved import Saved
from smartcl.selection.fair_reservoir import ENSURED
from smartcl.selection.roles import HELD_OUT, Roles

#: The networks without guards, as small as does no harm. Where a line would be too large it has a narrow bend.
PLAIN = Recipe(hidden=(256, 256), lr=1e-3, iterations=20, replay=100, average=0.98)
LINE = Recipe(hidden=(16,), lr=1e-2, iterations=20, replay=250, average=0.98)
SCOUT = Recipe(hidden=(128, 128), lr=2e-3, iterations=20, replay=100, average=0.95)

#: The rows over which the answers to new batches are compared, and what is left of them after a jump of the errors.
PRESENT_ROWS, AFTER_JUMP = 500, 0.1
#: The rows over which answers to rows as they came are compared with answers to them as they would be held.
COMPARED_ROWS = 2000
#: At most so many stored samples are asked about, after so many batches, in a young stream sooner; where batches are
#: worth little, later, but no later than that.
RESERVE_ASKED, ASKED_EVERY, YOUNG, AT_LATEST = 300, 4, 40, 20
#: The share of its budget from which a memory is full; of the batches that come then, at least so many are offered.
FULL, LEAST_OFFERED = 0.9, 0.2
#: The rows over which the scout is compared with the others.
SCOUTED_ROWS = 1000
#: Who deserves so much of the leader's share takes all steps.
ABREAST = 0.8
#: Of classes that come this seldom, all together, accuracy says nothing if errors are at most so many times as many.
UNTOLD, AS_MANY = 0.005, 3.0
#: After a jump the scout learns for so many batches as if they were worth all steps.
AWAKE = 10
#: Rows without a share in the answers after which the guarded network gives up, and the others take fewer steps still.
GIVES_UP, SLOWS_DOWN = 2000, 500


class Committee(Sceptic):
    """A sceptic beside whom others learn without guards; the stream says how much each one's answers count."""

    model_names: tuple[str, ...] = ("model", "plain", "line", "means", "scout")
    extra_dtypes: ClassVar[Mapping[str, str] | None] = {"role": "uint8"}

    plain: Model
    line: Model
    means: Model
    scout: Model
    evidence = Evidence()
    #: For how many rows each network has had no share in the answers.
    idle: tuple[int, ...] = (0, 0, 0, 0, 0)
    #: The batches learned when the past was last asked about.
    looked_back_at = 0
    #: Is the world another than the past says?
    changed = False
    #: The batch being learned, as it came.
    _arrived: Batch | None = None

    def __init__(self, spec: InputSpec, memory: str | int, **arguments: Any) -> None:
        super().__init__(spec, memory, **arguments)
        too_large = spec.sparse and spec.n_features * spec.n_classes > ROW_TABLE_WEIGHTS
        self.plain, self.scout = (Model(spec, self.no_wider(recipe), (), self.rng) for recipe in (PLAIN, SCOUT))
        self.line = Model(spec, LINE, (), self.rng, None if too_large else Line(spec))
        if too_large:
            self.model_names, self.idle = tuple(name for name in self.model_names if name != "means"), self.idle[1:]
        else:
            self.means = Model(spec, replace(LINE, average=0.0), (), self.rng, Line(spec))

    def no_wider(self, recipe: Recipe) -> Recipe:
        """The recipe of a smaller network, with no layer wider than the guarded one's; or of the user's own."""
        mine, hidden = self.recipe, tuple(min(recipe.hidden[0], width) for width in self.recipe.hidden)
        return replace(recipe, hidden=hidden, network=mine.network, optimizer=mine.optimizer, augment=mine.augment)

    @property
    def given_up(self) -> bool:
        """Has the guarded network given up?"""
        return self.idle[0] >= GIVES_UP

    @property
    def shares(self) -> Floats:
        """How much each network's answers count, in the order of ``names``."""
        if not self.evidence.present.asked:
            return np.array([0.0, 1.0, *np.zeros(len(self.model_names) - 2)])
        merit = self.evidence.merit(self.changed)
        if self.given_up or self.about_events(1 - float(merit.max())):
            merit[0] = -np.inf
        return shares(merit, self.evidence.asked(self.changed))

    def about_events(self, errors: float) -> bool:
        """Is all that is left to know which rows are rare events? A sceptic takes one for a wrong label."""
        rare = float(self.counts.rate[self.counts.rare(ENSURED)].sum())
        return 0 < rare <= UNTOLD and errors <= AS_MANY * rare

    @property
    def deserved(self) -> Floats:
        """What those who know the past would count if nobody stood back: to learn, one need not be trusted."""
        evidence = self.evidence
        return (
            shares(evidence.whole_merit[:-1], evidence.asked(False))
            if evidence.past.asked
            else np.ones(len(self.model_names) - 1)
        )

    @property
    def names(self) -> tuple[str, ...]:
        """What those who answer are called."""
        return ("guarded", *self.model_names[1:])

    @property
    def leader(self) -> str:
        """Whose answer counts most: ``guarded``, ``plain``, ``line``, ``means`` or ``scout``."""
        return self.names[int(self.shares.argmax())]

    @property
    def judge(self) -> Model:
        """Of the two who know the past best, the one who leads."""
        return self.model if self.shares[0] > self.shares[1] else self.plain

    @property
    def distrust(self) -> float:
        """Only the guarded network knows what to make of labels; in a changed world nobody does."""
        return super().distrust if self.leader == "guarded" and not self.changed else 0.0

    def pool(self) -> list[tuple[float, Network]]:
        """Who answers, and how much it counts."""
        return [(float(share), model.predictor) for share, model in zip(self.shares, self.models, strict=True) if share]

    def classifier(self) -> Callable[[Prepared], torch.Tensor]:
        pool = self.pool()
        return lambda rows: torch.stack([share * probabilities(network(rows)) for share, network in pool]).sum(dim=0)

    def as_module(self) -> PlainNetwork | PlainPool:
        return PlainPool.of([(share, plain_network(each, self.spec, self.scale)) for share, each in self.pool()])

    @property
    def teaches(self) -> bool | None:
        """Do the steps still teach? None: nobody knows."""
        return None

    @property
    def offering(self) -> float:
        """The share of the batches like this that are offered: of a full memory, where they are worth little, not all.

        One that has a sample of a rare class always is.
        """
        full = self.memory.store.nbytes > FULL * self.memory.budget.nbytes
        rare = self._arrived is not None and self.counts.rare(ENSURED)[self._arrived.y.numpy()].any()
        return max(LEAST_OFFERED, self.evidence.pace.share) if full and not rare else 1.0

    @property
    def offer(self) -> Offer:
        """Where little is learned, little has changed."""
        return Offer(stands_for=1 / self.offering, effort=self.evidence.pace.share)

    def listened_to(self) -> Bools:
        """A feature has a say if any of those who answer listens to it."""
        alive = [model.network.alive() for share, model in zip(self.shares, self.models, strict=True) if share]
        heard: Bools = torch.stack(alive).any(dim=0).numpy()
        return heard

    def steps(self) -> list[int]:
        """How many steps each network takes on a batch: fewer where nothing is left to learn.

        Those without guards take half of them where they deserve less than the best or nobody listens, and ever fewer
        where both has been so for long; but the scout stays awake. The guarded one learns slowly enough: all, or none.
        """
        most, deserved, idle = self.evidence.pace.share * self.recipe.iterations, self.deserved, np.array(self.idle)
        unheard = np.where(idle < SLOWS_DOWN, 1 / 2, np.where(idle < GIVES_UP, 1 / 3, 1 / 6))
        shares, abreast = self.shares, deserved >= ABREAST * deserved.max()
        learning = np.where(abreast, np.where(shares[:-1] > 0, 1.0, 1 / 2), unheard[:-1])
        knew, knew_plain, *_, scouted = self.evidence.present.accuracy if self.evidence.present.asked else (0.0,) * 3
        scouting = 1.0 if shares[-1] >= ABREAST * shares.max() else max(1 / 3, unheard[-1])
        scouting *= watchfulness(1 - scouted)
        if self.evidence.alert.since < AWAKE:  # the scout has begun anew
            scouting = max(scouting, 1 / 2) / self.evidence.pace.share
        guarded = 0.0 if self.given_up else most
        plain, line = (most * part if part < 1 else max(1.0, most) for part in learning[1:3].tolist())
        eager = eagerness(self.batches, knew_plain - knew, 1 - knew_plain)
        plain = plain * eager * catching_up(scouted - max(knew, knew_plain))
        return [whole_steps(steps, self.batches) for steps in (guarded, plain, line, most * scouting * eager)]

    def check(self, batch: Batch) -> Batch:
        self._arrived = super().check(batch)
        return self._arrived

    def finish_batch(self) -> None:
        self._arrived = None
        super().finish_batch()

    def as_held(self) -> Labelled | None:
        """The batch as the memory would hold it, where that is not as it came."""
        store = self.memory.store
        if self._arrived is None or store.code is None or store.code.levels.exact:
            return None
        return self.read(store.pack(self._arrived.x, self._arrived.y), np.arange(len(self._arrived)))

    @torch.no_grad()
    def weigh(self, new: Labelled) -> Bools:
        """Ask all who learn about a batch, before it is learned, and about the past; which answers were right."""
        rows, y = new
        likely = [probabilities(model.predictor(rows)) for model in self.models]
        pooled = torch.stack([s * each for s, each in zip(self.shares.tolist(), likely, strict=True)]).sum(0)
        answers, answered = [is_right(each, y) for each in likely], is_right(pooled, y)
        before, kept = self.evidence, (1 - 1 / SCOUTED_ROWS) ** len(y)
        alert = before.alert.after(float(1 - answers[-1].mean()), len(y))
        present = before.present.weaker(AFTER_JUMP) if alert.jumped else before.present
        came, held, past = before.came, before.held, before.past
        pace = before.pace.after(float(1 - answered.mean()), len(y), alert.jumped, self.teaches)
        every = 1 if self.batches < YOUNG else min(ASKED_EVERY / pace.share, AT_LATEST)
        if self.batches - self.looked_back_at >= every:
            self.looked_back_at, past = self.batches, self.asked_about_the_past()
        if past is not before.past and (coarse := self.as_held()) is not None:
            memory = (1 - ASKED_EVERY / COMPARED_ROWS) ** len(y)
            came, held = (
                came.after(answers, memory),
                held.after([right(m.predictor, *coarse) for m in self.models], memory),
            )
        veteran = answers[int(before.whole_merit[:-1].argmax())] if before.past.asked else answers[1]
        self.evidence = replace(
            before,
            past=past,
            present=present.after(answers, (1 - 1 / PRESENT_ROWS) ** len(y)),
            came=came,
            held=held,
            scouted=before.scouted if self.batches < USUAL_AFTER else before.scouted.after(veteran, answers[-1], kept),
            alert=alert,
            pace=pace,
            likeness=ALL_NEW if alert.jumped else before.likeness,
        )
        self.changed = self.changed and self.evidence.scouted.gap > 0
        self.idle = tuple(0 if share else idle + len(y) for share, idle in zip(self.shares, self.idle, strict=True))
        return answered

    def updated_move(self, rows: Prepared) -> float:
        """Asked as often as the past is."""
        return super().updated_move(rows) if self.looked_back_at == self.batches else self.moved

    def asked_about_the_past(self) -> Record:
        """Who knows the samples that are never learned."""
        held_out = np.flatnonzero(self.roles == HELD_OUT)
        if not len(held_out):
            return self.evidence.past
        if len(held_out) > RESERVE_ASKED:
            held_out = self.rng.choice(held_out, RESERVE_ASKED, replace=False)
        rows, y = self.recall(self.memory.store, held_out)
        return self.evidence.past.after([right(model.predictor, rows, y) for model in self.models], PAST_MEMORY)

    @property
    def roles(self) -> Roles:
        """What each stored sample is there for."""
        return self.memory.store.extra["role"] if len(self.memory) else np.zeros(0, dtype=np.uint8)

    def state_dict(self) -> dict[str, Any]:
        with self._lock:
            return {
                **super().state_dict(),
                **{name: model.state_dict() for name, model in zip(self.model_names[1:], self.models[1:], strict=True)},
                "evidence": self.evidence.state_dict(),
                "idle": list(self.idle),
                "looked_back_at": self.looked_back_at,
                "changed": self.changed,
            }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        saved = Saved(state, "learner")
        with self.all_or_nothing():
            super().load_state_dict(state)
            self.begin_batch()
            for name, model in zip(self.model_names[1:], self.models[1:], strict=True):
                model.load_state_dict(saved.entries(name))
            self.evidence = Evidence.from_state(saved.part("evidence"), len(self.model_names))
            self.idle = saved.counts("idle", len(self.model_names), len(self.model_names))
            self.looked_back_at = saved.whole("looked_back_at", 0, self.batches)
            self.changed = saved.flag("changed")
            self.finish_batch()
