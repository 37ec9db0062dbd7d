"""The default method: an ensemble of members in closed form, neighbours, trees and networks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from smartcl.data.spec import InputSpec
from smartcl.learners.ensemble.classifier import Classifier
from smartcl.learners.ensemble.ensemble import Ensemble
from smartcl.learners.ensemble.feature_maps import FeatureMap
from smartcl.learners.ensemble.linear import Linear
from smartcl.learners.ensemble.logistic import Logistic
from smartcl.learners.ensemble.member import Member
from smartcl.learners.ensemble.neighbours import Neighbours
from smartcl.learners.ensemble.network import NetworkMember
from smartcl.learners.ensemble.ridge import Ridge
from smartcl.learners.ensemble.settings import WIDE
from smartcl.learners.ensemble.trees import Trees
from smartcl.learners.learner import Learner
from smartcl.learners.method_settings import AdaptiveSettings
from smartcl.learners.recipe import Recipe
from smartcl.learners.sceptic import Sceptic
from smartcl.learners.smart import schematic
from smartcl.selection.fair_shares import FairReservoir
from smartcl.settings import OwnMember, nearest, shown

#: The network without guards; smaller ones were less accurate on tables.
PLAIN = Recipe(hidden=(256, 256), lr=1e-3, iterations=20, replay=100, average=0.98)
#: Of its settings those that are as asked for, where something is asked for.
TURNED = ("lr", "iterations", "replay", "average", "smoothing")
#: What a network among the members keeps of its own: nothing, for it reads the ensemble's memory.
NO_MEMORY = "1MB"


def plain_network(spec: InputSpec, settings: AdaptiveSettings, seed: int) -> Learner:
    """Two layers without guards, none wider than asked for; or the user's own network."""
    hidden = tuple(min(width, asked) for width, asked in zip(PLAIN.hidden, settings.hidden, strict=False))
    usual = AdaptiveSettings()
    turned = {name: getattr(settings, name) for name in TURNED if getattr(settings, name) != getattr(usual, name)}
    own = {name: getattr(settings, name) for name in ("network", "optimizer", "augment", "kept_weights")}
    recipe = replace(PLAIN, hidden=hidden, **own, **turned)
    return Learner(spec, NO_MEMORY, recipe, FairReservoir(), seed=seed)


def robust_network(spec: InputSpec, settings: AdaptiveSettings, seed: int) -> Learner:
    """That of ``smart``: it doubts labels, and its averaged weights teach it what it knew."""
    return schematic(Sceptic, spec, NO_MEMORY, settings, seed)


#: Of each member by name what makes it, from the stream's signature, the map of features, the settings and a seed.
MEMBERS: Mapping[str, Callable[[InputSpec, FeatureMap, AdaptiveSettings, int], Member]] = {
    "ridge": lambda spec, features, settings, seed: Ridge.of(spec, features),
    "logistic": lambda spec, features, settings, seed: Logistic.of(spec, features),
    "linear": lambda spec, features, settings, seed: Linear.of(spec),
    "neighbours": lambda spec, features, settings, seed: Neighbours(),
    "trees": lambda spec, features, settings, seed: Trees(),
    "network": lambda spec, features, settings, seed: NetworkMember.of("network", plain_network(spec, settings, seed)),
    "robust network": lambda spec, features, settings, seed: NetworkMember.of(
        "robust network", robust_network(spec, settings, seed)
    ),
}


def usual_members(spec: InputSpec) -> tuple[str, ...]:
    """The members for rows of this kind.

    >>> usual_members(InputSpec(n_features=10, n_classes=2))
    ('ridge', 'logistic', 'neighbours', 'trees', 'network')
    """
    if spec.n_features >= WIDE:
        linear = ("linear",) if spec.sparse else ()
        return *linear, "ridge", "neighbours", "robust network"
    return "ridge", "logistic", "neighbours", "trees", "network"


def member_of(
    asked: str | OwnMember, spec: InputSpec, features: FeatureMap, settings: AdaptiveSettings, seed: int
) -> Member:
    """The member that was asked for by name, or that a user's classifier or function makes."""
    if isinstance(asked, str):
        return MEMBERS[asked](spec, features, settings, seed)
    if asked.is_classifier:
        return Classifier(type(asked.made).__name__, asked.made)
    made = asked.made(spec, features)
    if not all(hasattr(made, name) for name in ("name", "experts", "answers", "learn", "state_dict")):
        raise ValueError(f"members: {shown(asked.made)} must make a smartcl member, it made {shown(made)}")
    member: Member = made
    return member


def named_apart(members: Sequence[Member]) -> tuple[Member, ...]:
    """The members, if no two of them have one name.

    >>> named_apart([Trees(), Trees()])
    Traceback (most recent call last):
        ...
    ValueError: members must have different names, got trees twice
    """
    names = [member.name for member in members]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"members must have different names, got {twice} twice")
    return tuple(members)


def adaptive(spec: InputSpec, memory: str | int, settings: AdaptiveSettings, seed: int = 0) -> Ensemble:
    """The default: sums, neighbours, trees and networks beside one memory, each counting for as much as it is right."""
    asked = settings.members or usual_members(spec)
    unknown = next((name for name in asked if isinstance(name, str) and name not in MEMBERS), None)
    if unknown is not None:
        raise ValueError(f"unknown member {shown(unknown)}: {nearest(unknown, MEMBERS)}")
    if "linear" in asked and not (spec.sparse and spec.n_features >= WIDE):
        kind = "sparse" if spec.sparse else "dense"
        raise ValueError(
            f"members: the member linear is for sparse rows of at least {WIDE} columns, "
            f"got {kind} rows of {spec.n_features}"
        )

    def makers(spec: InputSpec, features: FeatureMap) -> tuple[Member, ...]:
        return named_apart([member_of(each, spec, features, settings, seed) for each in asked])

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
