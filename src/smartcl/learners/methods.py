"""Every method by name: what it is, who proposed it, how to build it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from smartcl.data.spec import InputSpec
from smartcl.learners.der import derpp
from smartcl.learners.ends import finetune, joint
from smartcl.learners.er_ace import er_ace
from smartcl.learners.gdumb import gdumb
from smartcl.learners.gem import agem, gem
from smartcl.learners.icarl import icarl
from smartcl.learners.learner import Learner
from smartcl.learners.regularized import ewc, ewc_online, l2, mas, ncc, si
from smartcl.learners.replay import er, fss_clust, gss_clust, gss_greedy, gss_iqp
from smartcl.learners.smart import smart, smart_paper
from smartcl.settings import setting, shown

SMART = "Gao, Ascoli & Zhao 2021"
#: When penalties that protect what a task has taught take effect in a stream without tasks.
SCHEDULE = "20 batches"

GSS = "Aljundi, Lin, Goujaud & Bengio 2019"


@dataclass(frozen=True)
class Method:
    """A builder ``build(spec, memory, seed, **parameters)`` whose keyword-only arguments are the parameters."""

    build: Callable[..., Learner]
    citation: str
    task_aware: bool = False

    @property
    def summary(self) -> str:
        return (inspect.getdoc(self.build) or "").splitlines()[0]

    @property
    def parameters(self) -> dict[str, Any]:
        """The names and default values of what can be set."""
        signature = inspect.signature(self.build).parameters.values()
        return {p.name: p.default for p in signature if p.kind is inspect.Parameter.KEYWORD_ONLY}

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

    def coerce(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters as they will be used, text parsed; unknown names and values out of range are refused."""
        unknown = next((name for name in parameters if name not in self.parameters), None)
        if unknown is not None:
            raise ValueError(f"unknown parameter {unknown!r}: {_nearest(unknown, self.parameters)}")
        return {name: setting(name, value) for name, value in parameters.items()}


METHODS: dict[str, Method] = {
    "smart": Method(smart, SMART),
    "smart-paper": Method(smart_paper, SMART),
    "er": Method(er, "Chaudhry et al. 2019"),
    "gss-greedy": Method(gss_greedy, GSS),
    "gss-iqp": Method(gss_iqp, GSS),
    "gss-clust": Method(gss_clust, GSS),
    "fss-clust": Method(fss_clust, GSS),
    "gdumb": Method(gdumb, "Prabhu, Torr & Dokania 2020"),
    "der++": Method(derpp, "Buzzega et al. 2020"),
    "er-ace": Method(er_ace, "Caccia et al. 2022"),
    "gem": Method(gem, "Lopez-Paz & Ranzato 2017", task_aware=True),
    "a-gem": Method(agem, "Chaudhry et al. 2019", task_aware=True),
    "icarl": Method(icarl, "Rebuffi et al. 2017", task_aware=True),
    "l2": Method(l2, "Hsu, Liu, Ramasamy & Kira 2018"),
    "ewc": Method(ewc, "Kirkpatrick et al. 2017"),
    "ewc-online": Method(ewc_online, "Schwarz et al. 2018"),
    "si": Method(si, "Zenke, Poole & Ganguli 2017"),
    "mas": Method(mas, "Aljundi et al. 2018"),
    "ncc": Method(ncc, SMART),
    "finetune": Method(finetune, "the lower end of the scale"),
    "joint": Method(joint, "the upper end of the scale"),
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
    method = find_method(name)
    return method.build(spec, memory, seed, **method.coerce(parameters))


def _nearest(name: str, known: Mapping[str, Any]) -> str:
    close = get_close_matches(name, known, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(close)}? " if close else ""
    return f"{hint}known are {', '.join(known)}"
