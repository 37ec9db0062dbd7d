"""Closed forms of the Adam steps that a row has missed: stale momentum, and the average that follows it.

Without a new gradient, Adam's step ``t = last + k`` moves a weight by ``lr · ρ^k · b(t) · m/√v``, where ``m`` and ``v``
are the moments at the last touch, ``ρ = β1/√β2`` and ``b(t) = √(1 − β2^t)/(1 − β1^t)``. Only ``b`` depends on when, so
a table over ``t`` makes the sum of any stretch of steps a difference of two entries.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

import torch

from smartcl.network.adam_step import AdamConstants, Betas

#: Steps between two readings of the weights by their average.
AVERAGE_EVERY = 4


@dataclass(frozen=True)
class RowSchedule(AdamConstants):
    """What happens to a row at each step: Adam's step, the shrinkage of its norm, the decay of its average."""

    shrink: float = 0.0
    average: float = 0.0


def fading(betas: Betas) -> float:
    """``ρ``: what is left of a push after one more step."""
    return betas[0] / math.sqrt(betas[1])


@cache
def pushes_ahead(betas: Betas) -> torch.Tensor:
    """``Σ_{k≥1} ρ^k b(t+k)`` for ``t = 0, 1, …``, as far as it changes; the last entry holds from there on."""
    rho, horizon = fading(betas), math.ceil(math.log(1e-12) / math.log(betas[1]))
    bias = (math.sqrt(1 - betas[1] ** t) / (1 - betas[0] ** t) for t in range(horizon, 0, -1))
    ahead = list(accumulate(bias, lambda later, b: rho * (b + later), initial=rho / (1 - rho)))
    return torch.tensor(ahead[::-1], dtype=torch.float64)


def pushes(last: torch.Tensor, now: int, betas: Betas) -> torch.Tensor:
    """``Σ_k ρ^k b(last+k)`` over the steps after ``last`` up to ``now``.

    >>> pushes(torch.tensor([3, 4, 5]), now=5, betas=(0.5, 0.99)).round(decimals=4)
    tensor([0.1641, 0.1148, 0.0000], dtype=torch.float64)
    """
    ahead = pushes_ahead(betas)
    end = len(ahead) - 1
    return ahead[last.clamp(max=end)] - fading(betas) ** (now - last).double() * ahead[min(now, end)]


def warm_decay(decay: float, step: int) -> float:
    """A moving average's decay, smaller while few steps lie behind it: the start is forgotten quickly.

    >>> warm_decay(0.999, 1), warm_decay(0.999, 1_000_000)
    (0.18181818181818182, 0.999)
    """
    return min(decay, (1 + step) / (10 + step))


def log_kept(decay: float, last: torch.Tensor, now: int) -> torch.Tensor:
    """The logarithm of the share an average keeps of itself from ``last`` to ``now``: ``Σ_t log warm_decay(t)``.

    While warm, ``Π (1+t)/(10+t)`` telescopes to nine factors.
    """
    warm = math.floor((10 * decay - 1) / (1 - decay))
    begin, end = last.clamp(max=warm).double(), min(now, warm)
    steady = (now - last.clamp(min=warm)).clamp(min=0).double() * math.log(decay)
    return steady + sum(((begin + j) / (end + j)).log() for j in range(2, 11))


def trails(
    decay: float, betas: Betas, last: torch.Tensor, now: int, fades_after: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """How an average follows weights that move while their row is idle.

    ``average ← kept·average + (1 − kept)·weight + momentum·path + shrinkage·direction``: it still remembers where
    stale momentum had not yet pushed (``path``: all of that push), and the length per step that the group lasso took
    since, until the row was gone (``fades_after`` steps). With ``d`` for one step's decay, the sums
    ``Σ_k (1−d) d^{s−k} (ρ^k − ρ^s)`` and ``Σ_k (1−d) d^{s−k} (s−k)`` over ``s`` steps.
    """
    missed, rho = (now - last).double(), fading(betas)
    log_share = log_kept(decay, last, now)
    kept = log_share.exp()
    d = torch.where(missed > 0, (log_share / missed.clamp(min=1)).exp(), 0.5)
    momentum = (1 - d) * rho * (kept - rho**missed) / (d - rho) - (1 - kept) * rho**missed
    alive = torch.minimum(missed, fades_after)
    shrinkage = d ** (missed - alive) * (d * (1 - d**alive) / (1 - d) - alive * d**alive)
    ahead = pushes_ahead(betas)
    return kept, momentum * ahead[last.clamp(max=len(ahead) - 1)], shrinkage
