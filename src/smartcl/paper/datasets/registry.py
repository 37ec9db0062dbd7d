"""The benchmarks by name: how each is made, by which protocol, and from which data."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from smartcl.errors import UnavailableError
from smartcl.paper.datasets.cifar import CIFAR10, CIFAR100, TEN, TWO, class_cifar10, class_cifar100
from smartcl.paper.datasets.civil_unrest import COUNTRIES, PAPER, SIBLING, civil_unrest
from smartcl.paper.datasets.civil_unrest import PROTOCOL as CIVIL
from smartcl.paper.datasets.corruption import NoiseModel
from smartcl.paper.datasets.digit_classes import LONG, SHORT, class_digits, class_mnist
from smartcl.paper.datasets.digit_domains import DOMAINS, permuted_mnist, rotated_mnist
from smartcl.paper.datasets.digit_pairs import (
    DISJOINT,
    MNIST,
    SMALL,
    SPLIT,
    DigitProtocol,
    disjoint_digits,
    disjoint_mnist,
    split_mnist,
)
from smartcl.paper.datasets.digits import SKLEARN_DIGITS
from smartcl.paper.datasets.fashion import FASHION, class_fashion, disjoint_fashion
from smartcl.paper.datasets.flu import PROTOCOL as FLU
from smartcl.paper.datasets.flu import SEASONS, flu
from smartcl.paper.datasets.flu import SOURCE as FLU_RELEASE
from smartcl.paper.datasets.image_classes import ClassProtocol
from smartcl.paper.datasets.image_folder import SOURCE as OWN_IMAGES
from smartcl.paper.datasets.image_folder import class_images
from smartcl.paper.datasets.newsgroups import PACKAGE, SKLEARN_COPY, WordsProtocol, newsgroups
from smartcl.paper.datasets.newsgroups import PROTOCOL as WORDS
from smartcl.paper.datasets.panel import PanelProtocol
from smartcl.paper.datasets.projected import projected_mnist
from smartcl.paper.datasets.simulated import SIMULATION, Simulation, simulated_events
from smartcl.paper.datasets.simulated import SOURCE as SIMULATED
from smartcl.paper.datasets.task_stream import TaskStream

#: Every number that decides how data become a stream; two protocols that differ are two experiments.
StreamProtocol = DigitProtocol | ClassProtocol | PanelProtocol | WordsProtocol | Simulation


class StreamBuilder(Protocol):
    """Makes a benchmark by its protocol from its seed, its label noise and the folder its files are kept in."""

    def __call__(
        self, *, seed: int, noise: NoiseModel | str | None, data_dir: Path | str | None, protocol: Any
    ) -> TaskStream: ...


def simulated_stream(
    *, seed: int, noise: NoiseModel | str | None, data_dir: Path | str | None, protocol: Simulation
) -> TaskStream:
    """The stream of ``simulated_events``, made on the spot."""
    return simulated_events(protocol, seed, noise).stream


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
    """A benchmark: its builder, its protocol, and the data its results are of unless they say otherwise.

    ``others`` are data that may be loaded in place of ``source``. ``references`` says whether results are read beside
    reference lines, ``note`` what a reader of them must know.
    """

    build: StreamBuilder
    protocol: StreamProtocol
    source: str
    others: tuple[str, ...] = ()
    references: bool = False
    note: str | None = None

    def load(self, seed: int, noise: NoiseModel | str | None, data_dir: Path | str | None) -> TaskStream:
        return self.build(seed=seed, noise=noise, data_dir=data_dir, protocol=self.protocol)


DATASETS: dict[str, Dataset] = {
    **{
        f"{name}{ending}": Dataset(build, replace(protocol, validation=share), MNIST, (SKLEARN_DIGITS,))
        for name, build, protocol in (
            ("disjoint-mnist", disjoint_mnist, DISJOINT),
            ("split-mnist", split_mnist, SPLIT),
            ("projected-mnist", projected_mnist, DISJOINT),
            ("class-mnist", class_mnist, LONG),
            ("class-mnist-short", class_mnist, SHORT),
            ("permuted-mnist", permuted_mnist, DOMAINS),
            ("rotated-mnist", rotated_mnist, DOMAINS),
        )
        for share, ending in ((0.0, ""), (VALIDATION, "-validation"))
    },
    **{
        f"{name}{ending}": Dataset(build, replace(protocol, validation=share), source)
        for name, build, protocol, source in (
            ("disjoint-fashion", disjoint_fashion, DISJOINT, FASHION),
            ("class-fashion", class_fashion, LONG, FASHION),
            ("class-cifar10", class_cifar10, TWO, CIFAR10.title),
            ("class-cifar100", class_cifar100, TEN, CIFAR100.title),
            ("class-images", class_images, TWO, OWN_IMAGES),
        )
        for share, ending in ((0.0, ""), (VALIDATION, "-validation"))
    },
    "disjoint-digits": Dataset(disjoint_digits, SMALL, SKLEARN_DIGITS),
    "class-digits": Dataset(class_digits, SMALL, SKLEARN_DIGITS),
    **{
        f"civil-{country.lower()}{ending}": Dataset(
            partial(civil_unrest, country), replace(CIVIL, validation=held_out), SIBLING, (PAPER,), True, NEAR_CHANCE
        )
        for held_out, ending in ENDINGS.items()
        for country in COUNTRIES
    },
    **{
        f"flu-{years}{ending}": Dataset(
            partial(flu, years), replace(FLU, validation=held_out), FLU_RELEASE, references=True
        )
        for held_out, ending in ENDINGS.items()
        for years in SEASONS
    },
    "newsgroups": Dataset(newsgroups, WORDS, PACKAGE, (SKLEARN_COPY,), references=True),
    "simulated-events": Dataset(simulated_stream, SIMULATION, SIMULATED, references=True),
}


def load_stream(
    name: str, seed: int = 0, noise: NoiseModel | str | None = None, data_dir: Path | str | None = None
) -> TaskStream:
    """The benchmark of that name.

    >>> load_stream("disjoint-digits", seed=1, noise="flip:0.1").name
    'disjoint-digits'
    >>> load_stream("mnist")
    Traceback (most recent call last):
    ValueError: there is no data set 'mnist' (nearest: 'split-mnist', ...); there are ...
    """
    if name not in DATASETS:
        near = ", ".join(repr(match) for match in get_close_matches(name, DATASETS, cutoff=0.4))
        hint = f" (nearest: {near})" if near else ""
        raise ValueError(f"there is no data set {name!r}{hint}; there are {', '.join(DATASETS)}")
    return DATASETS[name].load(seed, noise, data_dir)


def protocol_of(name: str) -> dict[str, Any]:
    """The protocol of a benchmark in plain values, as a run's key and its result have it.

    >>> protocol_of("newsgroups")
    {'least_messages': 2, 'batch_size': 300, 'epochs': 1}
    """
    return asdict(DATASETS[name].protocol)


def sources_here(names: Iterable[str], data_dir: Path | str | None = None) -> dict[str, str]:
    """What would really be loaded here under these names, for those of which that can be other data than their own.

    >>> sources_here(["disjoint-digits", "simulated-events"])
    {}
    """
    found = {}
    for name in names:
        if name in DATASETS and DATASETS[name].others:
            with suppress(UnavailableError, OSError, ValueError):  # no data at all: each run will say why
                found[name] = load_stream(name, data_dir=data_dir).source
    return found
