"""Forecasting a user's own events: two files, a method, and everything refused that can be before it trains."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from smartcl.estimator.fitted import Built
from smartcl.events.calendar import EventDays, EventStream
from smartcl.events.event_files import ColumnNames, read_event_days
from smartcl.events.event_model import EventModel
from smartcl.events.forecast import EventForecast
from smartcl.events.suspects import suspects
from smartcl.events.walk_forward import walk_forward
from smartcl.learners.methods import find_method
from smartcl.learners.stream_learner import StreamLearner
from smartcl.learners.watching import RunTimer, TellProgress

#: What forecasting sets unless asked otherwise. Days are few and mostly noise: on Brazil's civil unrest a small
#: network, trained less on each batch, had the lower Brier score at a tenth of the time of the method's own settings.
#: Forecasts are probabilities, and a rare event contradicts the forecast without being wrong: no label is smoothed
#: or doubted.
OWN_PARAMETERS = {
    **{"hidden": (64,), "lr": 1e-3, "iterations": 10, "smoothing": 0.0},
    **{"robust": 0.0, "distill": 0.0, "trust": False},
}
#: The days with labels are cut into this number of parts; the first is only learned from.
PARTS = 3
LEAST_TESTED_DAYS = 10
MOST_SUSPECTS = 5


@dataclass(frozen=True)
class EventSpec:
    """How to forecast: days ahead, the method with its memory and seed, and the first day to score."""

    horizon: int = 1
    method: str = "smart"
    memory: str = "1MB"
    seed: int = 0
    parameters: Mapping[str, Any] = field(default_factory=dict)
    test_from: date | None = None


@dataclass(frozen=True)
class PreparedForecast:
    """Files and arguments that have all proved valid, and the learner built for them."""

    spec: EventSpec
    names: ColumnNames
    stream: EventStream
    first_tested: int
    learner: StreamLearner
    built: Built

    def run(self, progress: TellProgress | None = None) -> EventForecast:
        """Walk through the calendar. Seconds include the guard and all forecasts, not the reading of files."""
        clock = RunTimer()
        with clock:
            walk = walk_forward(self.learner, self.stream, progress)
        days, spec = self.stream.days, self.spec
        model = EventModel(
            learner=self.learner,
            calibration=walk.calibration,
            places=days.places,
            keywords=days.keywords,
            horizon=spec.horizon,
            seed=spec.seed,
            built=self.built,
        )
        return EventForecast(days, walk, self.first_tested, model, self.names, clock.wall)


def prepare_forecast(counts: Path, events: Path, names: ColumnNames, spec: EventSpec) -> PreparedForecast:
    """Read the files and build the learner; a ``ValueError`` says what cannot be."""
    method = find_method(spec.method)
    if method.task_aware:
        raise ValueError(f"method {spec.method!r} must be told which task each sample is of; days have no tasks")
    own = {name: value for name, value in OWN_PARAMETERS.items() if name in method.parameters}
    method.coerce(spec.parameters)
    days = read_event_days(counts, events, names)
    first_tested = first_test_day(days, spec.horizon, spec.test_from)
    stream = EventStream(days, spec.horizon)
    check_labels(days, spec.horizon)
    built = Built.of(spec.method, spec.memory, {**own, **spec.parameters}, days.spec)
    learner = built.learner(spec.seed)
    first = stream.learnable(spec.horizon)
    assert first is not None
    learner.check(first)
    for keyword, area in list(suspects(days, spec.horizon).items())[:MOST_SUSPECTS]:
        warnings.warn(
            f"{counts}: the count of {keyword!r} alone tells events with an AUC of {area:.3f}. "
            "If it is counted after the event, the backtest looks ahead",
            stacklevel=2,
        )
    return PreparedForecast(spec, names, stream, first_tested, learner, built)


def first_test_day(days: EventDays, horizon: int, wanted: date | None = None) -> int:
    """The first day whose forecasts are scored: unless given, after a third of the days with labels."""

    if days.n_days < least_days(horizon):
        raise ValueError(
            f"too few days: counts reach from {days.first} to {days.last}, {days.n_days} days; "
            f"a horizon of {horizon} needs at least {least_days(horizon)}"
        )
    if wanted is None:
        return horizon + (days.n_days - horizon) // PARTS
    low, high = days.day(horizon + 1), days.day(days.n_days - 1 - horizon)
    if not low <= wanted <= high:
        raise ValueError(f"the first tested day must lie in {low} to {high} for a horizon of {horizon}, got {wanted}")
    return (wanted - days.first).days


def least_days(horizon: int) -> int:
    """How long a calendar must be: of the days with labels one part is learned first, the rest but ``horizon`` scored.

    >>> least_days(1), least_days(100_000_000)
    (17, 250000014)
    """
    untested = horizon + LEAST_TESTED_DAYS
    return horizon + untested + (untested - 1) // (PARTS - 1)


def check_labels(days: EventDays, horizon: int) -> None:
    """There is something to tell apart."""
    labels = days.labels(horizon)
    for label, what in ((1, "no day with counts"), (0, "every day at every place")):
        if not (labels == label).any():
            raise ValueError(f"nothing to forecast: {what} is followed by an event within {horizon} days")
