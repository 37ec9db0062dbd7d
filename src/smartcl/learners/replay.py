"""Plain replay: a memory, a policy that says who stays, and nothing else. Samples are stored whole unless said."""

from __future__ import annotations

from collections.abc import Callable

from smartcl.data.spec import InputSpec
from smartcl.learners.learner import Learner
from smartcl.learners.recipe import Recipe
from smartcl.memory.pool import Selector
from smartcl.selection.gss_greedy import GSSGreedy
from smartcl.selection.gss_iqp import GSSIQP
from smartcl.selection.k_centers import FSSClust, GSSClust
from smartcl.selection.reservoir import Reservoir


def replaying(name: str, summary: str, selector: Callable[[], Selector], joint: bool) -> Callable[..., Learner]:
    """The builder of learners with this policy; the gradient-based ones alternate steps, as in the paper."""
    usual = joint

    def build(
        spec: InputSpec,
        memory: str | int,
        seed: int = 0,
        *,
        hidden: tuple[int, ...] = (400, 400),
        lr: float = 1e-4,
        iterations: int = 100,
        replay: int = 50,
        joint: bool = usual,
        average: float = 0.0,
        smoothing: float = 0.0,
        whole: bool = True,
    ) -> Learner:
        recipe = Recipe(hidden, lr, iterations, replay, joint, average, smoothing)
        return Learner(spec, memory, recipe, selector(), whole=whole, seed=seed)

    build.__name__ = build.__qualname__ = name
    build.__doc__ = summary
    return build


er = replaying("er", "Experience replay from a reservoir.", Reservoir, joint=True)
gss_greedy = replaying("gss_greedy", "Replay of samples whose gradients differ, greedily.", GSSGreedy, joint=False)
gss_iqp = replaying("gss_iqp", "Replay of the samples whose gradients are least alike.", GSSIQP, joint=False)
gss_clust = replaying("gss_clust", "Replay of cluster centres in gradient space.", GSSClust, joint=False)


def fss_clust(
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
    layer: str = "penultimate",
) -> Learner:
    """Replay of cluster centres in feature space: of the penultimate layer or of the logits."""
    recipe = Recipe(hidden, lr, iterations, replay, joint, average, smoothing)
    return Learner(spec, memory, recipe, FSSClust(layer=layer), whole=whole, seed=seed)
