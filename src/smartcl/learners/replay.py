"""Plain replay: a memory and a policy that chooses the samples that stay. Samples are stored whole unless said."""

from __future__ import annotations

from smartcl.data.spec import InputSpec
from smartcl.learners.learner import Learner
from smartcl.learners.method_settings import FSSClustSettings, ReplaySettings
from smartcl.memory.pool import Selector
from smartcl.selection.gss_greedy import GSSGreedy
from smartcl.selection.gss_iqp import GSSIQP
from smartcl.selection.k_centers import FSSClust, GSSClust
from smartcl.selection.reservoir import Reservoir


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
