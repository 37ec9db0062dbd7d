"""One run, named completely: the same spec gives the same result."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from smartcl.learners.methods import find_method


@dataclass(frozen=True)
class RunSpec:
    """A data set, a method with the parameters that differ from its own, a memory, a noise model and a seed.

    >>> RunSpec("disjoint-mnist", "er").key == RunSpec("disjoint-mnist", "er", seed=0).key
    True
    """

    dataset: str
    method: str
    memory: str = "300 samples"
    noise: str = "none"
    seed: int = 0
    parameters: tuple[tuple[str, Any], ...] = field(default=())

    @classmethod
    def of(cls, parameters: Mapping[str, Any], **names: Any) -> RunSpec:
        """With parameters given as a mapping, checked and put in order."""
        method = find_method(names["method"])
        return cls(**names, parameters=tuple(sorted(method.coerce(parameters).items())))

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "parameters": dict(self.parameters)}

    @property
    def settings(self) -> dict[str, Any]:
        """Every parameter of the method, defaults included."""
        return {**find_method(self.method).parameters, **dict(self.parameters)}

    @property
    def key(self) -> str:
        """A short name that changes with anything in the spec, and with a method's defaults."""
        text = json.dumps({**self.as_dict(), "parameters": self.settings}, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]
