"""One step of Adam on some tensors, and the diagonal metric in which it was a gradient step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import torch

Betas: TypeAlias = tuple[float, float]

#: More steps than any stream takes: a saved count beyond it is damage.
MOST_STEPS = 2**53


@dataclass(frozen=True)
class AdamConstants:
    """The step length, the decays of the two moments, and what keeps their ratio finite."""

    lr: float = 1e-3
    betas: Betas = (0.9, 0.999)
    eps: float = 1e-8


def adam_step_(
    weights: Sequence[torch.Tensor],
    gradients: Sequence[torch.Tensor],
    means: Sequence[torch.Tensor],
    squares: Sequence[torch.Tensor],
    before: int,
    constants: AdamConstants,
) -> None:
    """The step after ``before`` others, in place, on the weights and their two moments.

    Torch's fused kernel is called as it is: a ``torch.optim.Adam`` would be made anew for each copy of a network, and
    what its functions look up before each step takes as long as a third of the kernel.

    >>> weight, mean, square = torch.ones(2), torch.zeros(2), torch.zeros(2)
    >>> adam_step_([weight], [torch.tensor([1.0, -1.0])], [mean], [square], 0, AdamConstants(lr=0.5)); weight
    tensor([0.5000, 1.5000])
    """
    beta1, beta2 = constants.betas
    after = torch.tensor(before + 1.0)
    torch._fused_adam_(
        list(weights),
        list(gradients),
        list(means),
        list(squares),
        [],
        [after] * len(weights),
        lr=constants.lr,
        beta1=beta1,
        beta2=beta2,
        weight_decay=0.0,
        eps=constants.eps,
        amsgrad=False,
        maximize=False,
    )


def adam_metric(square: torch.Tensor, steps: int, constants: AdamConstants) -> torch.Tensor:
    """``(√v̂ + ε)/lr`` after ``steps`` steps: in this diagonal metric Adam's last step was a gradient step."""
    metric: torch.Tensor = (square / (1 - constants.betas[1] ** steps)).sqrt_()
    return metric.add_(constants.eps).div_(constants.lr)
