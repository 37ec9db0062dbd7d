"""DER++: replayed samples are to get the answers they once got, and the right ones.

Buzzega, Boschini, Porrello, Abati, Calderara, "Dark experience for general continual learning: a strong, simple
baseline", NeurIPS 2020.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, NamedTuple

import torch
import torch.nn.functional as F

from smartcl.data.batch import Batch, Ints
from smartcl.data.spec import InputSpec
from smartcl.learners.extra_columns import logits_column, widen_logits
from smartcl.learners.learner import Labelled, Learner
from smartcl.learners.method_settings import DERSettings
from smartcl.learners.weights import weighted_cross_entropy
from smartcl.memory.schematic_memory import ExtraColumns, Observation
from smartcl.network.inputs import Prepared
from smartcl.selection.reservoir import Reservoir

#: Logits are stored at half precision.
LARGEST = torch.finfo(torch.float16).max


def dark_distance(logits: torch.Tensor, stored: torch.Tensor) -> torch.Tensor:
    """The mean squared distance to the stored logits, over the classes known then (−∞: not known).

    Beyond the numbers that stored logits can be, no distance grows any more.

    >>> dark_distance(torch.tensor([[1.0, 2.0, 9.0]]), torch.tensor([[0.0, 0.0, -torch.inf]]))
    tensor(2.5000)
    """
    known = ~stored.isneginf()
    return F.mse_loss(logits[:, : stored.shape[1]][known].clamp(-LARGEST, LARGEST), stored[known])


class Dark(NamedTuple):
    """Stored samples, and the logits they got when they were stored."""

    rows: Prepared
    logits: torch.Tensor


class StoredLogits(Learner):
    """A learner that stores the logits each sample got when it was stored, at half precision and charged."""

    extra_dtypes: ClassVar[Mapping[str, str] | None] = {"logits": "float16"}

    def extra_columns(self, batch: Batch) -> ExtraColumns:
        with torch.no_grad():
            logits = self.model.network(self.prepared(batch.x))
        return {"logits": logits_column(logits, self.spec.n_classes)}

    def remember(self, batch: Batch) -> Observation:
        self.memory.store = widen_logits(self.memory.store, self.spec.n_classes)
        return super().remember(batch)

    def draw_dark(self, count: int) -> Dark:
        """``count`` stored samples, drawn without replacement."""
        store = self.memory.store
        index = self.rng.choice(len(store), count, replace=False)
        return Dark(self.read_weighted(store, index)[0], self.stored_logits(index))

    def stored_logits(self, index: Ints) -> torch.Tensor:
        """What these stored samples were once answered."""
        return torch.from_numpy(self.memory.store.extra["logits"][index]).float()


class DERpp(StoredLogits):
    """``loss(new) + α·‖logits − stored logits‖² + β·loss(replayed)``, the last two on draws of their own."""

    def __init__(self, spec: InputSpec, memory: str | int, settings: DERSettings, seed: int = 0) -> None:
        super().__init__(spec, memory, settings, Reservoir(), whole=settings.whole, seed=seed)
        self.alpha, self.beta = settings.alpha, settings.beta

    def learn(self, new: Labelled, task: int | None) -> None:
        replays, others = self.draw_steps(), self.draw_steps()
        stored = zip(self.read_steps(replays), self.read_steps(others), others, strict=True)
        for replay, again, index in stored:
            if replay is None or again is None:
                self.model.descend(self.loss([new]))
            else:
                self.model.descend(self.dark_loss(new, replay, Dark(again[0], self.stored_logits(index))))

    def dark_loss(self, new: Labelled, replay: Labelled, dark: Dark) -> torch.Tensor:
        """All three terms, in one pass."""
        (rows, y, weight), (again, y_again, weight_again) = new, replay
        logits = self.model.network(rows, again, dark.rows).split([len(y), len(y_again), len(dark.logits)])
        smoothing = self.recipe.smoothing
        fresh = weighted_cross_entropy(logits[0], y, smoothing, weight)
        replayed = weighted_cross_entropy(logits[1], y_again, smoothing, weight_again)
        return fresh + self.beta * replayed + self.alpha * dark_distance(logits[2], dark.logits)


def derpp(spec: InputSpec, memory: str | int, settings: DERSettings, seed: int = 0) -> Learner:
    """Replay with stored logits and labels from a reservoir (Buzzega et al. 2020)."""
    return DERpp(spec, memory, settings, seed)
