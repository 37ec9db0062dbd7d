"""Simulated civil unrest with planted precursors, in the shape of the real data: what a learner finds can be checked.

Keywords occur at random: few often, most seldom, their rates wander over the days. On the day before an event a
city's precursors occur more often, each on its own, so that no single one gives the event away. Each city answers
to its own part of the planted precursors.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from smartcl.data.batch import Ints
from smartcl.events.counts import count_table
from smartcl.paper.datasets.corruption import NoiseModel
from smartcl.paper.datasets.panel import Panel, panel_stream
from smartcl.paper.datasets.protocols import SIMULATED, SIMULATION, Simulation
from smartcl.paper.datasets.task_stream import TaskStream

PLANT, CITY = (0x51A00000 + purpose for purpose in range(2))


@dataclass(frozen=True)
class SimulatedEvents:
    """A simulated stream and its truth: per task, the features that really announce its events.

    >>> events = simulated_events(Simulation(cities=3, days=300, keywords=80, precursors=8))
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
    simulation: Simulation = SIMULATION, seed: int = 0, noise: NoiseModel | str | None = None
) -> SimulatedEvents:
    """Make the country and cut it into tasks; ``noise`` corrupts training labels as in every stream."""
    if seed < 0:
        raise ValueError(f"seed must be at least 0, got {seed}")
    model = NoiseModel.parse(noise)
    cities, keywords, precursors = simulation.cities, simulation.keywords, simulation.precursors
    plant = np.random.default_rng([seed, PLANT])
    planted = plant.choice(keywords, precursors, replace=False)
    rates = simulation.median_rate * np.exp(simulation.rate_spread * plant.normal(size=keywords))
    # each planted keyword serves in some city: the cities take their parts in turn from one circle
    part = max(1, round(simulation.city_share * precursors))
    own = [planted[(np.arange(part) + city * part) % precursors] for city in range(cities)]
    made = [
        simulate_city(rates, own[city], simulation, np.random.default_rng([seed, CITY, city])) for city in range(cities)
    ]
    names = tuple(f"precursor {k}" if k in planted else f"keyword {k}" for k in range(keywords))
    panel = Panel(
        tuple(count_table(counts) for counts, _ in made),
        np.stack([labels for _, labels in made]),
        tuple(f"city {number}" for number in range(1, cities + 1)),
        names,
    )
    stream = panel_stream("simulated-events", panel, simulation.panel, seed, model, SIMULATED)
    return SimulatedEvents(stream, truth(stream, panel, names, own))


def simulate_city(
    rates: NDArray[np.float64], precursors: Ints, simulation: Simulation, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    """The counts ``[day, keyword]`` of one city, and whether an event follows each day."""
    days, event_share = simulation.days, simulation.event_share
    labels = (rng.random(days) < event_share).astype(np.int64)
    steps = rng.normal(scale=simulation.drift / np.sqrt(days), size=(days, len(rates)))
    expected = rates * np.exp(np.cumsum(steps, axis=0))
    blind = rng.random(days) < simulation.unexplained
    surges = np.where(blind, rng.random(days) < event_share, labels == 1)
    expected[np.ix_(surges, precursors)] += simulation.surge
    return rng.poisson(expected), labels


def truth(stream: TaskStream, panel: Panel, names: tuple[str, ...], own: list[Ints]) -> tuple[Ints, ...]:
    """The precursors of each task as positions among the stream's features."""
    position = {name: place for place, name in enumerate(stream.feature_names or ())}
    city = {name: number for number, name in enumerate(panel.places)}
    return tuple(
        np.array(sorted(position[names[k]] for k in own[city[task]] if names[k] in position), dtype=np.int64)
        for task in stream.task_names or ()
    )


def simulated_stream(
    *, seed: int, noise: NoiseModel | str | None, data_dir: Path | str | None, protocol: Simulation
) -> TaskStream:
    """The stream of ``simulated_events``, made on the spot: there is nothing in the data folder to read."""
    return simulated_events(protocol, seed, noise).stream
