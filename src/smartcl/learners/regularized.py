"""Learners that protect their weights, with or without a memory; the defaults are those of Table 3.

Table 3 is the incremental-domain protocol of Hsu, Liu, Ramasamy, Kira, "Re-evaluating continual learning scenarios",
2018, with their coefficients and PyTorch's default initialisation: the stream itself repeats each task four times, so
a batch is worth one step. NCC reads importance off the size of the weights; it starts from Xavier's, as SMART does.
"""

from __future__ import annotations

from smartcl.data.spec import InputSpec
from smartcl.learners.learner import Learner
from smartcl.learners.method_settings import PenaltySettings
from smartcl.regularizers.ewc import EWC, OnlineEWC
from smartcl.regularizers.l2 import L2
from smartcl.regularizers.mas import MAS
from smartcl.regularizers.ncc import NCC
from smartcl.regularizers.regularizer import Regularizer
from smartcl.regularizers.si import SI
from smartcl.selection.reservoir import Nothing, Reservoir


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
