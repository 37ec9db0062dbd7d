"""The default learner with one member or one rule off: what ``smartcl reproduce ablation-ensemble`` compares.

The learner has no switches for this. A rule is off while named numbers or functions of ``smartcl.learners.ensemble``
have values at which the rule does nothing.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

from smartcl.data.spec import InputSpec
from smartcl.learners import ensemble
from smartcl.learners.adaptive import MEMBERS, usual_members
from smartcl.learners.ensemble import settings
from smartcl.learners.ensemble.drift import Alert, Overlap
from smartcl.learners.ensemble.trees import Trees

#: A number so large that what it holds back does not move.
HUGE = 1e9

#: The variant that has everything.
ALL = "all"


@dataclass(frozen=True)
class Variant:
    """What is off: a member, or a rule by arguments of the estimator or by names of the ensemble's modules.

    A rule ``of_tables`` is one that images and texts do not have.
    """

    name: str
    member: str | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    names: Mapping[str, Any] = field(default_factory=dict)
    of_tables: bool = False

    def concerns(self, spec: InputSpec) -> bool:
        """Whether the learner has this part on such rows; if not, the variant is no other learner."""
        if self.member is not None:
            return self.member in usual_members(spec)
        return not self.of_tables or spec.n_features < settings.WIDE

    def estimator_arguments(self, spec: InputSpec) -> dict[str, Any]:
        """What the estimator is told beside its memory and seed."""
        if self.member is None:
            return dict(self.arguments)
        return {"members": tuple(name for name in usual_members(spec) if name != self.member)}


@contextmanager
def replaced(values: Mapping[str, Any]) -> Iterator[None]:
    """Inside, these names of the ensemble's modules have these values.

    Modules import numbers and functions by name, so a name is replaced in every module that has it. ``Class.name`` is a
    method of a class. Afterwards all is as it was.

    >>> with replaced({"SNAPSHOTS": 0}):
    ...     settings.SNAPSHOTS
    0
    >>> settings.SNAPSHOTS
    2
    """
    places = [(owner, name.split(".")[-1], value) for name, value in values.items() for owner in owners(name)]
    before = [(owner, name, vars(owner)[name]) for owner, name, _ in places]
    try:
        for owner, name, value in places:
            setattr(owner, name, value)
        yield
    finally:
        for owner, name, value in before:
            setattr(owner, name, value)


def owners(name: str) -> list[ModuleType | type]:
    """The modules that have this name, or of ``Class.name`` the class.

    >>> owners("NO_SUCH_NUMBER")
    Traceback (most recent call last):
    ValueError: no module of smartcl.learners.ensemble has the name NO_SUCH_NUMBER
    """
    first, _, attribute = name.partition(".")
    having: list[ModuleType | type] = [module for module in modules() if first in vars(module)]
    if attribute:
        classes = dict.fromkeys(vars(module)[first] for module in having)
        having = [each for each in classes if attribute in vars(each)]
    if not having:
        raise ValueError(f"no module of {ensemble.__name__} has the name {name}")
    return having


def modules() -> list[ModuleType]:
    """All modules of the ensemble."""
    return [import_module(f"{ensemble.__name__}.{each.name}") for each in pkgutil.iter_modules(ensemble.__path__)]


def numbers() -> list[str]:
    """The names of the numbers in the ensemble's settings."""
    return [name for name in vars(settings) if name.isupper()]


# --- rules that do nothing: each has the arguments of what it replaces ------------------------------------------------


def same_probabilities(calibration: Any, shares: Any) -> Any:
    """``Calibration.applied``: nothing is corrected."""
    return shares


def equal_trust(answered: Any) -> Any:
    """``trust``: accuracy says nothing, all experts are held to the same weight."""
    experts = answered.logs.shape[1]
    return np.full(experts, 1 / experts)


def none_held_out(count: int, rng: Any) -> Any:
    """``held_out``: all rows are learned, so there are no held-out rows of the past to look back at."""
    return np.zeros(count, np.bool_)


def no_verdict(watch: Any, row: int, coverage: Any) -> None:
    """``DriftWatch.verdict``: nothing has changed."""


def none_outdated(before: Any, after: Any, y: Any) -> Any:
    """``outdated``: no sample is put out of use."""
    return np.zeros(len(y), np.bool_)


def even_share(coverage: float) -> float:
    """``recent_share``: half of the memory's room is for the newest samples."""
    return 0.5


def always_same_inputs(learner: Any, *count: int) -> Overlap:
    """``Ensemble.overlap_since_jump`` and ``Ensemble._overlap``: new rows look like older ones."""
    return Overlap(1.0, 0.0)


def always_steps(member: Any, new: Any, past: Any) -> Any:
    """``NetworkMember._scheduled``: the network never rests."""
    return replace(member, rows=member.rows + len(new), resting=False)


AFTER, LEARN = Alert.after, Trees.learn


def never_jumped(alert: Any, errors: float, rows: int) -> Any:
    """``Alert.after``: no share of errors is a jump."""
    return AFTER(alert, min(errors, 0.49), rows)


def always_refitted(member: Any, new: Any, past: Any) -> Any:
    """``Trees.learn``: trees are refitted as often as if they alone counted."""
    return LEARN(member, new, replace(past, share=1.0))


def always_due(frame: Any, rows: int) -> bool:
    """``Frame.due``: the scale of the inputs is never fixed."""
    return bool(rows >= 2 * frame.rows)


def same_frame(frame: Any, scale: Any) -> Any:
    """``Frame.followed``: a feature that gets another unit keeps its scale."""
    return frame


def without_each(name: str, label: str) -> list[Variant]:
    """A tuple of settings, one entry left out in turn.

    >>> [variant.names for variant in without_each("NEIGHBOUR_ROWS", "neighbours")][0]
    {'NEIGHBOUR_ROWS': (500, 2000)}
    """
    values = getattr(settings, name)
    return [
        Variant(f"{label} {value:g}", names={name: tuple(other for other in values if other != value)})
        for value in values
    ]


RULES = (
    Variant("calibration", names={"Calibration.applied": same_probabilities}),
    Variant("correction for each class", names={"NO_SHIFT": HUGE}),
    Variant("weights held to accuracy", names={"trust": equal_trust}),
    Variant("weights fitted by log loss", names={"PRIOR_ROWS": HUGE}),
    Variant("held-out rows of the past", names={"held_out": none_held_out}),
    Variant("alert when errors jump", names={"Alert.after": never_jumped}),
    Variant("reaction to changes", names={"DriftWatch.verdict": no_verdict}),
    Variant("snapshots", names={"SNAPSHOTS": 0}),
    Variant("outdated samples out of use", names={"outdated": none_outdated}),
    Variant("doubted labels leave first", arguments={"trust": False}),
    Variant("penalty by leave-one-out", names={"PENALTIES": (1.0,)}),
    Variant("share of newest samples by evidence", names={"recent_share": even_share}),
    Variant(
        "new task told from change",
        names={"Ensemble.overlap_since_jump": always_same_inputs, "Ensemble._overlap": always_same_inputs},
    ),
    Variant("coarser values", arguments={"precision": "plain"}),
    Variant("network that rests", names={"NetworkMember._scheduled": always_steps}),
    Variant("trees refitted ever more seldom", names={"Trees.learn": always_refitted}, of_tables=True),
    Variant("scale fixed early", names={"Frame.due": always_due}),
    Variant("other units followed later", names={"Frame.followed": same_frame}),
    Variant("random ReLU features", names={"RELU_FEATURES": 0}, of_tables=True),
    Variant("axis-parallel steps", names={"STEP_FEATURES": 0}, of_tables=True),
    # the first rate forgets nothing: changes are told from it
    *without_each("FORGETTING", "forgetting rate")[1:],
    *without_each("NEIGHBOUR_ROWS", "neighbours among the newest"),
)

VARIANTS: dict[str, Variant] = {
    variant.name: variant
    for variant in (Variant(ALL), *(Variant(f"member: {name}", member=name) for name in MEMBERS), *RULES)
}
