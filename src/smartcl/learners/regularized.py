"""Learners that protect their weights, with or without a memory; the defaults are those of Table 3.

Table 3 is the incremental-domain protocol of Hsu, Liu, Ramasamy, Kira, "Re-evaluating continual learning scenarios",
2018, with their coefficients and PyTorch's default initialisation: the stream itself repeats each task four times, so
a batch is worth one step. NCC reads importance off the size of the weights; it starts from Xavier's, as SMART does.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from smartcl.data.spec import InputSpec
from smartcl.learners.factory import Method
from smartcl.learners.learner import Learner
from smartcl.learners.recipe import Recipe
from smartcl.learners.smart import SMART
from smartcl.regularizers.ewc import EWC, OnlineEWC
from smartcl.regularizers.l2 import L2
from smartcl.regularizers.mas import MAS
from smartcl.regularizers.ncc import NCC
from smartcl.regularizers.regularizer import Regularizer
from smartcl.regularizers.si import SI
from smartcl.selection.reservoir import Nothing, Reservoir


@dataclass(frozen=True)
class PenaltySettings(Recipe):
    """Those of a recipe and the strength of the penalty, which each has of its own."""

    lr: float = 1e-3
    iterations: int = 1
    replay: int = 0
    consolidate: str = "task"
    init: str = "fan-in"
    strength: float = field(kw_only=True)
    whole: bool = True


def l2(spec: InputSpec, memory: str | int, settings: PenaltySettings, seed: int = 0) -> Learner:
    """Stay near the weights of the last task, all alike; without replay no memory is kept."""
    return protected(L2(settings.strength), spec, memory, settings, seed)


def ewc(spec: InputSpec, memory: str | int, settings: PenaltySettings, seed: int = 0) -> Learner:
    """Elastic weight consolidation, a term per task; without replay no memory is kept."""
    return protected(EWC(settings.strength), spec, memory, settings, seed)


def ewc_online(spec: InputSpec, memory: str | int, settings: PenaltySettings, seed: int = 0) -> Learner:
    """Elastic weight consolidation, one accumulated term; without replay no memory is kept."""
    return protected(OnlineEWC(settings.strength), spec, memory, settings, seed)


def si(spec: InputSpec, memory: str | int, settings: PenaltySettings, seed: int = 0) -> Learner:
    """Synaptic intelligence: importance along the path of learning; without replay no memory is kept."""
    return protected(SI(settings.strength), spec, memory, settings, seed)


def mas(spec: InputSpec, memory: str | int, settings: PenaltySettings, seed: int = 0) -> Learner:
    """Memory aware synapses: importance for the size of the output; without replay no memory is kept."""
    return protected(MAS(settings.strength), spec, memory, settings, seed)


def ncc(spec: InputSpec, memory: str | int, settings: PenaltySettings, seed: int = 0) -> Learner:
    """Neuronal correlation consolidation, Ω_r of SMART, alone; without replay no memory is kept."""
    return protected(NCC(settings.strength), spec, memory, settings, seed)


def protected(
    penalty: Regularizer, spec: InputSpec, memory: str | int, settings: PenaltySettings, seed: int = 0
) -> Learner:
    """A learner with this penalty."""
    selector = Reservoir() if settings.replay else Nothing()
    return Learner(spec, memory, settings, selector, [penalty], whole=settings.whole, seed=seed)


METHODS = {
    "l2": Method(l2, PenaltySettings(strength=0.5), "Hsu, Liu, Ramasamy & Kira 2018"),
    "ewc": Method(ewc, PenaltySettings(strength=100.0), "Kirkpatrick et al. 2017"),
    "ewc-online": Method(ewc_online, PenaltySettings(strength=700.0), "Schwarz et al. 2018"),
    "si": Method(si, PenaltySettings(strength=3000.0), "Zenke, Poole & Ganguli 2017"),
    "mas": Method(mas, PenaltySettings(strength=10_000.0), "Aljundi et al. 2018"),
    "ncc": Method(ncc, PenaltySettings(strength=250.0, init="xavier"), SMART),
}
