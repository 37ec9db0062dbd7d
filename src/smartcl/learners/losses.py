"""Losses for labels that may be wrong, as functions of log-probabilities."""

from __future__ import annotations

import torch

#: Below this exponent the robust loss is the cross-entropy to float precision.
SMALLEST_EXPONENT = 1e-3


def robust_cross_entropy(
    log_probabilities: torch.Tensor, y: torch.Tensor, exponent: float, smoothing: float = 0.0
) -> torch.Tensor:
    """``(1 − p_y^q)/q``: the cross-entropy at ``q = 0``, the mean absolute error at ``q = 1``.

    Between the two, samples the network contradicts pull less (Zhang & Sabuncu, "Generalized cross entropy loss",
    NeurIPS 2018). With ``smoothing``, that share of the label is spread evenly over all classes.

    >>> log_p = torch.tensor([[0.25, 0.75]]).log()
    >>> robust_cross_entropy(log_p, torch.tensor([0]), exponent=1.0)
    tensor(0.7500)
    """
    if exponent < SMALLEST_EXPONENT:
        losses = -log_probabilities
    else:
        losses = (1 - torch.exp(exponent * log_probabilities)) / exponent
    chosen = losses.gather(1, y[:, None])[:, 0]
    return ((1 - smoothing) * chosen + smoothing * losses.mean(dim=1)).mean()


def confident_distillation(log_probabilities: torch.Tensor, teacher: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Cross-entropy to a teacher's probabilities, where it is sure of the label: weighted by ``max(0, 2·p_y − 1)``.

    On a sample that the teacher does not know yet, or whose label it contradicts, it has nothing to say.

    >>> log_p = torch.tensor([[0.5, 0.5], [0.5, 0.5]]).log()
    >>> confident_distillation(log_p, torch.tensor([[1.0, 0.0], [0.5, 0.5]]), torch.tensor([0, 0]))
    tensor(0.3466)
    """
    trust = (2 * teacher.gather(1, y[:, None])[:, 0] - 1).clamp(min=0)
    return -(trust * (teacher * log_probabilities).sum(dim=1)).mean()
