"""Who knows a class from a few samples: what it is like in the mean."""

from __future__ import annotations

import torch
import torch.nn.functional as F

#: Each class's mean is drawn to that of all as if so many samples more had been there; and no feature is taken to vary
#: less than this part of the one that varies most.
DRAWN_BY, LEAST_VARIANCE = 2.0, 0.01


def between_means(x: torch.Tensor, y: torch.Tensor, log_rate: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Weights and biases of the line between the classes' means, by Bayes' rule.

    Classes are taken for clouds of the same width in each feature, which come as often as ``log_rate`` says. A line
    that descends needs as many samples as features; a mean is known from few (Ng & Jordan 2001).

    >>> x, y = torch.tensor([[0.0, 1.0], [0.0, -1.0], [2.0, 1.0], [2.0, -1.0]]), torch.tensor([0, 0, 1, 1])
    >>> weight, bias = between_means(x, y, torch.zeros(2))
    >>> (torch.tensor([[0.5, 0.0], [1.5, 0.0]]) @ weight + bias).argmax(dim=1)
    tensor([0, 1])
    """
    member = F.one_hot(y, len(log_rate)).to(x.dtype)
    counts, centre = member.sum(dim=0)[:, None], x.mean(dim=0)
    apart = (member.T @ x - counts * centre) / (counts + DRAWN_BY)
    variance = (x - centre - apart[y]).square().mean(dim=0)
    weight = apart / variance.clamp_min(max(LEAST_VARIANCE * float(variance.max()), torch.finfo(x.dtype).tiny))
    bias = log_rate - weight @ centre - (weight * apart).sum(dim=1) / 2
    return weight.T, bias
