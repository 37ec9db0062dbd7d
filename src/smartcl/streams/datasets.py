"""The benchmarks by name."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import Protocol

from smartcl.streams.corruption import NoiseModel
from smartcl.streams.digit_streams import disjoint_digits, disjoint_mnist, split_mnist
from smartcl.streams.stream import TaskStream


class StreamBuilder(Protocol):
    """Makes a benchmark from its seed, its label noise and the folder its files are kept in."""

    def __call__(self, *, seed: int, noise: NoiseModel | str | None, data_dir: Path | str | None) -> TaskStream: ...


def bundled_digits(*, seed: int, noise: NoiseModel | str | None, data_dir: Path | str | None) -> TaskStream:
    """``disjoint_digits``, whose images come with scikit-learn and need no folder."""
    return disjoint_digits(seed=seed, noise=noise)


DATASETS: dict[str, StreamBuilder] = {
    "disjoint-mnist": disjoint_mnist,
    "split-mnist": split_mnist,
    "disjoint-digits": bundled_digits,
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
