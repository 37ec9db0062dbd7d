"""Algorithm 1 of the SMART paper, for any selection policy and any penalties."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from smartcl.data.batch import Batch, Bools, Ints, Rows
from smartcl.data.spec import InputSpec
from smartcl.learners.checks import check_batch, largest
from smartcl.learners.extra_columns import check_logits
from smartcl.learners.model import Model
from smartcl.learners.reading import CandidateView, read_once, row_cells
from smartcl.learners.recipe import Recipe
from smartcl.learners.stream_learner import StreamLearner
from smartcl.learners.weights import Labelled as Labelled
from smartcl.learners.weights import weight_of, weighted_cross_entropy
from smartcl.memory.grading import Judge
from smartcl.memory.pool import USUAL_OFFER, Offer, Selector
from smartcl.memory.schematic_memory import Observation, SchematicMemory
from smartcl.network.arithmetic import flushed_denormals
from smartcl.network.inputs import Prepared
from smartcl.network.plain import PlainNetwork, plain_network
from smartcl.network.wrapped import ModuleSource
from smartcl.regularizers.regularizer import Regularizer
from smartcl.saving.saved import Saved

PREDICT_ROWS = 2048


class Learner(StreamLearner):
    """A network that learns from a stream of batches and replays a memory of a fixed number of bytes.

    ``observe`` completes or changes nothing; several of them inside ``with learner.all_or_nothing():`` do so together.
    Threads may share a learner: they learn one after the other, and predict from the last finished batch.

    >>> from smartcl.selection.reservoir import Reservoir
    >>> spec = InputSpec(n_features=2, n_classes=2)
    >>> learner = Learner(spec, memory=400, recipe=Recipe(hidden=(8,)), selector=Reservoir(), seed=0)
    >>> x = torch.randn(60, 2, generator=torch.Generator().manual_seed(0))
    >>> for start in range(0, 60, 20):
    ...     _ = learner.observe(Batch(x[start : start + 20], (x[start : start + 20, 0] > 0).long()))
    >>> learner.memory
    22 samples in 396 B of 400 B, 2 of 2 features kept
    """

    def __init__(
        self,
        spec: InputSpec,
        memory: str | int,
        recipe: Recipe,
        selector: Selector,
        regularizers: Sequence[Regularizer] = (),
        whole: bool = False,
        patience: int = 3,
        precision: str | int = "plain",
        seed: int = 0,
        network: ModuleSource | None = None,
    ) -> None:
        super().__init__(
            spec, SchematicMemory(spec, memory, selector, whole, patience, precision), np.random.default_rng(seed)
        )
        self.recipe = recipe if network is None else replace(recipe, network=network)
        self.model = Model(spec, self.recipe, regularizers, self.rng)

    def observe(self, batch: Batch) -> Observation:
        """Learn one batch. Completes, or leaves the learner as it was. (Line numbers: Algorithm 1.)"""
        with self.all_or_nothing():
            batch = self.check(batch)  # line 4
            self.begin_batch()
            if self.scale is not None:
                self.scale = self.scale.updated(batch.x)
            self.counts = self.counts.widened(self.spec.n_classes).add(batch.y.numpy())
            new = self.with_weights(Labelled(self.prepared(batch.x), batch.y), batch.weight)
            with flushed_denormals(), self.model.drawing(self.rng):
                self.learn(new, batch.task)  # lines 5, 6
                self.model.settle(self.rng)
            self.check_finite(chain.from_iterable(model.moved() for model in self.models), batch)
            self.observed = self.remember(batch)  # lines 7-10
            self.batches += 1
            if self.recipe.consolidates_after(self.batches):
                self.consolidate(new, batch)  # line 11
            self.finish_batch()
        return self.observed

    def check_finite(self, values: Iterable[torch.Tensor], batch: Batch) -> None:
        """Refuse a state with values that are not finite."""
        if not all(bool(value.detach().sum().isfinite()) for value in values):
            raise ValueError(
                f"x must be small enough to learn from: with values up to {largest(batch.x):.3g} and "
                f"lr={self.recipe.lr:g} the weights overflowed; scale the features down"
            )

    def consolidate(self, new: Labelled, batch: Batch) -> None:
        """Let the penalties protect what has been learned."""
        self.model.consolidate(new.rows, new.y)
        self.check_finite(self.model.noted(), batch)

    def learn(self, new: Labelled, task: int | None) -> None:
        """All steps on a batch; its task is a hint that boundary-free learners never read."""
        for replay in self.read_steps(self.draw_steps()):
            self.train_step(new, replay)

    def train_step(self, new: Labelled, replay: Labelled | None) -> None:
        """One step on the batch and what the memory replays: together, or one after the other."""
        if replay is None:
            self.model.descend(self.loss([new]))
        elif self.recipe.joint:
            self.model.descend(self.loss([new, replay]))
        else:
            self.model.descend(self.loss([new]))
            self.model.descend(self.loss([replay]))

    def loss(self, parts: Sequence[Labelled]) -> torch.Tensor:
        """The mean cross-entropy of all samples of the parts."""
        logits = self.model.network(*(part.rows for part in parts))
        y = torch.cat([part.y for part in parts])
        return weighted_cross_entropy(logits, y, self.recipe.smoothing, weight_of(parts))

    def draw_steps(self) -> list[Ints]:
        """The stored samples of every step, each step's drawn without replacement."""
        held = len(self.memory)
        count = min(self.recipe.replay, held)
        steps = range(self.recipe.iterations)
        return [self.rng.choice(held, count, replace=False) if count else np.zeros(0, np.int64) for _ in steps]

    def read_steps(self, draws: Sequence[Ints]) -> Iterator[Labelled | None]:
        """The stored samples at these places, step by step."""
        store = self.memory.store
        return read_once(draws, partial(self.read_weighted, store), row_cells(store))

    @property
    def judge(self) -> Model:
        """The model that answers, and says of features and samples whether they are of use."""
        return self.model

    @property
    def distrust(self) -> float:
        """How much labels are distrusted, from 0 to 1."""
        return 0.0

    @property
    def spared(self) -> int:
        """How many of the newest samples are too new for that."""
        return 0

    @property
    def offer(self) -> Offer:
        """How a batch is offered to the memory."""
        return USUAL_OFFER

    def remember(self, batch: Batch) -> Observation:
        """Store the batch's schematic form; over budget, let the selector choose."""
        candidates = self.memory.candidates(batch, self.listened_to(), self.stored_beside(batch), self.told_by)
        view = partial(CandidateView, self, candidates)
        return self.memory.select(candidates, view, self.rng, self.offer)

    def make_room(self) -> Observation:
        view = partial(CandidateView, self, self.memory.store)
        return self.memory.select(self.memory.store, view, self.rng, self.offer)

    def listened_to(self) -> Bools:
        """The input features that the answers depend on."""
        alive: Bools = self.judge.network.alive().numpy()
        return alive

    @property
    def told_by(self) -> Judge | None:
        """The judge of coarser values; None, unless a method has one."""
        return None

    def end_task(self, data: Batch) -> Observation | None:
        """The stream says that a task with these samples is over; what became of the memory, if it changed."""
        if self.recipe.consolidate == "task":
            data = check_batch(data, self.spec)
            with self.all_or_nothing():
                self.begin_batch()
                self.consolidate(Labelled(self.prepared(data.x), data.y), data)
                self.finish_batch()
        return None

    def classifier(self) -> Callable[[Prepared], torch.Tensor]:
        """From rows to probabilities, as things are now: the averaged weights', where there is an average."""
        return lambda rows: probabilities(self.judge.predictor(rows))

    def as_module(self) -> PlainNetwork:
        """What predicts, as a plain PyTorch module; a method that does not predict by its network has none."""
        if type(self).classifier is not Learner.classifier:
            return super().as_module()
        return plain_network(self.judge.predictor, self.spec, self.scale)

    def feature_weights(self) -> NDArray[np.float64]:
        norms: NDArray[np.float64] = self.judge.network.group_norms().double().numpy()
        return norms

    def classify(self) -> Callable[[Rows], torch.Tensor]:
        classifier = self.classifier()
        return lambda x: classifier(self.prepared(x))

    def state_dict(self) -> dict[str, Any]:
        with self._lock:
            return {**super().state_dict(), "model": self.model.state_dict()}

    def state_of_steps(self) -> dict[str, Any]:
        """What its steps depend on beside the model; nothing, unless a method says so."""
        return {}

    def load_steps(self, saved: Saved) -> None:
        """Take over what ``state_of_steps`` described."""

    def load_parts(self, saved: Saved) -> None:
        self.model.load_state_dict(saved.entries("model"))

    def load_state_dict(self, state: dict[str, Any]) -> None:
        with self.all_or_nothing():
            super().load_state_dict(state)
            check_logits(self.memory.store, self.model.network.n_outputs)


def probabilities(logits: torch.Tensor) -> torch.Tensor:
    """Softmax, also of logits beyond the largest number."""
    return logits.nan_to_num().softmax(dim=1)
