"""SMART: schematic memory persistence and transience, on one screen.

Gao, Ascoli, Zhao, "Schematic memory persistence and transience for efficient and robust continual learning",
Neural Networks 2021. The objective is Eq. 1: ``loss + α·Ω_e + β·Ω_r``; the loop is ``Learner.observe``.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from smartcl.data.spec import InputSpec
from smartcl.learners.factory import Method
from smartcl.learners.learner import Learner
from smartcl.learners.recipe import Training
from smartcl.learners.sceptic import Sceptic, Scepticism
from smartcl.regularizers.group_lasso import GroupLasso
from smartcl.regularizers.ncc import NCC
from smartcl.regularizers.regularizer import Regularizer
from smartcl.selection.fair_reservoir import FairReservoir
from smartcl.selection.gss_greedy import GSSGreedy
from smartcl.selection.trusted import Trusted


@dataclass(frozen=True)
class SmartTraining(Scepticism):
    """How ``smart`` learns from whatever memory it has: a sceptic's settings, and the objective's two strengths."""

    lr: float = 3e-4
    iterations: int = 20
    replay: int = 300
    joint: bool = field(default=True, init=False)
    average: float = 0.995
    smoothing: float = 0.1
    alpha: float = 1e-4
    form: str = "exact"
    beta: float = 0.0

    @property
    def regularizers(self) -> list[Regularizer]:
        """``α·Ω_e`` and ``β·Ω_r`` of Eq. 1."""
        return [GroupLasso(self.alpha, self.form), NCC(self.beta)]


@dataclass(frozen=True)
class SmartSettings(SmartTraining):
    """And what makes the memory schematic."""

    trust: bool = True
    patience: int = 3
    whole: bool = False
    precision: str | int = "auto"


@dataclass(frozen=True)
class QuickSettings(SmartSettings):
    """Two long steps a batch of a small network, no code for rows, nobody who doubts: for clean labels and little time.

    Chosen on validation images; ``docs/method.md`` says what it costs in accuracy.
    """

    hidden: tuple[int, ...] = (128, 128)
    lr: float = 2e-3
    iterations: int = 2
    replay: int = 100
    dropout: float = 0.0
    robust: float = 0.0
    distill: float = 0.0
    trust: bool = False
    precision: str | int = "plain"


def smart(spec: InputSpec, memory: str | int, settings: SmartSettings, seed: int = 0) -> Learner:
    """One network by steps: a schematic memory with exact zeros that drops doubtful labels, averaged weights."""
    return schematic(Sceptic, spec, memory, settings, seed)


def schematic(
    kind: type[Sceptic], spec: InputSpec, memory: str | int, settings: SmartSettings, seed: int = 0
) -> Learner:
    """A sceptic of this kind, made of the parts that the settings name."""
    return kind(
        spec,
        memory,
        recipe=settings,
        selector=Trusted() if settings.trust else FairReservoir(),
        regularizers=settings.regularizers,
        whole=settings.whole,
        patience=settings.patience,
        precision=settings.precision,
        seed=seed,
    )


def smart_quick(spec: InputSpec, memory: str | int, settings: QuickSettings, seed: int = 0) -> Learner:
    """``smart`` with fewer steps on a smaller network: several times as fast, and a little less right."""
    return smart(spec, memory, settings, seed)


@dataclass(frozen=True)
class SmartPaperSettings(Training):
    """The paper's (section 5)."""

    joint: bool = field(default=False, init=False)
    average: float = field(default=0.0, init=False)
    smoothing: float = field(default=0.0, init=False)
    alpha: float = 0.0005
    beta: float = 0.001
    threshold: float = 1e-4


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


#: The paper's authors.
SMART = "Gao, Ascoli & Zhao 2021"

METHODS = {
    "smart": Method(smart, SmartSettings(), SMART),
    "smart-quick": Method(smart_quick, QuickSettings(), SMART),
    "smart-paper": Method(smart_paper, SmartPaperSettings(), SMART),
}
