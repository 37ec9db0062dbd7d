"""What each network of a committee is taught from the memory, beside the batch that came."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F

from smartcl.data.batch import Ints
from smartcl.learners.class_counts import overstated
from smartcl.learners.class_means import between_means
from smartcl.learners.committee import ASKED_EVERY, LINE, SCOUT, SLOWS_DOWN, Committee
from smartcl.learners.learner import Labelled
from smartcl.learners.model import Model
from smartcl.learners.weights import weight_of, weighted_mean
from smartcl.network.arithmetic import rounding, worth_rounding
from smartcl.network.inputs import join_alike
from smartcl.network.line import Line
from smartcl.selection.fair_reservoir import ENSURED
from smartcl.selection.roles import HELD_OUT, REPLAYED

#: The newest stored samples that the scout knows, and how fast it forgets them; those that the line knows.
WINDOW, SCOUT_MEMORY, LINE_WINDOW = 500, 100, 2000


class Rehearsal(Committee):
    """A committee that knows which stored samples are for whom."""

    #: How many of the newest stored samples the scout knows.
    known_to_scout = 0

    def recalled(self, most: int) -> Labelled | None:
        """The stored samples that this batch may be learned with, up to so many: awake, and not of the reserve."""
        pool = self.with_rare_ones(np.flatnonzero(self.roles == REPLAYED), most)
        if not len(pool):
            return None
        stored = self.recall(self.memory.store, pool)
        for model in self.models:
            model.expect(stored[0])
        return stored

    def regard_replayed(self, labels: Ints) -> None:
        """How much more these samples have of each class than the stream."""
        self.overstated = overstated(self.counts, np.bincount(labels, minlength=self.spec.n_classes), ENSURED)

    def with_rare_ones(self, pool: Ints, most: int) -> Ints:
        """At most so many of these places, drawn at random, but of a rare class as many as its share ensures."""
        if len(pool) <= most:
            return pool
        labels, rare = self.memory.store.labels[pool], np.flatnonzero(self.counts.rare(ENSURED))
        each = int(ENSURED * most / max(1, int((self.counts.seen > 0).sum())))
        ensured = [self.rng.permutation(pool[labels == label])[:each] for label in rare]
        others = pool[~np.isin(labels, rare)] if len(rare) else pool
        left = most - sum(map(len, ensured))
        return np.concatenate([*ensured, self.rng.choice(others, min(left, len(others)), replace=False)])

    def draws(self, stored: Labelled | None, count: int, steps: int) -> list[torch.Tensor | None]:
        """What each step replays, as places among those recalled, drawn without replacement."""
        if stored is None:
            return [None] * steps
        held = len(stored[1])
        return [torch.from_numpy(self.rng.choice(held, min(count, held), replace=False)) for _ in range(steps)]

    @torch.no_grad()
    def teach_means(self, new: Labelled, stored: Labelled | None) -> None:
        """The means are those of the batch and of the samples recalled for it; taken seldom where nobody listens."""
        if "means" not in self.model_names or (stored is None and len(self.memory)):
            return
        if self.idle[self.model_names.index("means")] >= SLOWS_DOWN and self.batches % ASKED_EVERY:
            return
        parts = [new] if stored is None else [new, stored]
        rows, y = join_alike([rows for rows, _ in parts], self.spec.n_features), torch.cat([y for _, y in parts])
        weight, bias = between_means(rows, y, self.counts.log_rate, self.spec.n_features)
        network = self.means.network
        assert isinstance(network, Line)
        network.first.weight.copy_(weight)
        network.first.bias.copy_(bias)

    def teach_line(self, new: Labelled, steps: int) -> None:
        """The line learns the batch and the newer samples, one as much as the other."""
        held = np.flatnonzero(self.roles == REPLAYED)
        rare = np.isin(self.memory.store.labels[held], np.flatnonzero(self.counts.rare(ENSURED)))
        rare[-LINE_WINDOW:] = True
        newer = self.with_rare_ones(held[rare], WINDOW)
        self.regard_replayed(self.memory.store.labels[newer].astype(np.int64))
        count = min(LINE.replay, len(newer))
        for replay in self.recalled_for([self.rng.choice(newer, count, replace=False) for _ in range(steps)]):
            self.teach(self.line, new, replay)

    def teach_scout(self, new: Labelled, steps: int) -> None:
        """The scout learns the batch and the newest samples, the sooner forgotten the older they are."""
        held = np.arange(max(0, len(self.memory) - min(self.known_to_scout, WINDOW)), len(self.memory))
        newest = held[self.roles[held] != HELD_OUT]
        self.regard_replayed(self.memory.store.labels[newest].astype(np.int64))
        count, last, draws = min(len(newest), SCOUT.replay), len(newest) - 1, []
        for _ in range(steps):
            ages = (self.rng.standard_exponential(count) * SCOUT_MEMORY).astype(np.int64)
            draws.append(newest[last - np.minimum(ages, last)])
        for replay in self.recalled_for(draws):
            self.teach(self.scout, new, replay)

    def teach(self, model: Model, new: Labelled, replay: Labelled | None) -> None:
        """One step of a network without guards."""
        parts = [new] if replay is None else [new, replay]
        with rounding(self.arithmetic if worth_rounding(self.spec.n_features) else None):
            logits = model.network(*(rows for rows, _ in parts))
        _, answers = self.regarded(logits.float(), len(new[1]))
        y = torch.cat([labels for _, labels in parts])
        model.descend(weighted_mean(F.nll_loss(answers, y, reduction="none"), weight_of(parts)))
