"""Simulated civil unrest with planted precursors, in the shape of the real data: what a learner finds can be checked.

Keywords occur at random: few often, most seldom, their rates wander over the days. On the day before an event a
city's precursors occur more often, each on its own, so that no single one gives the event away. Each city answers
to its own part of the planted precursors.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smartcl.data.batch import Ints
from smartcl.events.counts import count_table
from smartcl.paper.datasets.civil_unrest import PROTOCOL
from smartcl.paper.datasets.corruption import NoiseModel
from smartcl.paper.datasets.panel import Panel, panel_stream
from smartcl.paper.datasets.task_stream import TaskStream

#: The share of days that an event follows.
EVENT_SHARE = 0.3
#: The share of the planted precursors that a city answers to.
CITY_SHARE = 0.75
#: The expected occurrences a day of a keyword: the middle one, and the spread of the logarithm.
MEDIAN_RATE, RATE_SPREAD = 0.03, 1.0
#: What the day before an event adds to a precursor's expected occurrences.
SURGE = 0.7

PLANT, CITY = (0x51A00000 + purpose for purpose in range(2))


@dataclass(frozen=True)
class SimulatedEvents:
    """A simulated stream and its truth: per task, the features that really announce its events.

    >>> events = simulated_events(cities=3, days=300, keywords=80, precursors=8)
    >>> events.stream.name, len(events.stream.tasks), len(events.planted)
    ('simulated-events', 3, 8)
    >>> [len(city) for city in events.precursors]
    [6, 6, 6]
    """

    stream: TaskStream
    precursors: tuple[Ints, ...]

    @property
    def planted(self) -> Ints:
        """The features that announce an event in any task."""
        return np.unique(np.concatenate(self.precursors))


def simulated_events(
    cities: int = 10,
    days: int = 729,
    keywords: int = 923,
    precursors: int = 20,
    *,
    drift: float = 0.5,
    unexplained: float = 0.05,
    seed: int = 0,
    noise: NoiseModel | str | None = None,
) -> SimulatedEvents:
    """Make a country of that size and cut it into tasks as the real ones are.

    ``drift`` is how far the logarithm of a keyword's rate wanders from the first day to the last (standard
    deviation); ``unexplained`` the share of days whose precursors know nothing of the event; ``noise`` corrupts
    training labels as in every stream.
    """
    check(cities, days, keywords, precursors, drift, unexplained, seed)
    model = NoiseModel.parse(noise)
    plant = np.random.default_rng([seed, PLANT])
    planted = plant.choice(keywords, precursors, replace=False)
    rates = MEDIAN_RATE * np.exp(RATE_SPREAD * plant.normal(size=keywords))
    # each planted keyword serves in some city: the cities take their parts in turn from one circle
    part = max(1, round(CITY_SHARE * precursors))
    own = [planted[(np.arange(part) + city * part) % precursors] for city in range(cities)]
    made = [
        simulate_city(rates, own[city], days, drift, unexplained, np.random.default_rng([seed, CITY, city]))
        for city in range(cities)
    ]
    names = tuple(f"precursor {k}" if k in planted else f"keyword {k}" for k in range(keywords))
    panel = Panel(
        tuple(count_table(counts) for counts, _ in made),
        np.stack([labels for _, labels in made]),
        tuple(f"city {number}" for number in range(1, cities + 1)),
        names,
    )
    stream = panel_stream("simulated-events", panel, PROTOCOL, seed, model)
    return SimulatedEvents(stream, truth(stream, panel, names, own))


def simulate_city(
    rates: NDArray[np.float64],
    precursors: Ints,
    days: int,
    drift: float,
    unexplained: float,
    rng: np.random.Generator,
) -> tuple[Ints, Ints]:
    """The counts ``[day, keyword]`` of one city, and whether an event follows each day."""
    labels = (rng.random(days) < EVENT_SHARE).astype(np.int64)
    steps = rng.normal(scale=drift / np.sqrt(days), size=(days, len(rates)))
    expected = rates * np.exp(np.cumsum(steps, axis=0))
    blind = rng.random(days) < unexplained
    surges = np.where(blind, rng.random(days) < EVENT_SHARE, labels == 1)
    expected[np.ix_(surges, precursors)] += SURGE
    return rng.poisson(expected), labels


def truth(stream: TaskStream, panel: Panel, names: tuple[str, ...], own: list[Ints]) -> tuple[Ints, ...]:
    """The precursors of each task as positions among the stream's features."""
    position = {name: place for place, name in enumerate(stream.feature_names or ())}
    city = {name: number for number, name in enumerate(panel.places)}
    return tuple(
        np.array(sorted(position[names[k]] for k in own[city[task]] if names[k] in position), dtype=np.int64)
        for task in stream.task_names or ()
    )


def check(cities: int, days: int, keywords: int, precursors: int, drift: float, unexplained: float, seed: int) -> None:
    if cities < 1 or days < 1:
        raise ValueError(f"cities and days must be at least 1, got {cities} and {days}")
    if not 1 <= precursors <= keywords:
        raise ValueError(f"precursors must be in 1..{keywords}, the number of keywords, got {precursors}")
    if not 0 <= drift < np.inf:
        raise ValueError(f"drift must be at least 0 and finite, got {drift}")
    if not 0 <= unexplained <= 1:
        raise ValueError(f"unexplained must be a share in 0..1, got {unexplained}")
    if seed < 0:
        raise ValueError(f"seed must be at least 0, got {seed}")
