"""One run, named completely: the same spec gives the same result."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from smartcl.learners.methods import find_method
from smartcl.paper.datasets.corruption import NoiseModel
from smartcl.paper.datasets.dataset_registry import DATASETS, protocol_of
from smartcl.paper.datasets.real_tasks import RealTask, is_real_task
from smartcl.paper.datasets.stream_suite import SUITE
from smartcl.paper.peers.names import ALL_PEERS
from smartcl.paper.peers.rivals import RIVALS
from smartcl.paper.scores.prequential import BATCH_ROWS
from smartcl.saving.references import saved_code

#: Parameters that are code of the user's own, or its name.
CODE = ("network", "optimizer", "augment")


@dataclass(frozen=True)
class RunSpec:
    """A data set, a method with the parameters that differ from its own, a memory, a noise model and a seed.

    A run on a stream of the suite or a real one is prequential, and its method may be a peer, which has no
    parameters of ours.
    ``source`` names the data learned from, which a data set's name alone does not: another release may lie in the
    folder, or a stand-in serve. Unless said, it is the source that the data set has where it is known.

    >>> RunSpec("disjoint-mnist", "er").key == RunSpec("disjoint-mnist", "er", seed=0, source="MNIST").key
    True
    >>> RunSpec("disjoint-mnist", "er", noise="foreign:0.30").noise
    'foreign:0.3'
    """

    dataset: str
    method: str
    memory: str = "300 samples"
    noise: str = "none"
    seed: int = 0
    parameters: tuple[tuple[str, Any], ...] = field(default=())
    source: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "noise", str(NoiseModel.parse(self.noise)))
        known = DATASETS.get(self.dataset) or SUITE.get(self.dataset)
        if not self.source and known is not None:
            object.__setattr__(self, "source", known.source)
        elif not self.source and is_real_task(self.dataset):
            object.__setattr__(self, "source", RealTask.parse(self.dataset).source)

    @classmethod
    def of(cls, parameters: Mapping[str, Any], **names: Any) -> RunSpec:
        """With parameters given as a mapping, checked and put in order."""
        if names["method"] in ALL_PEERS or names["method"] in RIVALS:
            if parameters:
                raise ValueError(f"{names['method']} is a peer, and runs at its own defaults: it takes no parameters")
            return cls(**names)
        method = find_method(names["method"])
        # code of the user's own stays a name here: to show results that are there, nothing is imported
        code = {name: value for name, value in parameters.items() if name in CODE and isinstance(value, str)}
        others = {name: value for name, value in parameters.items() if name not in code}
        plain = {**code, **{name: saved_code(name, value) for name, value in method.coerce(others).items()}}
        return cls(**names, parameters=tuple(sorted(plain.items())))

    @classmethod
    def from_dict(cls, names: Mapping[str, Any]) -> RunSpec:
        """Back from ``as_dict``, as a result holds it."""
        return cls.of(names["parameters"], **{name: value for name, value in names.items() if name != "parameters"})

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "parameters": dict(self.parameters)}

    @property
    def settings(self) -> dict[str, Any]:
        """Every parameter of the method, defaults included; of a peer its release, of a rival its numbers."""
        if self.method in ALL_PEERS:
            return dict(ALL_PEERS[self.method].settings)
        if self.method in RIVALS:
            return dict(RIVALS[self.method].settings)
        return {**find_method(self.method).parameters, **dict(self.parameters)}

    @property
    def protocol(self) -> dict[str, Any]:
        """How the data became a stream; nothing for a data set that there is not."""
        if self.dataset in SUITE:
            return {"prequential": BATCH_ROWS}
        if is_real_task(self.dataset):
            return RealTask.parse(self.dataset).protocol
        return protocol_of(self.dataset) if self.dataset in DATASETS else {}

    @property
    def key(self) -> str:
        """A short name that changes with anything in the spec, a method's defaults and the protocol of the data."""
        return digest({**self.as_dict(), "parameters": self.settings, "protocol": self.protocol})


def digest(names: Mapping[str, Any]) -> str:
    """Sixteen digits for these names and values, whatever their order."""
    return hashlib.sha256(json.dumps(names, sort_keys=True).encode()).hexdigest()[:16]
