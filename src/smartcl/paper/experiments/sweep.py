"""Many runs: each saved as it finishes, under the name of what it learned from; what is done stays done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from smartcl.paper.experiments.engines.engine import Engine, Outcome, Work, reason_of
from smartcl.paper.experiments.results import ResultFolder
from smartcl.paper.experiments.run_spec import RunSpec

if TYPE_CHECKING:
    from smartcl.learners.watching import TellProgress

#: Called after each run, once its result is saved.
Finished = Callable[[Outcome], None]


def make_run(spec: RunSpec, progress: TellProgress | None = None) -> dict[str, Any]:
    """One run, with all that it needs imported when it begins."""
    from smartcl.paper.experiments.task_run import run

    return run(spec, progress)


def missing(specs: Sequence[RunSpec], results: ResultFolder) -> list[RunSpec]:
    """The runs not made yet, each once."""
    return [spec for spec in dict.fromkeys(specs) if results.load(spec) is None]


def sweep(
    specs: Sequence[RunSpec],
    results: ResultFolder,
    engine: Engine,
    finished: Finished = lambda outcome: None,
    work: Work = make_run,
) -> dict[RunSpec, str]:
    """Make these runs; one that fails stops no other. Returns the failures with their reasons."""
    failures: dict[RunSpec, str] = {}
    with closing(engine.outcomes(work, specs)) as outcomes:
        for outcome in outcomes:
            outcome = saved(outcome, results)
            if outcome.reason is not None:
                failures[outcome.spec] = outcome.reason
            finished(outcome)
    return failures


def results_of(specs: Sequence[RunSpec], engine: Engine, work: Work = make_run) -> list[dict[str, Any]]:
    """The results in the order of the specs, nothing saved; the first run that fails stops the others."""
    results: dict[RunSpec, dict[str, Any]] = {}
    with closing(engine.outcomes(work, list(dict.fromkeys(specs)))) as outcomes:
        for outcome in outcomes:
            if outcome.result is None:
                raise RuntimeError(outcome.reason)
            results[outcome.spec] = outcome.result
    return [results[spec] for spec in specs]


def saved(outcome: Outcome, results: ResultFolder) -> Outcome:
    """The outcome after its result was saved; one that cannot be (a value not finite, a full disk) is a failure.

    A run that learned from other data than it was asked to is saved as what it is, and what was asked for is not made.
    """
    if outcome.result is None:
        return outcome
    source = outcome.result.get("spec", {}).get("source", outcome.spec.source)
    try:
        results.save(replace(outcome.spec, source=source), outcome.result)
    except (OSError, TypeError, ValueError) as error:
        return replace(outcome, result=None, reason=reason_of(error))
    if source != outcome.spec.source:
        reason = f"it learned from {source}, not from {outcome.spec.source}, and is saved as that"
        return replace(outcome, result=None, reason=reason)
    return outcome
