"""Learners that protect their weights, with or without a memory; the defaults are those of Table 3.

Table 3 is the incremental-domain protocol of Hsu, Liu, Ramasamy, Kira, "Re-evaluating continual learning scenarios",
2018, with their coefficients and PyTorch's default initialisation: the stream itself repeats each task four times, so
a batch is worth one step. NCC reads importance off the size of the weights; it starts from Xavier's, as SMART does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from smartcl.data.spec import InputSpec
from smartcl.learners.learner import Learner
from smartcl.learners.recipe import Recipe
from smartcl.regularizers.ewc import EWC, OnlineEWC
from smartcl.regularizers.l2 import L2
from smartcl.regularizers.mas import MAS
from smartcl.regularizers.ncc import NCC
from smartcl.regularizers.regularizer import Regularizer
from smartcl.regularizers.si import SI
from smartcl.selection.reservoir import Nothing, Reservoir

#: What makes a learner of a spec, a memory, a seed and keyword-only parameters.
Builder: TypeAlias = Callable[..., Learner]


def protected(
    name: str, summary: str, penalty: Callable[[float], Regularizer], strength: float, init: str = "fan-in"
) -> Builder:
    """The builder of learners with this penalty, and its usual strength as the default."""
    usual, start = strength, init

    def build(
        spec: InputSpec,
        memory: str | int,
        seed: int = 0,
        *,
        hidden: tuple[int, ...] = (400, 400),
        lr: float = 1e-3,
        iterations: int = 1,
        replay: int = 0,
        joint: bool = True,
        average: float = 0.0,
        smoothing: float = 0.0,
        strength: float = usual,
        consolidate: str = "task",
        init: str = start,
        whole: bool = True,
    ) -> Learner:
        recipe = Recipe(hidden, lr, iterations, replay, joint, average, smoothing, consolidate, init)
        selector = Reservoir() if replay else Nothing()
        return Learner(spec, memory, recipe, selector, [penalty(strength)], whole=whole, seed=seed)

    build.__name__ = build.__qualname__ = name
    build.__doc__ = f"{summary}; without replay no memory is kept."
    return build


l2 = protected("l2", "Stay near the weights of the last task, all alike", L2, strength=0.5)
ewc = protected("ewc", "Elastic weight consolidation, a term per task", EWC, strength=100.0)
ewc_online = protected("ewc_online", "Elastic weight consolidation, one accumulated term", OnlineEWC, strength=700.0)
si = protected("si", "Synaptic intelligence: importance along the path of learning", SI, strength=3000.0)
mas = protected("mas", "Memory aware synapses: importance for the size of the output", MAS, strength=10_000.0)
ncc = protected("ncc", "Neuronal correlation consolidation, Ω_r of SMART, alone", NCC, 250.0, init="xavier")
