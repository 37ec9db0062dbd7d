"""Plain replay of whole samples: what any memory must beat."""

from __future__ import annotations

from smartcl.learners.learner import Learner
from smartcl.learners.recipe import Recipe
from smartcl.selection.gss_greedy import GSSGreedy
from smartcl.selection.reservoir import Reservoir
from smartcl.streams.stream import InputSpec


def er(
    spec: InputSpec,
    memory: str | int,
    seed: int = 0,
    *,
    hidden: tuple[int, ...] = (400, 400),
    lr: float = 1e-4,
    iterations: int = 100,
    replay: int = 50,
    joint: bool = True,
    average: float = 0.0,
    smoothing: float = 0.0,
    whole: bool = True,
) -> Learner:
    """Experience replay from a reservoir of whole samples (Chaudhry et al. 2019)."""
    recipe = Recipe(hidden, lr, iterations, replay, joint, average, smoothing)
    return Learner(spec, memory, recipe, Reservoir(), whole=whole, seed=seed)


def gss_greedy(
    spec: InputSpec,
    memory: str | int,
    seed: int = 0,
    *,
    hidden: tuple[int, ...] = (400, 400),
    lr: float = 1e-4,
    iterations: int = 100,
    replay: int = 50,
    joint: bool = False,
    average: float = 0.0,
    smoothing: float = 0.0,
    whole: bool = True,
) -> Learner:
    """Replay of whole samples chosen by their gradients (Aljundi et al. 2019)."""
    recipe = Recipe(hidden, lr, iterations, replay, joint, average, smoothing)
    return Learner(spec, memory, recipe, GSSGreedy(), whole=whole, seed=seed)
