"""The default method: an ensemble of members in closed form, neighbours, trees and networks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from smartcl.data.spec import InputSpec
from smartcl.learners.ensemble.ensemble import Ensemble
from smartcl.learners.ensemble.feature_maps import FeatureMap
from smartcl.learners.ensemble.logistic import Logistic
from smartcl.learners.ensemble.member import Member
from smartcl.learners.ensemble.neighbours import Neighbours
from smartcl.learners.ensemble.network import NetworkMember
from smartcl.learners.ensemble.ridge import Ridge
from smartcl.learners.ensemble.settings import WIDE
from smartcl.learners.ensemble.trees import Trees
from smartcl.learners.factory import Method
from smartcl.learners.learner import Learner
from smartcl.learners.recipe import Recipe
from smartcl.learners.sceptic import Sceptic
from smartcl.learners.smart import SMART, SmartSettings, schematic
from smartcl.selection.fair_reservoir import FairReservoir
from smartcl.setting_kinds import Names
from smartcl.settings import nearest, of_kind, shown

#: The network without guards: as small as did no harm on tables.
PLAIN = Recipe(hidden=(256, 256), lr=1e-3, iterations=20, replay=100, average=0.98)
#: Of its settings those that are as asked for, where something is asked for.
TURNED = ("lr", "iterations", "replay", "average", "smoothing")
#: What a network among the members keeps of its own: nothing, for it reads the ensemble's memory.
NO_MEMORY = "1MB"


@dataclass(frozen=True)
class AdaptiveSettings(SmartSettings):
    """Those of ``smart``, for the networks among the members; and which members there are."""

    arithmetic: str | None = "auto"
    #: The members by name; none: those that suit the rows.
    members: tuple[str, ...] = of_kind(Names(), ())


def plain_network(spec: InputSpec, settings: AdaptiveSettings) -> Learner:
    """Two layers without guards, none wider than asked for; or the user's own network."""
    hidden = tuple(min(width, asked) for width, asked in zip(PLAIN.hidden, settings.hidden, strict=False))
    usual = AdaptiveSettings()
    turned = {name: getattr(settings, name) for name in TURNED if getattr(settings, name) != getattr(usual, name)}
    own = {name: getattr(settings, name) for name in ("network", "optimizer", "augment")}
    recipe = replace(PLAIN, hidden=hidden, **own, **turned)
    return Learner(spec, NO_MEMORY, recipe, FairReservoir())


def robust_network(spec: InputSpec, settings: AdaptiveSettings) -> Learner:
    """That of ``smart``: it doubts labels, and its averaged weights teach it what it knew."""
    return schematic(Sceptic, spec, NO_MEMORY, settings)


#: Of each member by name what makes it, from the stream's signature, the map of features and the settings.
MEMBERS: Mapping[str, Callable[[InputSpec, FeatureMap, AdaptiveSettings], Member]] = {
    "ridge": lambda spec, features, settings: Ridge.of(spec, features),
    "logistic": lambda spec, features, settings: Logistic.of(spec, features),
    "neighbours": lambda spec, features, settings: Neighbours(),
    "trees": lambda spec, features, settings: Trees(),
    "network": lambda spec, features, settings: NetworkMember.of("network", plain_network(spec, settings)),
    "robust network": lambda spec, features, settings: NetworkMember.of(
        "robust network", robust_network(spec, settings)
    ),
}


def usual_members(spec: InputSpec) -> tuple[str, ...]:
    """What suits rows such as these.

    >>> usual_members(InputSpec(n_features=10, n_classes=2))
    ('ridge', 'logistic', 'neighbours', 'trees', 'network')
    """
    if spec.n_features >= WIDE:
        return "ridge", "neighbours", "robust network"
    return "ridge", "logistic", "neighbours", "trees", "network"


def adaptive(spec: InputSpec, memory: str | int, settings: AdaptiveSettings, seed: int = 0) -> Ensemble:
    """The default: sums, neighbours, trees and networks beside one memory, each counting for as much as it is right."""
    names = settings.members or usual_members(spec)
    unknown = next((name for name in names if name not in MEMBERS), None)
    if unknown is not None:
        raise ValueError(f"unknown member {shown(unknown)}: {nearest(unknown, MEMBERS)}")

    def makers(spec: InputSpec, features: FeatureMap) -> tuple[Member, ...]:
        return tuple(MEMBERS[name](spec, features, settings) for name in names)

    return Ensemble(
        spec,
        memory,
        makers,
        settings.patience,
        settings.precision,
        seed,
        whole=settings.whole,
        trust=settings.trust,
    )


METHODS = {"adaptive": Method(adaptive, AdaptiveSettings(), SMART)}
