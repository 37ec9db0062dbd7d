"""Protocol of an engine: the outcome of every run, as they finish, in any order."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from smartcl.paper.experiments.run_spec import RunSpec

if TYPE_CHECKING:
    from smartcl.learners.watching import TellProgress


class Work(Protocol):
    """Makes one run and returns its result; tells how far it is if somebody asks."""

    def __call__(self, spec: RunSpec, /, progress: TellProgress | None = None) -> dict[str, Any]: ...


#: Outcomes as they come; closing it early stops the runs in flight.
Outcomes = Generator["Outcome", None, None]


@dataclass(frozen=True)
class Outcome:
    """A run's result, or the reason why there is none."""

    spec: RunSpec
    result: dict[str, Any] | None = None
    reason: str | None = None


class Engine(Protocol):
    """Makes runs side by side, one thread each; a run that fails or loses its process stops no other."""

    def outcomes(self, work: Work, specs: Sequence[RunSpec]) -> Outcomes:
        """One outcome for each spec."""
        ...


def attempt(work: Callable[[RunSpec], dict[str, Any]], spec: RunSpec) -> Outcome:
    """The outcome of one run; whatever it raises becomes the reason.

    >>> attempt(lambda spec: {"accuracy": 1 / spec.seed}, RunSpec("disjoint-digits", "er")).reason
    'ZeroDivisionError: division by zero'
    """
    try:
        return Outcome(spec, work(spec))
    except Exception as error:
        return Outcome(spec, reason=reason_of(error))


def reason_of(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"
