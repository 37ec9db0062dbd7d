"""A network among the members: any learner by steps of gradient descent, as long as its steps add something."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import torch

from smartcl.data.batch import Floats
from smartcl.learners.ensemble.drift import NEW_TASK, Change
from smartcl.learners.ensemble.member import Joint, MemberTerm, Past, log_softmax
from smartcl.learners.ensemble.recent import learnable
from smartcl.learners.ensemble.rows import Samples, View
from smartcl.learners.ensemble.settings import BATCH_ROWS, LATER, LONG_ROWS, SETTLED_ROWS, WIDE
from smartcl.learners.learner import Learner
from smartcl.learners.model import Model
from smartcl.learners.weights import Labelled
from smartcl.network.arithmetic import flushed_denormals
from smartcl.saving.saved import Saved


@dataclass(frozen=True, eq=False)
class NetworkMember:
    """A learner's network, taught by the learner's own steps from the batch and the one memory.

    It takes steps for a trial, and goes on while the pool is better for it. Otherwise it rests, until several times as
    many rows have come.
    """

    name: str
    learner: Learner
    #: Rows that have come; when the trial began; when the next begins, if it rests.
    rows: int = 0
    began: int = 0
    next_trial: int = 0
    resting: bool = False

    @property
    def experts(self) -> Sequence[str]:
        return ["network"]

    def answers(self, rows: View, past: Past) -> Floats:
        with torch.no_grad():
            logits: Floats = self.learner.model.predictor(rows.prepared).nan_to_num().numpy()
        return log_softmax(logits)[:, None]

    def learn(self, new: Samples, past: Past) -> Self:
        counted = self._scheduled(new, past)
        if counted.resting:
            return counted
        learner = copy(self.learner)
        learner.spec, learner.scale, learner.counts, learner.rng = past.spec, past.scale, past.counts, past.rng
        store = past.memory.store.take(learnable(past.memory.store))
        if "weight" in store.extra:
            store = store.with_extra(weight=store.extra["weight"] / np.float32(past.weight_unit))
        learner.class_weight, learner.weighted = past.class_weight, "weight" in store.extra
        learner.memory = copy(past.memory)
        learner.memory.store = store
        learner.model = self.learner.model.copy()
        weight = None if new.weight is None else torch.from_numpy(new.weight)
        with flushed_denormals(), learner.model.drawing(past.rng):
            learner.learn(Labelled(new.rows.prepared, torch.from_numpy(new.y), weight), None)
            learner.model.settle(past.rng)
        if not all(bool(value.detach().sum().isfinite()) for value in learner.model.moved()):
            learner.model.begin_anew(past.rng)
        learner.memory = self.learner.memory  # what it read is not held beside the ensemble's own
        return replace(counted, learner=learner)

    @classmethod
    def of(cls, name: str, learner: Learner) -> Self:
        """One that has learned nothing: on narrow rows it waits for its first trial, on others it begins at once."""
        made = cls(name, learner)
        return replace(made, next_trial=SETTLED_ROWS, resting=True) if made._narrow else made

    @property
    def _narrow(self) -> bool:
        return self.learner.spec.n_features < WIDE

    def _scheduled(self, new: Samples, past: Past) -> Self:
        """Whether to take steps on these rows."""
        rows = self.rows + len(new)
        counted = replace(self, rows=rows)
        unseen = bool((past.counts.seen[np.unique(new.y)] <= len(new)).any())
        if unseen or (self.resting and rows >= self.next_trial):
            return replace(counted, resting=self.resting and unseen and self._narrow, began=rows)
        if self.resting or rows - self.began < (SETTLED_ROWS if self._narrow else LONG_ROWS) or past.adds:
            return counted
        return replace(counted, resting=True, next_trial=LATER * rows)

    def restarted(self, samples: Samples, past: Past) -> Self:
        return self

    def without(self, gone: Samples) -> Self:
        """Weights keep what they were taught."""
        return self

    def after_jump(self) -> Self:
        return self

    def after_change(self, change: Change, past: Past) -> Self:
        """One that is in use begins anew where the past does not hold any more."""
        if change.kind == NEW_TASK:
            return self if self._narrow else replace(self, resting=False, began=self.rows)
        if self.resting:
            return self
        learner = copy(self.learner)
        learner.model = self.learner.model.copy()
        learner.model.begin_anew(past.rng)
        return replace(self, learner=learner, began=self.rows)

    def widened(self, n_classes: int, rng: np.random.Generator) -> Self:
        learner = copy(self.learner)
        learner.model = self.learner.model.copy()
        learner.model.add_classes(n_classes, rng)
        learner.spec = replace(learner.spec, n_classes=n_classes)
        return replace(self, learner=learner)

    def combined(self, parts: Sequence[MemberTerm[Self]], joint: Joint) -> Self:
        """The mean of networks that come from one, or a new one; then steps on stored samples, each at most once.

        The mean of many short ways is not far from where they began: it lacks the steps that all but the longest have
        taken. On covtype, 64 shards of 375 rows: 83.6% with 1,000 samples, 86.5 with 5,000, 87.9 with all 16,000, and
        88.9 for one network on all rows. A network that rests in all parts goes on resting.
        """
        new = [part for part in parts if part.share] or list(parts)
        known = max(new, key=lambda part: (not part.member.resting, part.member.rows)).member
        if known.resting:
            rows = joint.past.counts.total
            return replace(self, rows=rows, began=rows, next_trial=max(rows, known.next_trial), resting=True)
        awake = [part for part in new if not part.member.resting]
        same_classes = all(np.array_equal(part.at, np.arange(self.learner.spec.n_classes)) for part in awake)
        averaged = joint.one_base and joint.adds_up and same_classes and known.learner.model.network.table is None
        learner = copy(self.learner)
        learner.model = known.learner.model.copy() if averaged else self.learner.model.copy()
        if averaged:
            take_mean(learner.model, [(part.share, part.member.learner.model) for part in awake])
        learned = known.rows if averaged else 0  # this number of all rows has led to steps, one after the other
        lacks = min(len(joint.samples), max(0, joint.past.counts.total - learned))
        past, count = replace(joint.past, adds=True), lacks if joint.steps is None else min(lacks, joint.steps)
        taught, at = replace(self, learner=learner, resting=False), past.rng.permutation(len(joint.samples))[:count]
        for start in range(0, len(at), BATCH_ROWS):
            taught = taught.learn(joint.samples.taken(np.sort(at[start : start + BATCH_ROWS])), past)
        return replace(taught, rows=learned + count, began=learned + count, resting=False)

    @property
    def nbytes(self) -> int:
        return self.learner.model.nbytes

    def state_dict(self) -> dict[str, Any]:
        kept = ("rows", "began", "next_trial", "resting")
        own = {**self.learner.state_of_steps(), "model": self.learner.model.state_dict()}
        return {**{name: getattr(self, name) for name in kept}, "learner": own}

    def loaded(self, saved: Saved) -> Self:
        learner = copy(self.learner)
        learner.model = self.learner.model.copy()
        part = saved.part("learner")
        learner.model.load_state_dict(part.entries("model"))
        learner.load_steps(part)
        rows, began, next_trial = (saved.whole(name, 0) for name in ("rows", "began", "next_trial"))
        resting = saved.flag("resting")
        return replace(self, learner=learner, rows=rows, began=began, next_trial=next_trial, resting=resting)


@torch.no_grad()
def take_mean(model: Model, parts: Sequence[tuple[float, Model]]) -> None:
    """Give the model the mean of the weights of models of its form, by these shares, and of their averages."""
    total = sum(share for share, _ in parts)
    own = [model.network] if model.average is None else [model.network, model.average.network]
    others = [
        (share / total, [each.network] if each.average is None else [each.network, each.average.network])
        for share, each in parts
    ]
    for place, network in enumerate(own):
        states = [(share, dict(networks[place].named_parameters())) for share, networks in others]
        for name, value in network.named_parameters():
            value.copy_(sum((share * state[name] for share, state in states), torch.zeros_like(value)))
