"""Samples that do not all count the same: by a weight of their own, and by the weight of their class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import torch
import torch.nn.functional as F

from smartcl.learners.class_counts import ClassCounts
from smartcl.network.inputs import Prepared, narrowed, take_inputs

#: One weight per class, or ``"balanced"``: each class in inverse proportion to how often it has come; None: all alike.
ClassWeight: TypeAlias = tuple[float, ...] | str | None


class Labelled(NamedTuple):
    """Samples ready for the network, their labels, and how much each counts; None: all alike."""

    rows: Prepared
    y: torch.Tensor
    weight: torch.Tensor | None = None


def weighted(samples: Labelled, own: torch.Tensor | None, of_class: torch.Tensor | None) -> Labelled:
    """The samples with their own weights times those of their classes, where either is given."""
    if own is None and of_class is None:
        return samples
    weight = torch.ones(len(samples.y)) if own is None else own
    return samples._replace(weight=weight if of_class is None else weight * of_class[samples.y])


def take_samples(samples: Labelled, index: torch.Tensor) -> Labelled:
    """Some of the samples, with their weights if they have any."""
    weight = None if samples.weight is None else samples.weight[index]
    return Labelled(take_inputs(samples.rows, index), samples.y[index], weight)


def narrowed_samples(samples: Labelled) -> Labelled:
    """The samples without the features that none of them has, where that saves work."""
    return samples._replace(rows=narrowed(samples.rows))


def weight_of(parts: Sequence[Labelled]) -> torch.Tensor | None:
    """The weights of all samples of the parts; None where all count the same."""
    if all(part.weight is None for part in parts):
        return None
    return torch.cat([torch.ones(len(part.y)) if part.weight is None else part.weight for part in parts])


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
