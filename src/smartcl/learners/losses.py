"""Losses for labels that may be wrong, as their slopes: training needs the slope alone."""

from __future__ import annotations

import math

import torch

#: Below this exponent the robust loss is the cross-entropy to float precision.
SMALLEST_EXPONENT = 1e-3

#: What is left, on average, of the pull of a class's samples, however little the network believes them.
LEAST_PULL = 0.1


def targets(y: torch.Tensor, n_classes: int, smoothing: float, among: torch.Tensor | None = None) -> torch.Tensor:
    """One row of shares per label: of each, the ``smoothing`` part is spread over all classes.

    Evenly, or by how much each counts for the sample (``among``, as a logarithm).

    >>> targets(torch.tensor([1, 0]), 2, 0.1)
    tensor([[0.0500, 0.9500],
            [0.9500, 0.0500]])
    """
    certain = (1 - smoothing) * torch.eye(n_classes)
    if among is None:
        return certain.add_(smoothing / n_classes).index_select(0, y)
    return certain.index_select(0, y).add_(among.softmax(dim=1), alpha=smoothing)


def robust_slope(
    log_probabilities: torch.Tensor,
    target: torch.Tensor,
    exponent: float | torch.Tensor,
    weight: torch.Tensor | None = None,
) -> torch.Tensor:
    """By log-probability, the slope of the mean of ``Σ_k target_k·(1 − p_k^q)/q``: ``−target_k·p_k^q`` over n.

    The loss is the cross-entropy at ``q = 0``, the mean absolute error at ``q = 1``. Between the two, samples the
    network contradicts pull less (Zhang & Sabuncu, "Generalized cross entropy loss", NeurIPS 2018). The exponent is
    one for all, or a column with one for each sample. Each sample counts by its ``weight``.

    >>> log_p = torch.tensor([[0.25, 0.75]]).log()
    >>> robust_slope(log_p, torch.tensor([[1.0, 0.0]]), exponent=0.5)
    tensor([[-0.5000, -0.0000]])
    """
    pull = target * shares(len(target), weight)
    if isinstance(exponent, torch.Tensor) or exponent >= SMALLEST_EXPONENT:
        pull *= (exponent * log_probabilities).exp_()
    return pull.neg_()


def exponents(log_probabilities: torch.Tensor, y: torch.Tensor, exponent: float) -> torch.Tensor | float:
    """The exponent for all, or for each sample: less than the one given where a class is not believed at all.

    Wrong labels are contradicted one by one, among others of their class that are believed. A class contradicted as a
    whole is one that is not known yet: its exponent is as small as it must be to learn it.

    >>> log_p = torch.tensor([[0.5, 0.5], [1e-6, 1.0], [1.0, 1e-6]]).log()
    >>> exponents(log_p, torch.tensor([0, 0, 1]), 0.7).ravel()
    tensor([0.7000, 0.7000, 0.1667])
    """
    if exponent < SMALLEST_EXPONENT:
        return exponent
    own = log_probabilities.gather(1, y[:, None])[:, 0]
    count = torch.bincount(y, minlength=log_probabilities.shape[1])
    pull = own.new_zeros(len(count)).index_add_(0, y, (exponent * own).exp_())
    believed = pull >= LEAST_PULL * count
    if bool(believed.all()):
        return exponent
    mean = own.new_zeros(len(count)).index_add_(0, y, own) / count.clamp(min=1)
    enough = (math.log(LEAST_PULL) / mean.clamp(max=-1e-6)).clamp(SMALLEST_EXPONENT, exponent)
    return torch.where(believed, exponent, enough)[y][:, None]


def lessons(teacher: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """A teacher's probabilities as far as it is sure of the label: times ``max(0, 2·p_y − 1)``.

    A sample that the teacher does not know yet, or whose label it contradicts, gets no lesson.

    >>> lessons(torch.tensor([[1.0, 0.0], [0.5, 0.5]]), torch.tensor([0, 0]))
    tensor([[1., 0.],
            [0., 0.]])
    """
    return teacher * (2 * teacher.gather(1, y[:, None]) - 1).clamp_(min=0)


def lesson_slope(lesson: torch.Tensor, weight: torch.Tensor | None = None) -> torch.Tensor:
    """By log-probability, the slope of the mean cross-entropy to the lessons: it is the same whatever they are."""
    return (lesson * shares(len(lesson), weight)).neg_()


def by_logit(slope: torch.Tensor, log_probabilities: torch.Tensor) -> torch.Tensor:
    """A slope by log-probability, which it takes over, as one by logit."""
    total = slope.sum(dim=1, keepdim=True)
    return slope.addcmul_(log_probabilities.exp(), total, value=-1)


def shares(n: int, weight: torch.Tensor | None) -> torch.Tensor | float:
    """How much each sample counts in the mean of n, by its weight: a factor common to all weights changes nothing."""
    return 1 / n if weight is None else (weight / weight.sum())[:, None]
