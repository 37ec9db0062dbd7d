"""Losses for labels that may be wrong, as functions of log-probabilities."""

from __future__ import annotations

import math

import torch

from smartcl.learners.weights import weighted_mean

#: Below this exponent the robust loss is the cross-entropy to float precision.
SMALLEST_EXPONENT = 1e-3


#: What is left, on average, of the pull of a class's samples, however little the network believes them.
LEAST_PULL = 0.1


def robust_cross_entropy(
    log_probabilities: torch.Tensor,
    y: torch.Tensor,
    exponent: float | torch.Tensor,
    smoothing: float = 0.0,
    among: torch.Tensor | None = None,
    weight: torch.Tensor | None = None,
) -> torch.Tensor:
    """``(1 − p_y^q)/q``: the cross-entropy at ``q = 0``, the mean absolute error at ``q = 1``.

    Between the two, samples the network contradicts pull less, by ``p_y^q`` (Zhang & Sabuncu, "Generalized cross
    entropy loss", NeurIPS 2018). The exponent is one for all, or a column with one for each sample. With ``smoothing``,
    that share of the label is spread evenly over all classes, or by how much each counts for the sample (``among``, as
    a logarithm). Each sample counts by its ``weight``.

    >>> log_p = torch.tensor([[0.25, 0.75]]).log()
    >>> robust_cross_entropy(log_p, torch.tensor([0]), exponent=1.0)
    tensor(0.7500)
    """
    if not isinstance(exponent, torch.Tensor) and exponent < SMALLEST_EXPONENT:
        losses = -log_probabilities
    else:
        losses = (1 - torch.exp(exponent * log_probabilities)) / exponent
    chosen = losses.gather(1, y[:, None])[:, 0]
    spread = losses.mean(dim=1) if among is None else (among.softmax(dim=1) * losses).sum(dim=1)
    return weighted_mean((1 - smoothing) * chosen + smoothing * spread, weight)


def exponents(log_probabilities: torch.Tensor, y: torch.Tensor, exponent: float) -> torch.Tensor | float:
    """The exponent for all, or for each sample: less than the one given where a class is not believed at all.

    Wrong labels are contradicted one by one, among others of their class that are believed. A class contradicted as a
    whole is one that is not known yet: its exponent is as small as it must be to learn it.

    >>> log_p = torch.tensor([[0.5, 0.5], [1e-6, 1.0], [1.0, 1e-6]]).log()
    >>> exponents(log_p, torch.tensor([0, 0, 1]), 0.7).ravel()
    tensor([0.7000, 0.7000, 0.1667])
    """
    own = log_probabilities.detach().gather(1, y[:, None])[:, 0]
    count = torch.bincount(y, minlength=log_probabilities.shape[1])
    pull = own.new_zeros(len(count)).index_add_(0, y, (exponent * own).exp())
    believed = pull >= LEAST_PULL * count
    if exponent < SMALLEST_EXPONENT or bool(believed.all()):
        return exponent
    mean = own.new_zeros(len(count)).index_add_(0, y, own) / count.clamp(min=1)
    enough = (math.log(LEAST_PULL) / mean.clamp(max=-1e-6)).clamp(SMALLEST_EXPONENT, exponent)
    return torch.where(believed, exponent, enough)[y][:, None]


def confident_distillation(
    log_probabilities: torch.Tensor, teacher: torch.Tensor, y: torch.Tensor, weight: torch.Tensor | None = None
) -> torch.Tensor:
    """Cross-entropy to a teacher's probabilities, where it is sure of the label: weighted by ``max(0, 2·p_y − 1)``.

    On a sample that the teacher does not know yet, or whose label it contradicts, it has nothing to say.

    >>> log_p = torch.tensor([[0.5, 0.5], [0.5, 0.5]]).log()
    >>> confident_distillation(log_p, torch.tensor([[1.0, 0.0], [0.5, 0.5]]), torch.tensor([0, 0]))
    tensor(0.3466)
    """
    trust = (2 * teacher.gather(1, y[:, None])[:, 0] - 1).clamp(min=0)
    return -weighted_mean(trust * (teacher * log_probabilities).sum(dim=1), weight)
