"""iCaRL: herded exemplars, distillation of what was known about them, prediction by the nearest class mean.

Rebuffi, Kolesnikov, Sperl, Lampert, "iCaRL: incremental classifier and representation learning", CVPR 2017. A class is
a pair of task and label: each has an output of its own from its first sample on, and a prediction is read as the
label of the nearest class.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import torch
import torch.nn.functional as F

from smartcl.data.batch import Batch, Ints
from smartcl.data.spec import InputSpec
from smartcl.learners.extra_columns import MAX_TASK, logits_column, of_other_tasks, task_column, widen_logits
from smartcl.learners.learner import Labelled, Learner
from smartcl.learners.learner_state import MOST_CLASSES
from smartcl.learners.method_settings import ICaRLSettings
from smartcl.memory.schematic_memory import ExtraColumns, Observation
from smartcl.network.inputs import Prepared
from smartcl.saving.saved import Saved
from smartcl.selection.fair_shares import positions_by
from smartcl.selection.herding import Herding, as_measured


def distillation(logits: torch.Tensor, stored: torch.Tensor) -> torch.Tensor:
    """The mean cross-entropy of the answers with the stored ones, over the classes known then (−∞: not known).

    >>> stored = torch.tensor([[0.0, 0.0, -torch.inf]])
    >>> distillation(torch.tensor([[1.0, 1.0, 9.0]]), stored)
    tensor(0.6931)
    """
    unknown = stored.isneginf()
    target = stored.softmax(dim=1)
    answer = logits[:, : stored.shape[1]].masked_fill(unknown, -torch.inf).log_softmax(dim=1)
    return -(target * answer.masked_fill(unknown, 0.0)).sum(dim=1).mean()


def nearest_mean(features: torch.Tensor, means: torch.Tensor, labels: torch.Tensor, n_labels: int) -> torch.Tensor:
    """Probabilities by the distance to the nearest mean of each label: ``softmax(−d²)``, 0 for a label without one.

    >>> means, labels = torch.tensor([[0.0], [5.0], [1.0]]), torch.tensor([0, 0, 1])
    >>> nearest_mean(torch.tensor([[4.0], [1.0]]), means, labels, n_labels=3).argmax(dim=1)
    tensor([0, 1])
    """
    distances = torch.cdist(features, means).square()
    nearest = distances.new_full((len(features), n_labels), torch.inf)
    nearest.scatter_reduce_(1, labels.expand_as(distances), distances, "amin")
    return nearest.neg().softmax(dim=1)


class ICaRL(Learner):
    """Cross-entropy on new samples, distillation on exemplars of other tasks, the nearest class mean for an answer.

    When a task ends, its exemplars are herded from all of its samples. Until then, and in a stream that never says
    so, they are herded from those stored and each new batch: the memory is never without the current task. ``layer``
    says between which features distances are taken; see ``Herding``.

    >>> learner = icarl(InputSpec(n_features=2, n_classes=2), "1kB", ICaRLSettings(hidden=(8,)))
    >>> for task in (0, 1):
    ...     _ = learner.observe(Batch(torch.eye(2) + task, torch.tensor([0, 1]), task))
    >>> learner.classes, learner.predict_proba(torch.eye(2) + 1).argmax(dim=1)
    (((0, 0), (0, 1), (1, 0), (1, 1)), tensor([0, 1]))
    """

    extra_dtypes: ClassVar[Mapping[str, str] | None] = {"task": "uint16", "logits": "float16"}

    def __init__(self, spec: InputSpec, memory: str | int, settings: ICaRLSettings, seed: int = 0) -> None:
        selector = Herding(settings.layer)
        super().__init__(replace(spec, n_classes=1), memory, settings, selector, whole=settings.whole, seed=seed)
        self.spec = spec
        self.strength, self.layer = settings.strength, settings.layer
        #: The task and label of each output, in the order they were first seen.
        self.classes: tuple[tuple[int, int], ...] = ()

    def extra_columns(self, batch: Batch) -> ExtraColumns:
        task = task_column(batch)
        known, to_come = len(self.classes), len(self.classes_with(batch.task, batch.y))
        with torch.no_grad():
            logits = self.model.network(self.prepared(batch.x))[:, :known]
        return {"task": task, "logits": logits_column(logits, to_come)}

    def classes_with(self, task: int | None, y: torch.Tensor) -> tuple[tuple[int, int], ...]:
        """The classes known, and those of these samples."""
        assert task is not None
        return tuple(dict.fromkeys([*self.classes, *((task, label) for label in y.tolist())]))

    def meet(self, task: int | None, y: torch.Tensor) -> None:
        """Give classes first seen now an output."""
        classes = self.classes_with(task, y)
        if len(classes) > len(self.classes):
            self.classes = classes
            if len(classes) > self.model.network.n_outputs:
                self.model.add_classes(len(classes), self.rng)

    def learn(self, new: Labelled, task: int | None) -> None:
        assert task is not None, "check() has refused the batch"
        self.meet(task, new.y)
        by_output = new._replace(y=torch.tensor([self.classes.index((task, label)) for label in new.y.tolist()]))
        past = of_other_tasks(self.memory.store, task)
        count = min(self.recipe.replay, len(past))
        for _ in range(self.recipe.iterations):
            drawn = self.rng.choice(past, count, replace=False) if count else None
            self.model.descend(self.loss([by_output]) if drawn is None else self.full_loss(by_output, drawn))

    def full_loss(self, new: Labelled, index: Ints) -> torch.Tensor:
        """Cross-entropy on the new samples, and distillation on these exemplars."""
        store, (rows, outputs, _) = self.memory.store, new
        logits = self.model.network(rows, self.read_weighted(store, index).rows)
        stored = torch.from_numpy(store.extra["logits"][index]).float()
        fresh = F.cross_entropy(logits[: len(outputs)], outputs, label_smoothing=self.recipe.smoothing)
        return fresh + self.strength * distillation(logits[len(outputs) :], stored)

    def remember(self, batch: Batch) -> Observation:
        self.memory.store = widen_logits(self.memory.store, len(self.classes))
        return super().remember(batch)

    def end_task(self, data: Batch) -> Observation:
        """Choose the task's exemplars anew, from all its samples."""
        with self.all_or_nothing():
            data = self.check(data)
            self.begin_batch()
            self.meet(data.task, data.y)
            others = of_other_tasks(self.memory.store, data.task)
            self.memory.store = self.memory.store.take(others)
            chosen = self.remember(data)
            self.finish_batch()
        return Observation(others[chosen.kept], chosen.stored)

    def classifier(self) -> Callable[[Prepared], torch.Tensor]:
        n_labels = self.spec.n_classes
        if not len(self.memory):
            return lambda rows: torch.full((len(rows), n_labels), 1 / n_labels)
        means, labels = self.class_means()
        return lambda rows: nearest_mean(self.features(rows), means, labels, n_labels)

    @torch.no_grad()
    def class_means(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The mean feature of each class's exemplars, and its label."""
        store = self.memory.store
        tasks, labels = store.extra["task"].astype(np.int64), store.labels.astype(np.int64)
        members = positions_by(tasks * self.spec.n_classes + labels)
        means = torch.stack([self.features(self.read_weighted(store, index)[0]).mean(dim=0) for index in members])
        return as_measured(means, self.layer), torch.from_numpy(labels[[index[0] for index in members]])

    def features(self, rows: Prepared) -> torch.Tensor:
        """What distances are taken between."""
        return as_measured(self.model.predictor.features(rows, self.layer), self.layer)

    def add_classes(self, n_classes: int) -> None:
        """More labels are possible; each gets its outputs when it is seen."""
        with self.all_or_nothing():
            self.spec = replace(self.spec, n_classes=n_classes)
            self.finish_batch()

    def state_dict(self) -> dict[str, Any]:
        return {**super().state_dict(), "classes": [list(pair) for pair in self.classes]}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        classes = self._saved_classes(Saved(state, "learner"))
        with self.all_or_nothing():
            self.begin_batch()
            if len(classes) > self.model.network.n_outputs:
                self.model.add_classes(len(classes), self.rng)
            self.classes = classes
            self.finish_batch()
            super().load_state_dict(state)

    def _saved_classes(self, saved: Saved) -> tuple[tuple[int, int], ...]:
        n_labels, pairs = saved.whole("n_classes", 1, MOST_CLASSES), saved.items("classes")
        classes = []
        for pair in pairs:
            if not (isinstance(pair, list | tuple) and len(pair) == 2 and all(type(number) is int for number in pair)):
                saved.refuse("classes", "must be pairs of a task and a label")
            task, label = pair
            if not (0 <= task <= MAX_TASK and 0 <= label < n_labels):
                saved.refuse("classes", f"must be tasks up to {MAX_TASK} and labels below {n_labels}")
            classes.append((task, label))
        if len(set(classes)) < len(classes):
            saved.refuse("classes", "must name each class once")
        return tuple(classes)


def icarl(spec: InputSpec, memory: str | int, settings: ICaRLSettings, seed: int = 0) -> Learner:
    """Herded exemplars, distilled, and the nearest class mean (Rebuffi et al. 2017)."""
    return ICaRL(spec, memory, settings, seed)
