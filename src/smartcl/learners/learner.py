"""Algorithm 1 of the SMART paper, for any selection policy and any penalties."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, ClassVar, cast

import numpy as np
import torch

from smartcl.data.batch import Batch, Bools, Ints, Rows, joined, row_pieces
from smartcl.data.spec import InputSpec
from smartcl.learners.candidate_view import CandidateView
from smartcl.learners.checks import check_batch, check_rows, flat_rows, largest
from smartcl.learners.class_counts import ClassCounts
from smartcl.learners.extra_columns import check_task
from smartcl.learners.ids import id_column
from smartcl.learners.learner_state import load_state, state_of
from smartcl.learners.model import Model
from smartcl.learners.reading import read_once, row_cells
from smartcl.learners.recipe import Recipe
from smartcl.learners.transaction import Transactional
from smartcl.learners.weights import ClassWeight, class_weights, weight_of, weighted, weighted_cross_entropy
from smartcl.learners.weights import Labelled as Labelled
from smartcl.memory import SampleStore
from smartcl.memory.grading import Judge
from smartcl.memory.pool import USUAL_OFFER, Offer, Selector
from smartcl.memory.schematic_memory import ExtraColumns, Observation, SchematicMemory
from smartcl.network.denormals import flushed_denormals
from smartcl.network.inputs import Prepared, prepare
from smartcl.network.plain import PlainNetwork, PlainPool, plain_network
from smartcl.network.scaling import InputScale
from smartcl.network.wrapped import ModuleSource
from smartcl.regularizers.regularizer import Regularizer
from smartcl.saved import Saved

PREDICT_ROWS = 2048


class Learner(Transactional):
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

    #: What ``extra_columns`` gives, by name and dtype; None where it depends on the stream.
    extra_dtypes: ClassVar[Mapping[str, str] | None] = {}

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
        super().__init__()
        self.spec, self.recipe = spec, recipe if network is None else replace(recipe, network=network)
        self.rng = np.random.default_rng(seed)
        #: The centre and scale of each feature, where they are to be learned.
        self.scale = InputScale.fresh(spec.n_features, spec.sparse, spec.pixels) if spec.learned else None
        self.memory = SchematicMemory(spec, memory, selector, whole, patience, precision)
        self.model = Model(spec, self.recipe, regularizers, self.rng)
        #: What the last batch did to the memory.
        self.observed: Observation | None = None
        #: Whether the ids that come with batches are stored, so that single samples can be forgotten.
        self.keeps_ids = False
        #: The classes that have come, and how much each is to count.
        self.counts, self.class_weight = ClassCounts.none(spec.n_classes), cast(ClassWeight, None)
        #: Whether samples have weights of their own, stored beside them; the first batch decides.
        self.weighted = False
        #: Batches learned, of which those since the last consolidation count where it comes on a schedule.
        self.batches = 0

    def observe(self, batch: Batch) -> Observation:
        """Learn one batch. Completes, or leaves the learner as it was. (Line numbers: Algorithm 1.)"""
        with self.all_or_nothing():
            batch = self.check(batch)  # line 4
            self.begin_batch()
            if self.scale is not None:
                self.scale = self.scale.updated(batch.x)
            self.counts = self.counts.widened(self.spec.n_classes).add(batch.y.numpy())
            new = self.weighed((self.prepared(batch.x), batch.y), batch.weight)
            with flushed_denormals(), self.model.drawing(self.rng):
                self.learn(new, batch.task)  # lines 5, 6
                self.model.settle(self.rng)
            self.check_finite(chain.from_iterable(model.moved() for model in self.models), batch)
            self.observed = observation = self.remember(batch)  # lines 7-10
            self.batches += 1
            if self.recipe.consolidates_after(self.batches):
                self.consolidate(new, batch)  # line 11
            self.finish_batch()
        return observation

    def check(self, batch: Batch) -> Batch:
        """The batch as it will be learned, or a ``ValueError`` that says what is wrong with it."""
        batch = check_batch(batch, self.spec)
        if "task" in (self.extra_dtypes or ()):
            check_task(batch)
        if not self.batches:
            self.weighted = batch.weight is not None
        elif batch.weight is not None and not self.weighted:
            raise ValueError("weight must be given from the first batch on, or never: it is stored beside each sample")
        self.memory.check_room(batch, self.stored_beside)
        return batch

    def check_finite(self, values: Iterable[torch.Tensor], batch: Batch) -> None:
        """A state that is not numbers any more never counts."""
        if not all(bool(value.detach().sum().isfinite()) for value in values):
            raise ValueError(
                f"x must be small enough to learn from: with values up to {largest(batch.x):.3g} and "
                f"lr={self.recipe.lr:g} the weights overflowed; scale the features down"
            )

    def consolidate(self, new: Labelled, batch: Batch) -> None:
        """What has been learned is to be kept."""
        self.model.consolidate(*new)
        self.check_finite(self.model.noted(), batch)

    def learn(self, new: Labelled, task: int | None) -> None:
        """All steps on a batch; its task is a hint that boundary-free learners never read."""
        for replay in self.recalled_for(self.draw_replays()):
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
        logits = self.model.network(*(rows for rows, _ in parts))
        y = torch.cat([labels for _, labels in parts])
        return weighted_cross_entropy(logits, y, self.recipe.smoothing, weight_of(parts))

    def weighed(self, samples: Labelled, own: torch.Tensor | None) -> Labelled:
        """The samples with what each is to count, where they do not all count the same."""
        return weighted(samples, own, class_weights(self.class_weight, self.counts))

    def draw_replays(self) -> list[Ints]:
        """The stored samples of every step, each step's drawn without replacement."""
        held = len(self.memory)
        count = min(self.recipe.replay, held)
        steps = range(self.recipe.iterations)
        return [self.rng.choice(held, count, replace=False) if count else np.zeros(0, np.int64) for _ in steps]

    def recalled_for(self, draws: Sequence[Ints]) -> Iterator[Labelled | None]:
        """The stored samples at these places, step by step."""
        store = self.memory.store
        return read_once(draws, partial(self.recall, store), row_cells(store))

    @property
    def judge(self) -> Model:
        """The model that answers, and says of features and samples whether they are of use."""
        return self.model

    def prepared(self, x: Rows, features: Ints | None = None, missing: torch.Tensor | None = None) -> Prepared:
        """Rows as the network takes them now."""
        return prepare(x, self.spec, features, missing, self.scale)

    def recall(self, store: SampleStore, index: Ints) -> Labelled:
        """Stored samples as the network takes them."""
        own = torch.from_numpy(store.extra["weight"][index]) if self.weighted else None
        return self.weighed(self.read(store, index), own)

    def read(self, store: SampleStore, index: Ints) -> Labelled:
        """The same, all counting alike."""
        got = store.gather(index, missing=bool(self.spec.offset) or self.spec.learned)
        features = None if self.spec.sparse or store.schema.is_full else store.features
        return self.prepared(got.x, features, got.missing), got.y

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

    def listened_to(self) -> Bools:
        """Which input features have a say in the answers."""
        alive: Bools = self.judge.network.alive().numpy()
        return alive

    @property
    def told_by(self) -> Judge | None:
        """Who tells coarser values from those that came; nobody, unless a method does."""
        return None

    def discard(self, gone: Bools) -> None:
        """Take stored samples out of the memory, inside ``all_or_nothing``."""
        self.begin_batch()
        self.memory.store = self.memory.store.take(~gone)
        self.finish_batch()

    def extra_columns(self, batch: Batch) -> ExtraColumns:
        """What this method stores beside each sample; nothing, unless it says so."""
        return {}

    def stored_beside(self, batch: Batch) -> ExtraColumns:
        """The method's extra columns, and the samples' ids and weights where they have any."""
        columns = {**self.extra_columns(batch), **id_column(self, batch)}
        if not self.weighted:
            return columns
        weight = np.ones(len(batch), np.float32) if batch.weight is None else batch.weight.numpy()
        return {**columns, "weight": weight}

    def end_task(self, data: Batch) -> Observation | None:
        """The stream says that a task with these samples is over; what became of the memory, if it changed."""
        if self.recipe.consolidate == "task":
            data = check_batch(data, self.spec)
            with self.all_or_nothing():
                self.begin_batch()
                self.consolidate((self.prepared(data.x), data.y), data)
                self.finish_batch()
        return None

    def predict_proba(self, x: Rows) -> torch.Tensor:
        """Class probabilities of each row, by what the last finished batch left."""
        x = flat_rows(x, self.spec)
        with self.finished() as view, torch.no_grad():
            classify = view.classifier()
            pieces = (check_rows(piece, view.spec) for piece in row_pieces(x, PREDICT_ROWS))
            return joined((classify(view.prepared(piece)) for piece in pieces), x.shape[0])

    def classifier(self) -> Callable[[Prepared], torch.Tensor]:
        """From rows to probabilities, as things are now: the averaged weights', where there is an average."""
        return lambda rows: probabilities(self.judge.predictor(rows))

    def as_module(self) -> PlainNetwork | PlainPool:
        """What predicts, as a plain PyTorch module; a method that does not predict by its network has none."""
        if type(self).classifier is not Learner.classifier:
            raise ValueError(
                f"{type(self).__name__} does not predict by its network alone, which is all that can go out"
            )
        return plain_network(self.judge.predictor, self.spec, self.scale)

    def add_classes(self, n_classes: int) -> None:
        """Make room for classes first seen now."""
        with self.all_or_nothing():
            self.begin_batch()
            for model in self.models:
                model.add_classes(n_classes, self.rng)
            self.spec = replace(self.spec, n_classes=n_classes)
            self.finish_batch()

    def state_dict(self) -> dict[str, Any]:
        """All that the future depends on."""
        with self._lock:
            return state_of(self)

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on as the learner that gave this state would have, bit for bit; a state that does not fit is refused."""
        with self.all_or_nothing():
            load_state(self, Saved(state, "learner"))


def probabilities(logits: torch.Tensor) -> torch.Tensor:
    """Softmax, also of logits that a row of absurd size has driven beyond the largest number."""
    return logits.nan_to_num().softmax(dim=1)
