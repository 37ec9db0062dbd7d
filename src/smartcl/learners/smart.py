"""SMART: schematic memory persistence and transience, on one screen.

Gao, Ascoli, Zhao, "Schematic memory persistence and transience for efficient and robust continual learning",
Neural Networks 2021. The objective is Eq. 1: ``loss + α·Ω_e + β·Ω_r``; the loop is ``Learner.observe``.
"""

from __future__ import annotations

from smartcl.data.spec import InputSpec
from smartcl.learners.learner import Learner
from smartcl.learners.recipe import Recipe
from smartcl.learners.sceptic import Sceptic, Scepticism
from smartcl.regularizers.group_lasso import GroupLasso
from smartcl.regularizers.ncc import NCC
from smartcl.selection.gss_greedy import GSSGreedy
from smartcl.selection.reservoir import Reservoir
from smartcl.selection.trusted import Trusted


def smart(
    spec: InputSpec,
    memory: str | int,
    seed: int = 0,
    *,
    hidden: tuple[int, ...] = (400, 400),
    lr: float = 3e-4,
    iterations: int = 20,
    replay: int = 300,
    average: float = 0.995,
    smoothing: float = 0.1,
    dropout: float = 0.3,
    robust: float = 0.7,
    distill: float = 3.0,
    trust: bool = True,
    alpha: float = 1e-4,
    form: str = "exact",
    beta: float = 0.0,
    patience: int = 3,
    whole: bool = False,
) -> Learner:
    """Our best: a schematic memory with exact zeros that drops doubtful labels, a joint step, averaged weights."""
    return Sceptic(
        spec,
        memory,
        Recipe(hidden, lr, iterations, replay, joint=True, average=average, smoothing=smoothing),
        selector=Trusted() if trust else Reservoir(),
        regularizers=[GroupLasso(alpha, form), NCC(beta)],
        whole=whole,
        patience=patience,
        seed=seed,
        scepticism=Scepticism(dropout, robust, distill),
    )


def smart_paper(
    spec: InputSpec,
    memory: str | int,
    seed: int = 0,
    *,
    hidden: tuple[int, ...] = (400, 400),
    lr: float = 1e-4,
    iterations: int = 100,
    replay: int = 50,
    alpha: float = 0.0005,
    beta: float = 0.001,
    threshold: float = 1e-4,
) -> Learner:
    """The paper's: sub-gradient and threshold for Ω_e, NCC for Ω_r, GSS-Greedy, alternating steps; bytes counted."""
    return Learner(
        spec,
        memory,
        Recipe(hidden, lr, iterations, replay, joint=False),
        selector=GSSGreedy(),
        regularizers=[GroupLasso(alpha, form="subgradient", threshold=threshold), NCC(beta)],
        patience=1,
        seed=seed,
    )
