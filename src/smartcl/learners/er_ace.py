"""ER-ACE: new samples push only against the classes that came with them.

Caccia, Aljundi, Asadi, Tuytelaars, Pineau, Belilovsky, "New insights on reducing abrupt representation change in
online continual learning", ICLR 2022.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F

from smartcl.data.spec import InputSpec
from smartcl.learners.learner import Labelled, Learner
from smartcl.learners.method_settings import ReplaySettings
from smartcl.learners.weights import weight_of, weighted_mean
from smartcl.selection.reservoir import Reservoir


def present_cross_entropy(
    logits: torch.Tensor, y: torch.Tensor, smoothing: float = 0.0, reduction: str = "mean"
) -> torch.Tensor:
    """Cross-entropy in which only the classes that occur in ``y`` compete.

    >>> logits = torch.tensor([[0.0, 9.0, 0.0], [0.0, 9.0, 0.0]])
    >>> present_cross_entropy(logits, torch.tensor([0, 2]))
    tensor(0.6931)
    """
    present, positions = torch.unique(y, return_inverse=True)
    return F.cross_entropy(logits[:, present], positions, label_smoothing=smoothing, reduction=reduction)


class ERACE(Learner):
    """Experience replay with an asymmetric cross-entropy: all classes compete on replayed samples alone.

    The mean is over all samples of the step, as in experience replay; the two are the same where every batch holds
    every class, as in a two-label stream.
    """

    def train_step(self, new: Labelled, replay: Labelled | None) -> None:
        if replay is None or not self.recipe.joint:
            self.model.descend(self.new_loss(new))
            if replay is not None:
                self.model.descend(self.loss([replay]))
        else:
            self.model.descend(self.asymmetric_loss(new, replay))

    def new_loss(self, new: Labelled) -> torch.Tensor:
        """Of new samples alone."""
        rows, y, weight = new
        losses = present_cross_entropy(self.model.network(rows), y, self.recipe.smoothing, reduction="none")
        return weighted_mean(losses, weight)

    def asymmetric_loss(self, new: Labelled, replay: Labelled) -> torch.Tensor:
        """Of new and replayed samples, in one pass."""
        (rows, y, _), (again, y_again, _) = new, replay
        logits, smoothing = self.model.network(rows, again), self.recipe.smoothing
        fresh = present_cross_entropy(logits[: len(y)], y, smoothing, reduction="none")
        replayed = F.cross_entropy(logits[len(y) :], y_again, label_smoothing=smoothing, reduction="none")
        return weighted_mean(torch.cat([fresh, replayed]), weight_of([new, replay]))


def er_ace(spec: InputSpec, memory: str | int, settings: ReplaySettings, seed: int = 0) -> Learner:
    """Experience replay with an asymmetric cross-entropy (Caccia et al. 2022)."""
    return ERACE(spec, memory, settings, Reservoir(), whole=settings.whole, seed=seed)
