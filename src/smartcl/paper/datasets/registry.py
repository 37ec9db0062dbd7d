"""The benchmarks by name."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Protocol

from smartcl.paper.datasets.civil_unrest import COUNTRIES, civil_unrest
from smartcl.paper.datasets.corruption import NoiseModel
from smartcl.paper.datasets.digit_streams import disjoint_digits, disjoint_mnist, split_mnist
from smartcl.paper.datasets.flu import SEASONS, flu
from smartcl.paper.datasets.newsgroups import newsgroups
from smartcl.paper.datasets.simulated import simulated_events
from smartcl.paper.datasets.task_stream import TaskStream


class StreamBuilder(Protocol):
    """Makes a benchmark from its seed, its label noise and the folder its files are kept in."""

    def __call__(self, *, seed: int, noise: NoiseModel | str | None, data_dir: Path | str | None) -> TaskStream: ...


def bundled_digits(*, seed: int, noise: NoiseModel | str | None, data_dir: Path | str | None) -> TaskStream:
    """``disjoint_digits``, whose images come with scikit-learn and need no folder."""
    return disjoint_digits(seed=seed, noise=noise)


def simulated_stream(*, seed: int, noise: NoiseModel | str | None, data_dir: Path | str | None) -> TaskStream:
    """The stream of ``simulated_events``, made on the spot."""
    return simulated_events(seed=seed, noise=noise).stream


#: The share of training images held out to choose settings by.
VALIDATION = 0.2

#: How the name of a benchmark ends, by whether it keeps to the training data.
ENDINGS = {False: "", True: "-validation"}

#: What to read beside any number on civil unrest.
NEAR_CHANCE = (
    "Within a city, what a day's keywords say about an event on the next is near chance (AUC about 0.5); to name the "
    "majority every day scores a high accuracy all the same."
)


@dataclass(frozen=True)
class Dataset:
    """A benchmark, whether its results are read beside reference lines, and what a reader of them must know."""

    build: StreamBuilder
    references: bool = False
    note: str | None = None


DATASETS: dict[str, Dataset] = {
    "disjoint-mnist": Dataset(disjoint_mnist),
    "disjoint-mnist-validation": Dataset(partial(disjoint_mnist, validation=VALIDATION)),
    "split-mnist": Dataset(split_mnist),
    "split-mnist-validation": Dataset(partial(split_mnist, validation=VALIDATION)),
    "disjoint-digits": Dataset(bundled_digits),
    **{
        f"civil-{country.lower()}{ending}": Dataset(
            partial(civil_unrest, country, validation=validation), references=True, note=NEAR_CHANCE
        )
        for validation, ending in ENDINGS.items()
        for country in COUNTRIES
    },
    **{
        f"flu-{years}{ending}": Dataset(partial(flu, years, validation=validation), references=True)
        for validation, ending in ENDINGS.items()
        for years in SEASONS
    },
    "newsgroups": Dataset(newsgroups, references=True),
    "simulated-events": Dataset(simulated_stream, references=True),
}


def load_stream(
    name: str, seed: int = 0, noise: NoiseModel | str | None = None, data_dir: Path | str | None = None
) -> TaskStream:
    """The benchmark of that name.

    >>> load_stream("disjoint-digits", seed=1, noise="flip:0.1").name
    'disjoint-digits'
    >>> load_stream("mnist")
    Traceback (most recent call last):
    ValueError: there is no data set 'mnist' (nearest: 'split-mnist', 'disjoint-mnist'); there are ...
    """
    if name not in DATASETS:
        near = ", ".join(repr(match) for match in get_close_matches(name, DATASETS, cutoff=0.4))
        hint = f" (nearest: {near})" if near else ""
        raise ValueError(f"there is no data set {name!r}{hint}; there are {', '.join(DATASETS)}")
    return DATASETS[name].build(seed=seed, noise=noise, data_dir=data_dir)
