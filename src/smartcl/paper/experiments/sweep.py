"""Many runs: only what is missing, each saved as it finishes; what is done stays done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace

from smartcl.paper.experiments.engines.engine import Engine, Outcome, Work, reason_of
from smartcl.paper.experiments.results import ResultFolder
from smartcl.paper.experiments.run import run
from smartcl.paper.experiments.spec import RunSpec

#: Called after each run, once its result is saved.
Finished = Callable[[Outcome], None]


def missing(specs: Sequence[RunSpec], results: ResultFolder) -> list[RunSpec]:
    """The runs not made yet, each once."""
    return [spec for spec in dict.fromkeys(specs) if results.load(spec) is None]


def sweep(
    specs: Sequence[RunSpec],
    results: ResultFolder,
    engine: Engine,
    finished: Finished = lambda outcome: None,
    work: Work = run,
) -> dict[RunSpec, str]:
    """Make every missing run; a run that fails stops no other. Returns the failures with their reasons."""
    failures: dict[RunSpec, str] = {}
    with closing(engine.outcomes(work, missing(specs, results))) as outcomes:
        for outcome in outcomes:
            outcome = saved(outcome, results)
            if outcome.reason is not None:
                failures[outcome.spec] = outcome.reason
            finished(outcome)
    return failures


def saved(outcome: Outcome, results: ResultFolder) -> Outcome:
    """The outcome after its result was saved; one that cannot be (a value not finite, a full disk) is a failure."""
    if outcome.result is None:
        return outcome
    try:
        results.save(outcome.spec, outcome.result)
    except (OSError, TypeError, ValueError) as error:
        return replace(outcome, result=None, reason=reason_of(error))
    return outcome
