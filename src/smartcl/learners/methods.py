"""Every method by name: what it is, who proposed it, how to build it; and a user's own beside them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from smartcl.data.spec import InputSpec
from smartcl.learners.der import DERSettings, derpp
from smartcl.learners.er_ace import er_ace
from smartcl.learners.factory import Arguments, Factory, FromFactory
from smartcl.learners.finetune_and_joint import FinetuneSettings, finetune, joint
from smartcl.learners.gdumb import GDumbSettings, gdumb
from smartcl.learners.gem import AGEMSettings, GEMSettings, agem, gem
from smartcl.learners.icarl import ICaRLSettings, icarl
from smartcl.learners.learner import Learner
from smartcl.learners.registry import Registry
from smartcl.learners.regularized import PenaltySettings, ewc, ewc_online, l2, mas, ncc, si
from smartcl.learners.replay import (
    AlternatingSettings,
    FSSClustSettings,
    ReplaySettings,
    er,
    fss_clust,
    gss_clust,
    gss_greedy,
    gss_iqp,
)
from smartcl.learners.smart import SmartPaperSettings, SmartSettings, smart, smart_paper
from smartcl.settings import nearest, shown

SMART = "Gao, Ascoli & Zhao 2021"
GSS = "Aljundi, Lin, Goujaud & Bengio 2019"
#: When penalties that protect what a task has taught take effect in a stream without tasks.
SCHEDULE = "20 batches"

#: ``build(spec, memory, settings, seed)``, with the settings of the method's own class.
Build: TypeAlias = Callable[[InputSpec, str | int, Any, int], Learner]


class Settable(Protocol):
    """A method's settings: a ``Settings`` dataclass, or the ``Arguments`` of a factory."""

    def as_dict(self) -> dict[str, Any]: ...

    def changed(self, parameters: Mapping[str, Any]) -> Settable: ...


@dataclass(frozen=True)
class Method:
    """What builds a learner, and its settings as they are unless something else is asked for."""

    build: Build
    settings: Settable
    citation: str = ""
    task_aware: bool = False

    @classmethod
    def of(cls, maker: Method | Factory) -> Method:
        """A user's factory as a method; a method is one."""
        if isinstance(maker, Method):
            return maker
        if not callable(maker):
            raise ValueError(
                f"learner must be a factory(spec, memory, seed, **parameters) or a smartcl.Method, got {shown(maker)}"
            )
        return cls(FromFactory(maker), Arguments.of(maker))

    @property
    def summary(self) -> str:
        maker = self.build.factory if isinstance(self.build, FromFactory) else self.build
        return (inspect.getdoc(maker) or "").partition("\n")[0]

    @property
    def parameters(self) -> dict[str, Any]:
        """The names and default values of what can be set."""
        return self.settings.as_dict()

    def learner(self, spec: InputSpec, memory: str | int, seed: int = 0, **parameters: Any) -> Learner:
        """A learner with these settings, the others as they are."""
        made = self.build(spec, memory, self.settings.changed(parameters), seed)
        if not isinstance(made, Learner):  # another's builder
            raise ValueError(f"a method must build a smartcl.Learner, this one built {shown(made)}")
        return made

    def coerce(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters as they will be used, text parsed; unknown names and values out of range are refused."""
        settings = self.settings.changed(parameters).as_dict()
        return {name: settings[name] for name in parameters}

    def without_task_ends(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters for a stream that never says that a task ends: what waits for it comes on a schedule.

        >>> find_method("ewc").without_task_ends({"strength": 10.0})
        {'strength': 10.0, 'consolidate': '20 batches'}
        """
        if self.parameters.get("consolidate") != "task":
            return dict(parameters)
        chosen = {**parameters, "consolidate": parameters.get("consolidate", SCHEDULE)}
        if chosen["consolidate"] == "task":
            raise ValueError(f"consolidate must not be 'task' where no task ends: use such as {SCHEDULE!r}, or 'batch'")
        return chosen


OURS = {
    "smart": Method(smart, SmartSettings(), SMART),
    "smart-paper": Method(smart_paper, SmartPaperSettings(), SMART),
    "er": Method(er, ReplaySettings(), "Chaudhry et al. 2019"),
    "gss-greedy": Method(gss_greedy, AlternatingSettings(), GSS),
    "gss-iqp": Method(gss_iqp, AlternatingSettings(), GSS),
    "gss-clust": Method(gss_clust, AlternatingSettings(), GSS),
    "fss-clust": Method(fss_clust, FSSClustSettings(), GSS),
    "gdumb": Method(gdumb, GDumbSettings(), "Prabhu, Torr & Dokania 2020"),
    "der++": Method(derpp, DERSettings(), "Buzzega et al. 2020"),
    "er-ace": Method(er_ace, ReplaySettings(), "Caccia et al. 2022"),
    "gem": Method(gem, GEMSettings(), "Lopez-Paz & Ranzato 2017", task_aware=True),
    "a-gem": Method(agem, AGEMSettings(), "Chaudhry et al. 2019", task_aware=True),
    "icarl": Method(icarl, ICaRLSettings(), "Rebuffi et al. 2017", task_aware=True),
    "l2": Method(l2, PenaltySettings(strength=0.5), "Hsu, Liu, Ramasamy & Kira 2018"),
    "ewc": Method(ewc, PenaltySettings(strength=100.0), "Kirkpatrick et al. 2017"),
    "ewc-online": Method(ewc_online, PenaltySettings(strength=700.0), "Schwarz et al. 2018"),
    "si": Method(si, PenaltySettings(strength=3000.0), "Zenke, Poole & Ganguli 2017"),
    "mas": Method(mas, PenaltySettings(strength=10_000.0), "Aljundi et al. 2018"),
    "ncc": Method(ncc, PenaltySettings(strength=250.0, init="xavier"), SMART),
    "finetune": Method(finetune, FinetuneSettings(), "the lower end of the scale"),
    "joint": Method(joint, ReplaySettings(), "the upper end of the scale"),
}


#: Ours by name, and those that others have registered or declared as entry points of this group.
METHODS: Registry[Method] = Registry(OURS, group="smartcl.methods", take=Method.of)


def register_method(name: str, method: Method | Factory) -> None:
    """Make a method of one's own known by a name: to the estimator, to ``build_learner``, and to models it is saved in.

    A package does so for everybody who installs it, on the command line too, by an entry point of the group
    ``smartcl.methods``.

    >>> def plain(spec, memory, seed, *, hidden=(8,)):
    ...     return build_learner("er", spec, memory, seed, hidden=hidden)
    >>> register_method("plain", plain)
    >>> build_learner("plain", InputSpec(n_features=4, n_classes=2), "1kB", hidden=(3,)).recipe.hidden
    (3,)
    >>> del METHODS["plain"]
    """
    if not isinstance(name, str) or not re.fullmatch(r"[\w.+-]{1,60}", name):
        raise ValueError(f"name must be up to 60 letters, digits, '.', '+', '-' or '_', got {shown(name)}")
    if name in METHODS.ours:
        raise ValueError(f"name must be another than {name!r}, which is a method of smartcl itself")
    METHODS[name] = Method.of(method)


def registered_name(maker: str | Method | Factory) -> str:
    """The name under which this method or factory is known here, or a ``ValueError`` that says how it becomes so."""
    name = maker if isinstance(maker, str) else METHODS.name_of(lambda method: method == Method.of(maker))
    if name is None:
        raise ValueError(
            "a learner of one's own must be registered to be saved, here and where it is loaded: "
            "smartcl.register_method('a-name', learner)"
        )
    return name


def check_registered(name: str) -> str:
    """The name of a method that a saved model asks for, if it is known here."""
    if name not in METHODS:
        raise ValueError(
            f"the method {shown(name)} is not registered here: call smartcl.register_method({shown(name)}, ...) "
            "before loading, or install the package that has it"
        )
    return name


def method_of(maker: str | Method | Factory) -> Method:
    """The method of this name, or the one that this object is."""
    return find_method(maker) if isinstance(maker, str) else Method.of(maker)


def find_method(name: str) -> Method:
    """The method of this name, or an error that lists the nearest names.

    >>> find_method("smart").citation
    'Gao, Ascoli & Zhao 2021'
    """
    if not isinstance(name, str):
        raise ValueError(f"method must be a name, got {shown(name)}")
    if name not in METHODS:
        raise ValueError(f"unknown method {shown(name)}: {nearest(name, METHODS)}")
    return METHODS[name]


def build_learner(name: str, spec: InputSpec, memory: str | int, seed: int = 0, **parameters: Any) -> Learner:
    """A learner by name.

    >>> build_learner("er", InputSpec(n_features=4, n_classes=2), "1kB", hidden=(8,)).memory
    0 samples in 0 B of 1 kB, 4 of 4 features kept
    """
    return find_method(name).learner(spec, memory, seed, **parameters)
