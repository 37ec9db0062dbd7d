"""Who knows a class from a few samples: what it is like in the mean."""

from __future__ import annotations

from dataclasses import replace

import torch
import torch.nn.functional as F

from smartcl.network.inputs import NarrowInput, Prepared, SparseInput, input_products

#: Each class's mean is drawn to that of all as if so many samples more had been there; and no feature is taken to vary
#: less than this part of the one that varies most.
DRAWN_BY, LEAST_VARIANCE = 2.0, 0.01


def between_means(
    rows: Prepared, y: torch.Tensor, log_rate: torch.Tensor, n_features: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Weights and biases of the line between the classes' means, by Bayes' rule.

    Classes are taken for clouds of the same width in each feature, which come as often as ``log_rate`` says. A line
    that descends needs as many samples as features; a mean is known from few (Ng & Jordan 2001).

    >>> x, y = torch.tensor([[0.0, 1.0], [0.0, -1.0], [2.0, 1.0], [2.0, -1.0]]), torch.tensor([0, 0, 1, 1])
    >>> weight, bias = between_means(x, y, torch.zeros(2), n_features=2)
    >>> (torch.tensor([[0.5, 0.0], [1.5, 0.0]]) @ weight + bias).argmax(dim=1)
    tensor([0, 1])
    """
    member = F.one_hot(y, len(log_rate)).float()
    counts = member.sum(dim=0).double()
    sums = input_products(rows, member, n_features).double()
    squares = input_products(squared(rows), member.sum(dim=1, keepdim=True), n_features)[:, 0].double()
    centre = sums.sum(dim=1, keepdim=True) / len(y)
    apart = (sums - counts * centre) / (counts + DRAWN_BY)
    mean = centre + apart
    variance = (squares - (mean * (2 * sums - counts * mean)).sum(dim=1)).clamp_min(0.0) / len(y)
    least = max(LEAST_VARIANCE * float(variance.max()), torch.finfo(torch.float32).tiny)
    weight = apart / variance.clamp_min(least)[:, None]
    bias = log_rate.double() - (weight * (centre + apart / 2)).sum(dim=0)
    return weight.float(), bias.float()


def squared(rows: Prepared) -> Prepared:
    """The same rows with every value squared."""
    match rows:
        case torch.Tensor():
            return rows.square()
        case NarrowInput(values, features):
            return NarrowInput(values.square(), features)
        case SparseInput(values=values):
            return replace(rows, values=values.square())
