"""A user's function that makes learners, ``factory(spec, memory, seed, **parameters)``, as what builds a method."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from smartcl.data.spec import InputSpec
from smartcl.learners.learner import Learner
from smartcl.settings import as_given, check_known, plain

Factory: TypeAlias = Callable[..., Learner]

#: A factory is called with a spec, a memory and a seed; what comes after them are its settings.
GIVEN = 3


@dataclass(frozen=True)
class Arguments:
    """A factory's settings: its arguments by name, those with a default at first. It checks their values itself."""

    values: Mapping[str, Any]
    #: The names it takes; None: any.
    names: tuple[str, ...] | None

    @classmethod
    def of(cls, factory: Factory) -> Arguments:
        """Read off the factory.

        >>> def factory(spec, memory, seed, *, hidden=(8,)): ...
        >>> Arguments.of(factory).changed({"hidden": [4, 4]}).as_dict()
        {'hidden': (4, 4)}
        """
        arguments = list(inspect.signature(factory).parameters.values())
        settings = [each for each in arguments[GIVEN:] if each.kind in (each.KEYWORD_ONLY, each.POSITIONAL_OR_KEYWORD)]
        takes_any = any(each.kind is each.VAR_KEYWORD for each in arguments)
        return cls(
            {each.name: as_given(each.default) for each in settings if each.default is not each.empty},
            None if takes_any else tuple(each.name for each in settings),
        )

    def changed(self, parameters: Mapping[str, Any]) -> Arguments:
        """With these instead. A list becomes a tuple, as which it comes back from a file."""
        if self.names is not None:
            check_known(parameters, self.names)
        return replace(self, values={**self.values, **{name: as_given(plain(v)) for name, v in parameters.items()}})

    def as_dict(self) -> dict[str, Any]:
        return dict(self.values)


@dataclass(frozen=True)
class FromFactory:
    """Calls a factory as a method's builder is called."""

    factory: Factory

    def __call__(self, spec: InputSpec, memory: str | int, settings: Arguments, seed: int = 0) -> Learner:
        return self.factory(spec, memory, seed, **settings.as_dict())
