"""SMART: schematic memory persistence and transience, on one screen.

Gao, Ascoli, Zhao, "Schematic memory persistence and transience for efficient and robust continual learning",
Neural Networks 2021. The objective is Eq. 1: ``loss + α·Ω_e + β·Ω_r``; the loop is ``Learner.observe``.
"""

from __future__ import annotations

from smartcl.data.spec import InputSpec
from smartcl.learners.learner import Learner
from smartcl.learners.method_settings import QuickSettings, SmartPaperSettings, SmartSettings, SmartTraining
from smartcl.learners.sceptic import Sceptic
from smartcl.regularizers.group_lasso import GroupLasso
from smartcl.regularizers.ncc import NCC
from smartcl.regularizers.regularizer import Regularizer
from smartcl.selection.fair_shares import FairReservoir
from smartcl.selection.gss_greedy import GSSGreedy
from smartcl.selection.trusted import Trusted


def objective(settings: SmartTraining) -> list[Regularizer]:
    """``α·Ω_e`` and ``β·Ω_r`` of Eq. 1."""
    return [GroupLasso(settings.alpha, settings.form), NCC(settings.beta)]


def smart(spec: InputSpec, memory: str | int, settings: SmartSettings, seed: int = 0) -> Learner:
    """One network by steps: a schematic memory with exact zeros that drops doubtful labels, averaged weights."""
    return schematic(Sceptic, spec, memory, settings, seed)


def smart_quick(spec: InputSpec, memory: str | int, settings: QuickSettings, seed: int = 0) -> Learner:
    """``smart`` with fewer steps on a smaller network: several times as fast, and a little less accurate."""
    return smart(spec, memory, settings, seed)


def schematic(
    kind: type[Sceptic], spec: InputSpec, memory: str | int, settings: SmartSettings, seed: int = 0
) -> Learner:
    """A sceptic of this kind, made of the parts that the settings name."""
    return kind(
        spec,
        memory,
        recipe=settings,
        selector=Trusted() if settings.trust else FairReservoir(),
        regularizers=objective(settings),
        whole=settings.whole,
        patience=settings.patience,
        precision=settings.precision,
        seed=seed,
    )


def smart_paper(spec: InputSpec, memory: str | int, settings: SmartPaperSettings, seed: int = 0) -> Learner:
    """The paper's: sub-gradient and threshold for Ω_e, NCC for Ω_r, GSS-Greedy, alternating steps; bytes counted."""
    return Learner(
        spec,
        memory,
        recipe=settings,
        selector=GSSGreedy(),
        regularizers=[GroupLasso(settings.alpha, "subgradient", settings.threshold), NCC(settings.beta)],
        patience=1,
        seed=seed,
    )
