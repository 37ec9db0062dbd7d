"""Algorithm 1 of the SMART paper, for any selection policy and any penalties."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import torch
import torch.nn.functional as F

from smartcl.learners.checks import check_batch, check_rows
from smartcl.learners.model import Model
from smartcl.learners.recipe import Recipe
from smartcl.learners.replay_memory import Notes, Observation, ReplayMemory
from smartcl.memory import SampleStore
from smartcl.network.denormals import flushed_denormals
from smartcl.network.gradients import Trace, trace
from smartcl.network.inputs import Prepared, prepare
from smartcl.regularizers.regularizer import Regularizer
from smartcl.selection.selector import Selector
from smartcl.streams.batch import Batch, Ints, Rows, take_rows
from smartcl.streams.stream import InputSpec

#: Samples ready for the network, and their labels.
Labelled: TypeAlias = tuple[Prepared, torch.Tensor]

PREDICT_ROWS = 2048


class Learner:
    """A network that learns from a stream of batches and replays a memory of a fixed number of bytes.

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
        seed: int = 0,
    ) -> None:
        self.spec, self.recipe = spec, recipe
        self.rng = np.random.default_rng(seed)
        self.memory = ReplayMemory(spec, memory, selector, whole, patience)
        self.model = Model(spec, recipe, regularizers, self.rng)

    def observe(self, batch: Batch) -> Observation:
        """Learn one batch. Completes, or leaves the learner as it was. (Line numbers: Algorithm 1.)"""
        batch = self.check(batch)  # line 4
        with self._all_or_nothing():
            new: Labelled = prepare(batch.x, self.spec), batch.y
            with flushed_denormals():
                self.learn(new, batch.task)  # lines 5, 6
                self.model.settle()
            observation = self.remember(batch)  # lines 7-10
            if self.recipe.consolidate == "batch":
                self.model.consolidate(*new)  # line 11
        return observation

    def check(self, batch: Batch) -> Batch:
        """The batch as it will be learned, or a ``ValueError`` that says what is wrong with it."""
        batch = check_batch(batch, self.spec)
        self.memory.check_room(batch, self.notes(batch))
        return batch

    def learn(self, new: Labelled, task: int | None) -> None:
        """All steps on a batch; its task is a hint that boundary-free learners never read."""
        for _ in range(self.recipe.iterations):
            self.train_step(new, self.draw_replay())

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
        logits = self.model.network(*(rows for rows, _ in parts))
        return F.cross_entropy(logits, torch.cat([y for _, y in parts]), label_smoothing=self.recipe.smoothing)

    def draw_replay(self) -> Labelled | None:
        """Stored samples, drawn without replacement."""
        count = min(self.recipe.replay, len(self.memory))
        if not count:
            return None
        return self.recall(self.memory.store, self.rng.choice(len(self.memory), count, replace=False))

    def recall(self, store: SampleStore, index: Ints) -> Labelled:
        """Stored samples as the network takes them."""
        got = store.gather(index, missing=bool(self.spec.offset))
        features = None if self.spec.sparse or store.schema.is_full else store.features
        return prepare(got.x, self.spec, features, got.missing), got.y

    def remember(self, batch: Batch) -> Observation:
        """Store the batch's schematic form; over budget, let the selector choose."""
        alive = self.model.network.alive().numpy()
        candidates = self.memory.candidates(batch, alive, self.notes(batch))
        return self.memory.select(candidates, _Geometry(self, candidates), self.rng)

    def notes(self, batch: Batch) -> Notes:
        """What this method stores beside each sample; nothing, unless it says so."""
        return {}

    def end_task(self, data: Batch) -> Observation | None:
        """The stream says that a task with these samples is over; what became of the memory, if it changed."""
        if self.recipe.consolidate == "task":
            data = check_batch(data, self.spec)
            with self._all_or_nothing():
                self.model.consolidate(prepare(data.x, self.spec), data.y)
        return None

    def predict_proba(self, x: Rows) -> torch.Tensor:
        """Class probabilities of each row."""
        x = check_rows(x, self.spec)
        pieces = np.array_split(np.arange(x.shape[0]), -(-x.shape[0] // PREDICT_ROWS) or 1)
        classify = self.classifier()
        with torch.no_grad():
            return torch.cat([classify(prepare(take_rows(x, piece), self.spec)) for piece in pieces])

    def classifier(self) -> Callable[[Prepared], torch.Tensor]:
        """From rows to probabilities, as things are now: the averaged weights', where there is an average."""
        return lambda rows: self.model.predictor(rows).softmax(dim=1)

    def add_classes(self, n_classes: int) -> None:
        """Make room for classes first seen now."""
        self.model.add_classes(n_classes, self.rng)
        self.spec = replace(self.spec, n_classes=n_classes)

    def state_dict(self) -> dict[str, Any]:
        """All that the future depends on."""
        return {
            "n_classes": self.spec.n_classes,
            "model": self.model.state_dict(),
            "memory": self.memory.state_dict(),
            "rng": self.rng.bit_generator.state,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on as the learner that gave this state would have, bit for bit."""
        if state["n_classes"] > self.spec.n_classes:
            self.add_classes(state["n_classes"])
        self.model.load_state_dict(state["model"])
        self.memory.load_state_dict(state["memory"])
        self.rng.bit_generator.state = state["rng"]

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        model, memory, rng = self.model.begin(), self.memory.snapshot(), self.rng.bit_generator.state
        try:
            yield
        except BaseException:
            self.model.rollback(model)
            self.memory.restore(memory)
            self.rng.bit_generator.state = rng
            raise
        self.model.commit()


class _Geometry:
    """The network's view of candidate samples, for selectors."""

    def __init__(self, learner: Learner, candidates: SampleStore) -> None:
        self._learner, self._candidates = learner, candidates

    def trace(self, index: Ints) -> Trace:
        rows, y = self._learner.recall(self._candidates, index)
        return trace(self._learner.model.network, rows, y)

    def features(self, index: Ints, layer: str) -> torch.Tensor:
        rows, _ = self._learner.recall(self._candidates, index)
        with torch.no_grad():
            return self._learner.model.network.features(rows, layer)
