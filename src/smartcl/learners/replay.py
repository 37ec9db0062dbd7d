"""Plain replay: a memory, a policy that says who stays, and nothing else. Samples are stored whole unless said."""

from __future__ import annotations

from dataclasses import dataclass

from smartcl.data.spec import InputSpec
from smartcl.learners.factory import Method
from smartcl.learners.learner import Learner
from smartcl.learners.recipe import Training
from smartcl.memory.pool import Selector
from smartcl.selection.gss_greedy import GSSGreedy
from smartcl.selection.gss_iqp import GSSIQP
from smartcl.selection.k_centers import FSSClust, GSSClust
from smartcl.selection.reservoir import Reservoir


@dataclass(frozen=True)
class ReplaySettings(Training):
    """Those of a recipe, and whether samples are stored whole."""

    whole: bool = True


@dataclass(frozen=True)
class AlternatingSettings(ReplaySettings):
    """The gradient-based policies alternate steps, as in the paper."""

    joint: bool = False


@dataclass(frozen=True)
class FSSClustSettings(AlternatingSettings):
    """And the layer whose features are compared, penultimate or logits, and whether of two alike the older stays."""

    layer: str = "penultimate"
    memory_first: bool = False


def er(spec: InputSpec, memory: str | int, settings: ReplaySettings, seed: int = 0) -> Learner:
    """Experience replay from a reservoir."""
    return replaying(Reservoir(), spec, memory, settings, seed)


def gss_greedy(spec: InputSpec, memory: str | int, settings: ReplaySettings, seed: int = 0) -> Learner:
    """Replay of samples whose gradients differ, greedily."""
    return replaying(GSSGreedy(), spec, memory, settings, seed)


def gss_iqp(spec: InputSpec, memory: str | int, settings: ReplaySettings, seed: int = 0) -> Learner:
    """Replay of the samples whose gradients are least alike."""
    return replaying(GSSIQP(), spec, memory, settings, seed)


def gss_clust(spec: InputSpec, memory: str | int, settings: ReplaySettings, seed: int = 0) -> Learner:
    """Replay of cluster centres in gradient space."""
    return replaying(GSSClust(), spec, memory, settings, seed)


def fss_clust(spec: InputSpec, memory: str | int, settings: FSSClustSettings, seed: int = 0) -> Learner:
    """Replay of cluster centres in feature space: of the penultimate layer or of the logits."""
    return replaying(FSSClust(layer=settings.layer, memory_first=settings.memory_first), spec, memory, settings, seed)


def replaying(
    selector: Selector, spec: InputSpec, memory: str | int, settings: ReplaySettings, seed: int = 0
) -> Learner:
    """A learner whose memory this policy chooses."""
    return Learner(spec, memory, settings, selector, whole=settings.whole, seed=seed)


GSS = "Aljundi, Lin, Goujaud & Bengio 2019"

METHODS = {
    "er": Method(er, ReplaySettings(), "Chaudhry et al. 2019"),
    "gss-greedy": Method(gss_greedy, AlternatingSettings(), GSS),
    "gss-iqp": Method(gss_iqp, AlternatingSettings(), GSS),
    "gss-clust": Method(gss_clust, AlternatingSettings(), GSS),
    "fss-clust": Method(fss_clust, FSSClustSettings(), GSS),
}
