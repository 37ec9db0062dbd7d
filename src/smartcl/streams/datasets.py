"""The benchmarks by name."""

from __future__ import annotations

from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Protocol

from smartcl.streams.civil_unrest import COUNTRIES, civil_unrest
from smartcl.streams.corruption import NoiseModel
from smartcl.streams.digit_streams import disjoint_digits, disjoint_mnist, split_mnist
from smartcl.streams.flu import SEASONS, flu
from smartcl.streams.newsgroups import newsgroups
from smartcl.streams.simulated import simulated_events
from smartcl.streams.stream import TaskStream


class StreamBuilder(Protocol):
    """Makes a benchmark from its seed, its label noise and the folder its files are kept in."""

    def __call__(self, *, seed: int, noise: NoiseModel | str | None, data_dir: Path | str | None) -> TaskStream: ...


def bundled_digits(*, seed: int, noise: NoiseModel | str | None, data_dir: Path | str | None) -> TaskStream:
    """``disjoint_digits``, whose images come with scikit-learn and need no folder."""
    return disjoint_digits(seed=seed, noise=noise)


def simulated_stream(*, seed: int, noise: NoiseModel | str | None, data_dir: Path | str | None) -> TaskStream:
    """The stream of ``simulated_events``, made on the spot."""
    return simulated_events(seed=seed, noise=noise).stream


#: The share of training images held out to choose strengths by.
VALIDATION = 0.1

DATASETS: dict[str, StreamBuilder] = {
    "disjoint-mnist": disjoint_mnist,
    "split-mnist": split_mnist,
    "split-mnist-validation": partial(split_mnist, validation=VALIDATION),
    "disjoint-digits": bundled_digits,
    **{f"civil-{country.lower()}": partial(civil_unrest, country) for country in COUNTRIES},
    **{f"flu-{years}": partial(flu, years) for years in SEASONS},
    "newsgroups": newsgroups,
    "simulated-events": simulated_stream,
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
    return DATASETS[name](seed=seed, noise=noise, data_dir=data_dir)
