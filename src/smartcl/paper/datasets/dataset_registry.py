"""Registry of the benchmarks: the builder, the protocol and the data of each.

A builder is named by its place and imported when a stream is loaded: to know what there is, nothing else is loaded.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smartcl.errors import UnavailableError
from smartcl.paper.datasets.protocols import (
    CIFAR_10,
    CIFAR_100,
    CIVIL,
    COUNTRIES,
    DISJOINT,
    DOMAINS,
    ENCODED_IMAGES,
    ENCODED_IMAGES_SHORT,
    ENCODED_TEXTS,
    FASHION,
    FLU,
    FLU_RELEASE,
    LONG,
    MNIST,
    OWN_IMAGES,
    PACKAGE,
    PAPER,
    SEASONS,
    SHORT,
    SIBLING,
    SIMULATED,
    SIMULATION,
    SKLEARN_COPY,
    SKLEARN_DIGITS,
    SMALL,
    SPLIT,
    TEN,
    TWO,
    WORDS,
    ClassProtocol,
    DigitProtocol,
    PanelProtocol,
    Simulation,
    WordsProtocol,
)

if TYPE_CHECKING:
    from smartcl.paper.datasets.corruption import NoiseModel
    from smartcl.paper.datasets.task_stream import TaskStream

#: Every number that decides how data become a stream; two protocols that differ are two experiments.
StreamProtocol = DigitProtocol | ClassProtocol | PanelProtocol | WordsProtocol | Simulation

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

    ``build`` is the place of a function of this folder, ``module:function``, which is called with the arguments
    ``first``, seed, noise, data folder and protocol. ``others`` are data that may be loaded in place of ``source``.
    ``references`` says whether results are read beside reference lines, ``note`` what a reader of them must know.
    """

    build: str
    protocol: StreamProtocol
    source: str
    others: tuple[str, ...] = ()
    references: bool = False
    note: str | None = None
    first: tuple[str, ...] = ()

    def load(self, seed: int, noise: NoiseModel | str | None, data_dir: Path | str | None) -> TaskStream:
        module, name = self.build.split(":")
        build = getattr(import_module(f"smartcl.paper.datasets.{module}"), name)
        stream: TaskStream = build(*self.first, seed=seed, noise=noise, data_dir=data_dir, protocol=self.protocol)
        return stream


DATASETS: dict[str, Dataset] = {
    **{
        f"{name}{ending}": Dataset(build, replace(protocol, validation=share), MNIST, (SKLEARN_DIGITS,))
        for name, build, protocol in (
            ("disjoint-mnist", "digit_pairs:disjoint_mnist", DISJOINT),
            ("split-mnist", "digit_pairs:split_mnist", SPLIT),
            ("projected-mnist", "projected:projected_mnist", DISJOINT),
            ("class-mnist", "digit_classes:class_mnist", LONG),
            ("class-mnist-short", "digit_classes:class_mnist", SHORT),
            ("permuted-mnist", "digit_domains:permuted_mnist", DOMAINS),
            ("rotated-mnist", "digit_domains:rotated_mnist", DOMAINS),
        )
        for share, ending in ((0.0, ""), (VALIDATION, "-validation"))
    },
    **{
        f"{name}{ending}": Dataset(build, replace(protocol, validation=share), source)
        for name, build, protocol, source in (
            ("disjoint-fashion", "fashion:disjoint_fashion", DISJOINT, FASHION),
            ("class-fashion", "fashion:class_fashion", LONG, FASHION),
            ("class-cifar10", "cifar:class_cifar10", TWO, CIFAR_10),
            ("class-cifar100", "cifar:class_cifar100", TEN, CIFAR_100),
            ("class-images", "image_folder:class_images", TWO, OWN_IMAGES),
        )
        for share, ending in ((0.0, ""), (VALIDATION, "-validation"))
    },
    **{
        f"{name}{'' if together is None else '-shuffled'}{ending}": Dataset(
            build,
            replace(protocol, classes_per_task=together or protocol.classes_per_task, validation=share),
            source,
            others,
        )
        for name, build, protocol, source, all_classes, others in (
            ("encoded-cifar10", "encoded_rows:encoded_cifar10", ENCODED_IMAGES, CIFAR_10, 10, ()),
            ("encoded-cifar10-short", "encoded_rows:encoded_cifar10", ENCODED_IMAGES_SHORT, CIFAR_10, 10, ()),
            ("encoded-newsgroups", "encoded_rows:encoded_newsgroups", ENCODED_TEXTS, PACKAGE, 20, (SKLEARN_COPY,)),
        )
        for together in (None, all_classes)
        for share, ending in ((0.0, ""), (VALIDATION, "-validation"))
    },
    "disjoint-digits": Dataset("digit_pairs:disjoint_digits", SMALL, SKLEARN_DIGITS),
    "class-digits": Dataset("digit_classes:class_digits", SMALL, SKLEARN_DIGITS),
    **{
        f"civil-{country.lower()}{ending}": Dataset(
            "civil_unrest:civil_unrest",
            replace(CIVIL, validation=held_out),
            SIBLING,
            (PAPER,),
            True,
            NEAR_CHANCE,
            first=(country,),
        )
        for held_out, ending in ENDINGS.items()
        for country in COUNTRIES
    },
    **{
        f"flu-{years}{ending}": Dataset(
            "flu:flu", replace(FLU, validation=held_out), FLU_RELEASE, references=True, first=(years,)
        )
        for held_out, ending in ENDINGS.items()
        for years in SEASONS
    },
    "newsgroups": Dataset("newsgroups:newsgroups", WORDS, PACKAGE, (SKLEARN_COPY,), references=True),
    "simulated-events": Dataset("simulated:simulated_stream", SIMULATION, SIMULATED, references=True),
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
