"""Samples that do not all count the same: by a weight of their own, and by the weight of their class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import torch
import torch.nn.functional as F

from smartcl.learners.class_counts import ClassCounts
from smartcl.network.inputs import Prepared, narrowed, take_inputs

#: One weight per class, or ``"balanced"``: each class in inverse proportion to how often it has come; None: all alike.
ClassWeight: TypeAlias = tuple[float, ...] | str | None

#: Samples ready for the network, and their labels.
Labelled: TypeAlias = tuple[Prepared, torch.Tensor]


class Weighted(tuple[Prepared, torch.Tensor]):
    """Labelled samples with a weight each; whoever asks for rows and labels alone need not know."""

    weight: torch.Tensor

    def __new__(cls, rows: Prepared, y: torch.Tensor, weight: torch.Tensor) -> Weighted:
        made = super().__new__(cls, (rows, y))
        made.weight = weight
        return made


def weighted(labelled: Labelled, own: torch.Tensor | None, of_class: torch.Tensor | None) -> Labelled:
    """The samples with their own weights times those of their classes, where either is given."""
    rows, y = labelled
    if own is None and of_class is None:
        return labelled
    weight = torch.ones(len(y)) if own is None else own
    return Weighted(rows, y, weight if of_class is None else weight * of_class[y])


def take_samples(samples: Labelled, index: torch.Tensor) -> Labelled:
    """Some of the samples, with their weights if they have any."""
    rows, y = take_inputs(samples[0], index), samples[1][index]
    return Weighted(rows, y, samples.weight[index]) if isinstance(samples, Weighted) else (rows, y)


def narrowed_samples(samples: Labelled) -> Labelled:
    """The samples without the features that none of them has, where that saves work."""
    return weighted((narrowed(samples[0]), samples[1]), weight_of([samples]), None)


def weight_of(parts: Sequence[Labelled]) -> torch.Tensor | None:
    """The weights of all samples of the parts; None where all count the same."""
    if not any(isinstance(part, Weighted) for part in parts):
        return None
    return torch.cat([part.weight if isinstance(part, Weighted) else torch.ones(len(part[1])) for part in parts])


def weighted_mean(losses: torch.Tensor, weight: torch.Tensor | None) -> torch.Tensor:
    """The mean, each sample counting by its weight: a factor common to all weights changes nothing.

    >>> weighted_mean(torch.tensor([1.0, 5.0]), torch.tensor([3.0, 1.0]))
    tensor(2.)
    """
    return losses.mean() if weight is None else (weight * losses).sum() / weight.sum()


def weighted_cross_entropy(
    logits: torch.Tensor, y: torch.Tensor, smoothing: float, weight: torch.Tensor | None
) -> torch.Tensor:
    """The mean cross-entropy, each sample counting by its weight."""
    if weight is None:
        return F.cross_entropy(logits, y, label_smoothing=smoothing)
    return weighted_mean(F.cross_entropy(logits, y, label_smoothing=smoothing, reduction="none"), weight)


def class_weights(asked: ClassWeight, counts: ClassCounts) -> torch.Tensor | None:
    """The weight of each class; ``"balanced"`` is scikit-learn's ``n / (n_classes · n_of_class)`` of the stream so far.

    >>> import numpy as np
    >>> class_weights("balanced", ClassCounts.none(3).add(np.array([0, 0, 0, 1]))).tolist()
    [0.6666666865348816, 2.0, 1.0]
    """
    if asked is None:
        return None
    if isinstance(asked, tuple):
        return torch.tensor(asked)
    came = counts.seen > 0
    seen = torch.from_numpy(counts.seen).float()
    return torch.where(torch.from_numpy(came), counts.total / (int(came.sum()) * seen.clamp(min=1)), 1.0)
