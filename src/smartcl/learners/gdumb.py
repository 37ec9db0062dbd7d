"""GDumb: keep a balanced memory, and learn only when asked, from scratch: the floor for any replay method.

Prabhu, Torr, Dokania, "GDumb: a simple approach that questions our progress in continual learning", ECCV 2020.
Ours has the optimizer and the constant rate of all learners; the paper's has SGD, a cosine rate and CutMix.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import ClassVar

import torch

from smartcl.data.batch import Batch
from smartcl.data.spec import InputSpec
from smartcl.learners.extra_columns import task_column
from smartcl.learners.learner import Labelled, Learner, probabilities
from smartcl.learners.method_settings import GDumbSettings
from smartcl.learners.model import Model
from smartcl.learners.weights import weighted_cross_entropy
from smartcl.memory import SampleStore
from smartcl.memory.schematic_memory import ExtraColumns
from smartcl.network.inputs import Prepared
from smartcl.selection.fair_shares import Balanced


class GDumb(Learner):
    """Observing only stores; the first prediction after a change of the memory trains a new network on it.

    Classes are balanced, or pairs of task and label if the batches have task ids. The new network depends on the
    memory and the state of the generator, which it copies: asking changes nothing, and is the same after a reload.

    >>> learner = gdumb(InputSpec(n_features=2, n_classes=2), "1kB", GDumbSettings(hidden=(8,), lr=0.1))
    >>> _ = learner.observe(Batch(torch.eye(2), torch.tensor([0, 1])))
    >>> learner.predict_proba(torch.eye(2)).argmax(dim=1)
    tensor([0, 1])
    """

    extra_dtypes: ClassVar[Mapping[str, str] | None] = None

    def __init__(self, spec: InputSpec, memory: str | int, settings: GDumbSettings, seed: int = 0) -> None:
        super().__init__(spec, memory, settings, Balanced(), whole=settings.whole, seed=seed)
        self.epochs = settings.epochs
        #: What was last trained, and on what: shared by all views of this learner.
        self._trained: dict[str, tuple[SampleStore, InputSpec, Model]] = {}

    def check(self, batch: Batch) -> Batch:
        batch = super().check(batch)
        had_tasks = "task" in self.memory.store.extra
        if len(self.memory) and had_tasks != (batch.task is not None):
            raise ValueError(f"task must be given with every batch or with none, got {batch.task} after others")
        return batch

    def extra_columns(self, batch: Batch) -> ExtraColumns:
        return {} if batch.task is None else {"task": task_column(batch)}

    def learn(self, new: Labelled, task: int | None) -> None:
        """Not now."""

    def classifier(self) -> Callable[[Prepared], torch.Tensor]:
        predictor = self.trained().predictor
        return lambda rows: probabilities(predictor(rows))

    def trained(self) -> Model:
        """A model trained on the memory as it is now; the same one until the memory changes."""
        store, spec = self.memory.store, self.spec
        last = self._trained.get("last")
        if last is None or last[0] is not store or last[1] != spec:
            last = self._trained["last"] = store, spec, self.train_from_scratch(store)
        return last[2]

    @torch.enable_grad()
    def train_from_scratch(self, store: SampleStore) -> Model:
        """A new network after ``epochs`` passes over these samples."""
        rng = deepcopy(self.rng)
        model = Model(self.spec, self.recipe, (), rng)
        with model.drawing(rng):
            for _ in range(self.epochs):
                order = rng.permutation(len(store))
                for start in range(0, len(order), self.recipe.replay):
                    samples = self.read_weighted(store, order[start : start + self.recipe.replay])
                    logits, weight = model.network(samples.rows), samples.weight
                    model.descend(weighted_cross_entropy(logits, samples.y, self.recipe.smoothing, weight))
        return model


def gdumb(spec: InputSpec, memory: str | int, settings: GDumbSettings, seed: int = 0) -> Learner:
    """A balanced memory, and a network trained on it when a prediction is asked for (Prabhu et al. 2020)."""
    return GDumb(spec, memory, settings, seed)
