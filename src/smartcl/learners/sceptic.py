"""Learner that doubts labels, by as much as it finds contradicted.

It measures its doubt on the stream: of each batch it has just learned, a network that resists
memorising still contradicts the samples whose labels do not fit the others. Their running share is small in a clean
stream and grows with the noise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F

from smartcl.data.batch import Batch, Ints
from smartcl.learners.class_counts import overstated, standing
from smartcl.learners.learner import Labelled, Learner
from smartcl.learners.losses import by_logit, exponents, lesson_slope, lessons, robust_slope, targets
from smartcl.learners.method_settings import Scepticism
from smartcl.learners.weights import narrowed_samples, take_samples, weight_of
from smartcl.memory import SampleStore
from smartcl.memory.grading import Judge
from smartcl.memory.schematic_memory import Observation
from smartcl.network.arithmetic import rounding
from smartcl.network.dropout import drop_inputs
from smartcl.network.inputs import Prepared, take_inputs
from smartcl.saving.saved import Saved
from smartcl.selection.fair_shares import ENSURED

#: The share of contradicted labels from which doubt is complete.
FULL_DOUBT = 0.02
#: The number of samples over which that share is averaged, about.
DOUBT_SAMPLES = 500
#: The doubt up to which products may be rounded.
MAY_ROUND = 0.5
#: Stored samples replayed with a batch, drawn anew for each: the cost does not grow with the memory.
ROTATION = 600


class Taught(NamedTuple):
    """Stored samples, their labels, and what the averaged network taught of them before the batch was learned."""

    rows: Prepared
    y: torch.Tensor
    lesson: torch.Tensor
    weight: torch.Tensor | None = None

    @classmethod
    def of(cls, stored: Labelled | None, lesson: torch.Tensor, place: torch.Tensor | None) -> Taught | None:
        """Those at these places, if any were drawn."""
        if stored is None or place is None:
            return None
        some = take_samples(stored, place)
        return cls(some.rows, some.y, lesson[place], some.weight)

    @property
    def samples(self) -> Labelled:
        return Labelled(self.rows, self.y, self.weight)


class Sceptic(Learner):
    """Learns with a loss that is the more robust, and a teacher that is the weaker, the more it doubts the labels.

    ``loss = L_q(f(x), y) + distill·(1 − doubt)·KL-like pull to the averaged network's answers on replayed samples``,
    with ``q = robust·doubt``, less for a class not known yet. The averaged network answers once per batch, before it
    is learned.
    """

    recipe: Scepticism
    #: The running share of labels contradicted; full doubt until the stream has shown what it is like.
    contradicted = FULL_DOUBT
    #: The running mean of how much learning a batch moves the answers to it; 0 until it is known.
    moved = 0.0
    #: How much each class counts against each sample of the batch being learned; None: fully.
    standing: torch.Tensor | None = None
    #: How much more each class has of the memory than of the stream, as a logarithm; None: as much.
    overstated: torch.Tensor | None = None

    @property
    def doubt(self) -> float:
        """From 0, every label is believed, to 1."""
        return min(1.0, self.contradicted / FULL_DOUBT)

    @property
    def arithmetic(self) -> str | None:
        """The numbers to multiply in now: where labels are doubted, rounding costs accuracy."""
        asked = self.recipe.arithmetic
        return "float32" if asked == "auto" and self.doubt > MAY_ROUND else asked

    @property
    def distrust(self) -> float:
        """Of each sample that comes, how many that are contradicted go even if there is room: none below half doubt.

        Nor before the stream has shown how much there is to doubt.
        """
        return max(0.0, 2 * self.doubt - 1) if self.memory.offered >= 2 * DOUBT_SAMPLES else 0.0

    def learn(self, new: Labelled, task: int | None) -> None:
        self.regard_classes(new)
        new = narrowed_samples(new)
        for replay in self.teach_steps(self.draw_steps()):
            self.cautious_step(new, replay)
        self.contradicted = self.updated_share(new)

    def regard_classes(self, new: Labelled) -> None:
        """How much each class is to count while this batch is learned."""
        stored = np.bincount(self.memory.store.labels, minlength=self.spec.n_classes)
        self.standing = standing(self.counts, stored, new.y.numpy())
        self.overstated = overstated(self.counts, stored, ENSURED)

    def draw_steps(self) -> list[Ints]:
        """The stored samples of every step, each step's drawn without replacement.

        Under full doubt half as many: what is replayed often is memorised, wrong labels too.
        """
        held = len(self.memory)
        pool = self.rng.choice(held, ROTATION, replace=False) if held > ROTATION else np.arange(held)
        count = min(round(self.recipe.replay * (1 - self.doubt / 2)), len(pool))
        return [pool[self.rng.choice(len(pool), count, replace=False)] for _ in range(self.recipe.iterations)]

    def teach_steps(self, draws: Sequence[Ints]) -> Iterator[Taught | None]:
        """What each step replays, with the teacher's answers; every stored sample is decoded and asked about once."""
        drawn = np.unique(np.concatenate(draws))
        if not len(drawn):
            yield from (None for _ in draws)
            return
        stored = self.read_weighted(self.memory.store, drawn)
        rows, y, weight = stored
        self.model.expect(rows)
        lesson = self.lessons(rows, y)
        for index in draws:
            place = torch.from_numpy(np.searchsorted(drawn, index))
            yield Taught(take_inputs(rows, place), y[place], lesson[place], None if weight is None else weight[place])

    @property
    def pull(self) -> float:
        """How strongly the teacher pulls: the less, the more the labels it has learned from are doubted."""
        return self.recipe.distill * (1 - self.doubt)

    @torch.no_grad()
    def lessons(self, rows: Prepared, y: torch.Tensor) -> torch.Tensor:
        """The averaged network's probabilities where it is sure of the label; None where they have no weight."""
        if not self.pull:
            return torch.zeros(len(rows), self.spec.n_classes)
        return lessons(self.model.predictor(rows).softmax(dim=1), y)

    def cautious_step(self, new: Labelled, replay: Taught | None) -> None:
        """One step on the batch and the stored samples: by the robust loss, and the teacher's pull on the latter."""
        parts = [new] if replay is None else [new, replay.samples]
        logits = self.answered(*(part.rows for part in parts))
        self.model.descend(logits, self.cautious_slope(logits.detach(), parts, replay))

    def answered(self, *parts: Prepared) -> torch.Tensor:
        """The network's logits while it learns: some of the inputs are dropped."""
        with rounding(self.arithmetic):
            logits: torch.Tensor = self.model.network(
                *(drop_inputs(rows, self.recipe.dropout, self.rng) for rows in parts)
            )
        return logits.float()

    @torch.no_grad()
    def cautious_slope(self, logits: torch.Tensor, parts: Sequence[Labelled], replay: Taught | None) -> torch.Tensor:
        """The slope of the loss at these logits of the parts."""
        y = torch.cat([part.y for part in parts])
        n_new = len(parts[0].y)
        among, answers = self.regarded(logits, n_new)
        target = targets(y, logits.shape[1], self.recipe.smoothing, among)
        exponent = exponents(answers, y, self.recipe.robust * self.doubt)
        slope = robust_slope(answers, target, exponent, weight_of(parts))
        if not self.pull or replay is None:
            return by_logit(slope, answers)
        taught = self.pull * lesson_slope(replay.lesson, replay.weight)
        if self.overstated is None:
            slope[n_new:] += taught
            return by_logit(slope, answers)
        slope = by_logit(slope, answers)
        slope[n_new:] += by_logit(taught, logits[n_new:].log_softmax(dim=1))
        return slope

    def regarded(self, logits: torch.Tensor, n_new: int) -> tuple[torch.Tensor | None, torch.Tensor]:
        """How much each class counts against each sample, the new ones first, and the log-probabilities then."""
        among = None if self.standing is None else F.pad(self.standing, (0, 0, 0, len(logits) - len(self.standing)))
        shifted = logits if among is None else logits + among
        if (
            self.overstated is not None
        ):  # some class is rare: without this its samples would be predicted as if all classes were equally frequent
            replayed = torch.arange(len(logits)) >= n_new
            excess = replayed[:, None] * self.overstated
            shifted, among = shifted + excess, excess + self.counts.log_rate + (0.0 if among is None else among)
        return among, shifted.log_softmax(dim=1)

    @torch.no_grad()
    def updated_share(self, new: Labelled) -> float:
        """The running share of contradicted labels, with the batch just learned counted in."""
        rows, y, _ = new
        logits = self.model.network(rows)
        wrong = logits.argmax(dim=1) != y
        for shift in (self.standing, self.overstated):
            if shift is not None:  # a label that only its class's frequency speaks against is not wrong
                wrong &= (logits + shift).argmax(dim=1) != y
        share = float(wrong.double().mean())
        memory = (1 - 1 / DOUBT_SAMPLES) ** len(y)
        return memory * self.contradicted + (1 - memory) * share

    def remember(self, batch: Batch) -> Observation:
        """As every learner; one that finds its precision by itself notes how far the batch has moved it."""
        if self.memory.precision == "auto" and self.batches:  # the first batch moves a network that knew nothing
            self.moved = self.updated_move(self.prepared(batch.x))
        return super().remember(batch)

    @property
    def told_by(self) -> Judge:
        return self.told_apart

    @torch.no_grad()
    def told_apart(self, samples: SampleStore, coarse: SampleStore) -> float:
        """How many times as much coarser values change the answers to these samples as a batch of learning does.

        A network that has hardly begun moves far with every batch: until it has seen some samples, nothing is alike.
        """
        if self.memory.offered < DOUBT_SAMPLES:
            return np.inf
        index = np.arange(len(samples))
        as_they_are, as_held = (self.read_weighted(store, index).rows for store in (samples, coarse))
        return distance(*map(self.classifier(), (as_they_are, as_held))) / max(self.moved, np.finfo(np.float64).tiny)

    @torch.no_grad()
    def updated_move(self, rows: Prepared) -> float:
        """The running mean of how far a batch moves the answers, with the batch just learned counted in."""
        with self.finished() as before:
            step = distance(before.classifier()(rows), self.classifier()(rows))
        memory = (1 - 1 / DOUBT_SAMPLES) ** len(rows) if self.moved else 0.0
        return memory * self.moved + (1 - memory) * step

    def state_of_steps(self) -> dict[str, Any]:
        return {"contradicted": self.contradicted, "moved": self.moved}

    def load_steps(self, saved: Saved) -> None:
        self.contradicted, self.moved = saved.number("contradicted", 0.0, 1.0), saved.number("moved", 0.0, 1.0)

    def state_dict(self) -> dict[str, Any]:
        return {**super().state_dict(), **self.state_of_steps()}

    def load_parts(self, saved: Saved) -> None:
        super().load_parts(saved)
        self.load_steps(saved)


def distance(answers: torch.Tensor, others: torch.Tensor) -> float:
    """The probability, in the mean, that two sets of answers do not have in common (total variation)."""
    return min(1.0, float((answers - others).abs().sum(dim=1).mean() / 2))
