"""Methods that build learners, and a user's function ``factory(spec, memory, seed, **parameters)`` as one of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from smartcl.settings import as_given, check_known, plain, shown

if TYPE_CHECKING:
    from smartcl.data.spec import InputSpec
    from smartcl.learners.stream_learner import StreamLearner

Factory: TypeAlias = "Callable[..., StreamLearner]"
#: ``build(spec, memory, settings, seed)``, with the settings of the method's own class.
Build: TypeAlias = "Callable[[InputSpec, str | int, Any, int], StreamLearner]"

#: When penalties that protect what a task has taught take effect in a stream without tasks.
SCHEDULE = "20 batches"

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

    def __call__(self, spec: InputSpec, memory: str | int, settings: Arguments, seed: int = 0) -> StreamLearner:
        return self.factory(spec, memory, seed, **settings.as_dict())


@dataclass(frozen=True)
class Builder:
    """A builder of this package by its place, ``module:function``: it is imported when it is called."""

    place: str

    def function(self) -> Build:
        module, name = self.place.split(":")
        found: Build = getattr(import_module(f"smartcl.learners.{module}"), name)
        return found

    def __call__(self, spec: InputSpec, memory: str | int, settings: Any, seed: int = 0) -> StreamLearner:
        return self.function()(spec, memory, settings, seed)


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
                "learner must be a factory(spec, memory, seed, **parameters) or a smartcl.extend.Method, "
                f"got {shown(maker)}"
            )
        return cls(FromFactory(maker), Arguments.of(maker))

    @property
    def summary(self) -> str:
        maker = self.build
        if isinstance(maker, FromFactory | Builder):
            maker = maker.factory if isinstance(maker, FromFactory) else maker.function()
        return (inspect.getdoc(maker) or "").partition("\n")[0]

    @property
    def parameters(self) -> dict[str, Any]:
        """The names and default values of what can be set."""
        return self.settings.as_dict()

    def learner(
        self,
        spec: InputSpec,
        memory: str | int,
        seed: int = 0,
        *,
        total: str | int | None = None,
        **parameters: Any,
    ) -> StreamLearner:
        """A learner with these settings, the others as they are; with a ``total``, as large as fits that."""
        from smartcl.learners.stream_learner import StreamLearner
        from smartcl.learners.total import divided, total_nbytes
        from smartcl.learners.transaction import gradients_as_before

        build, settings = self.build, self.settings.changed(parameters)
        most = None if total is None else total_nbytes(total)
        if most is not None:
            build, settings = divided(build, settings, spec, most)
        with gradients_as_before():
            made = build(spec, memory, settings, seed)
        if not isinstance(made, StreamLearner):  # another's builder
            raise ValueError(f"a method must build a smartcl.extend.Learner, this one built {shown(made)}")
        if most is not None:
            made.bound(most)
        return made

    def coerce(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters as they will be used, text parsed; unknown names and values out of range are refused."""
        settings = self.settings.changed(parameters).as_dict()
        return {name: settings.get(name) for name in parameters}

    def without_task_ends(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters for a stream that never says that a task ends: what waits for it comes on a schedule.

        >>> from smartcl.learners.methods import find_method
        >>> find_method("ewc").without_task_ends({"strength": 10.0})
        {'strength': 10.0, 'consolidate': '20 batches'}
        """
        if self.parameters.get("consolidate") != "task":
            return dict(parameters)
        chosen = {**parameters, "consolidate": parameters.get("consolidate", SCHEDULE)}
        if chosen["consolidate"] == "task":
            raise ValueError(f"consolidate must not be 'task' where no task ends: use such as {SCHEDULE!r}, or 'batch'")
        return chosen
