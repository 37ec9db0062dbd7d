"""Every method by name: what it is, who proposed it, how to build it; and a user's own beside them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, TypeAlias

from smartcl.data.spec import InputSpec
from smartcl.learners.der import DERSettings, derpp
from smartcl.learners.er_ace import er_ace
from smartcl.learners.finetune_and_joint import FinetuneSettings, finetune, joint
from smartcl.learners.gdumb import GDumbSettings, gdumb
from smartcl.learners.gem import AGEMSettings, GEMSettings, agem, gem
from smartcl.learners.icarl import ICaRLSettings, icarl
from smartcl.learners.learner import Learner
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
from smartcl.settings import Settings, shown

SMART = "Gao, Ascoli & Zhao 2021"
GSS = "Aljundi, Lin, Goujaud & Bengio 2019"
#: When penalties that protect what a task has taught take effect in a stream without tasks.
SCHEDULE = "20 batches"

#: ``build(spec, memory, settings, seed)``, with the settings of the method's own class.
Build: TypeAlias = Callable[[InputSpec, str | int, Any, int], Learner]


@dataclass(frozen=True)
class Method:
    """What builds a learner, and its settings as they are unless something else is asked for."""

    build: Build
    settings: Settings
    citation: str = ""
    task_aware: bool = False

    @property
    def summary(self) -> str:
        return (inspect.getdoc(self.build) or "").partition("\n")[0]

    @property
    def parameters(self) -> dict[str, Any]:
        """The names and default values of what can be set."""
        return self.settings.as_dict()

    def learner(self, spec: InputSpec, memory: str | int, seed: int = 0, **parameters: Any) -> Learner:
        """A learner with these settings, the others as they are."""
        return self.build(spec, memory, self._settings(parameters), seed)

    def coerce(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters as they will be used, text parsed; unknown names and values out of range are refused."""
        settings = self._settings(parameters).as_dict()
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

    def _settings(self, parameters: Mapping[str, Any]) -> Settings:
        unknown = next((name for name in parameters if name not in self.parameters), None)
        if unknown is not None:
            raise ValueError(f"unknown parameter {unknown!r}: {_nearest(unknown, self.parameters)}")
        return replace(self.settings, **parameters)


METHODS: dict[str, Method] = {
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


def find_method(name: str) -> Method:
    """The method of this name, or an error that lists the nearest names.

    >>> find_method("smart").citation
    'Gao, Ascoli & Zhao 2021'
    """
    if not isinstance(name, str):
        raise ValueError(f"method must be a name, got {shown(name)}")
    if name not in METHODS:
        raise ValueError(f"unknown method {shown(name)}: {_nearest(name, METHODS)}")
    return METHODS[name]


def build_learner(name: str, spec: InputSpec, memory: str | int, seed: int = 0, **parameters: Any) -> Learner:
    """A learner by name.

    >>> build_learner("er", InputSpec(n_features=4, n_classes=2), "1kB", hidden=(8,)).memory
    0 samples in 0 B of 1 kB, 4 of 4 features kept
    """
    return find_method(name).learner(spec, memory, seed, **parameters)


def _nearest(name: str, known: Mapping[str, Any]) -> str:
    close = get_close_matches(name, known, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(close)}? " if close else ""
    return f"{hint}known are {', '.join(known)}"
