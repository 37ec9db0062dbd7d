"""Calendar of keyword counts and events of places, and what of them is known on which day.

At the end of a day its counts and its events are known. A sample is the counts of one place on one day; its label says
whether an event happens there within the next ``horizon`` days, so it becomes known ``horizon`` days later.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np
import torch
from scipy import sparse

from smartcl.data.batch import Batch, Bools, Ints
from smartcl.data.spec import InputSpec
from smartcl.events.counts import UNKNOWN, Csr, log_counts


@dataclass(frozen=True)
class EventDays:
    """Counts, a row per day and place (days first), and events ``[day, place]``; no day of the calendar is left out.

    >>> counts = sparse.csr_array(np.array([[2.0], [0.0], [1.0]]))
    >>> days = EventDays(date(2014, 3, 1), ("Recife",), ("strike",), counts, np.array([[False], [True], [False]]))
    >>> days.n_days, days.day(2).isoformat(), days.labels(horizon=1).ravel()
    (3, '2014-03-03', array([ 1,  0, -1]))
    """

    first: date
    places: tuple[str, ...]
    keywords: tuple[str, ...]
    counts: Csr
    events: Bools

    @property
    def n_days(self) -> int:
        return len(self.events)

    @property
    def n_places(self) -> int:
        return len(self.places)

    @property
    def last(self) -> date:
        return self.day(self.n_days - 1)

    def day(self, number: int) -> date:
        """The date of a day of the calendar, which begins with day 0."""
        return self.first + timedelta(days=number)

    def between(self, first: int, last: int) -> EventDays:
        """These days alone, both ends included: nothing later is in it."""
        rows = slice(first * self.n_places, (last + 1) * self.n_places)
        return EventDays(self.day(first), self.places, self.keywords, self.counts[rows], self.events[first : last + 1])

    def labels(self, horizon: int) -> Ints:
        """For ``[day, place]``, whether an event follows within ``horizon`` days; ``UNKNOWN`` on the last days."""
        before = np.concatenate([np.zeros((1, self.n_places), dtype=np.int64), self.events.cumsum(axis=0)])
        labels = np.full(self.events.shape, UNKNOWN, dtype=np.int64)
        known = max(self.n_days - horizon, 0)
        labels[:known] = before[1 + horizon :] > before[1 : 1 + known]
        return labels

    def features(self, samples: Ints) -> Csr:
        """What a learner sees of samples ``day * n_places + place``: log(1 + count) of each keyword, and the place."""
        own = sparse.csr_array(
            (np.ones(len(samples), dtype=np.float32), (np.arange(len(samples)), samples % self.n_places)),
            shape=(len(samples), self.n_places),
        )
        return sparse.csr_array(sparse.hstack([log_counts(self.counts[samples]), own], format="csr"))

    @property
    def feature_names(self) -> tuple[str, ...]:
        return (*self.keywords, *(f"place: {place}" for place in self.places))

    @property
    def spec(self) -> InputSpec:
        return InputSpec(len(self.keywords) + self.n_places, 2, sparse=True)


@dataclass(frozen=True)
class Today:
    """The end of a day: what can be forecast from (``rows``, one per place), and what can be learned since today."""

    number: int
    rows: Csr
    learnable: Batch | None


class EventStream:
    """Day after day: the rows of the day, and the samples whose labels the day made known, with their ``ids``."""

    def __init__(self, days: EventDays, horizon: int) -> None:
        if horizon < 1:
            raise ValueError(f"horizon must be at least 1 day, got {horizon}")
        if days.last.toordinal() + horizon > date.max.toordinal():
            raise ValueError(
                f"a horizon of {horizon} after {days.last} reaches past {date.max}, the last date there is"
            )
        self.days, self.horizon = days, horizon

    def __iter__(self) -> Iterator[Today]:
        for today in range(self.days.n_days):
            yield Today(today, self.days.features(self.samples_of(today)), self.learnable(today))

    def samples_of(self, day: int) -> Ints:
        """The samples of a day, one per place."""
        return np.arange(self.days.n_places, dtype=np.int64) + day * self.days.n_places

    def learnable(self, today: int) -> Batch | None:
        """The samples whose labels are known at the end of today and were not before."""
        day = today - self.horizon
        if day < 0:
            return None
        samples = self.samples_of(day)
        labels = self.days.events[day + 1 : today + 1].any(axis=0).astype(np.int64)
        return Batch(self.days.features(samples), torch.from_numpy(labels), ids=samples)
