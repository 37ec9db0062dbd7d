"""Streams to develop on, by other seeds and other settings than the suite's: what is chosen is chosen on these.

``python -m smartcl.paper.peers.development FOLDER`` writes each as ``name.npz`` (X, y, drifts).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
from river import datasets
from river.datasets import synth
from sklearn import datasets as tables

from smartcl.paper.peers.concepts import (
    Recorded,
    led,
    mixed_scale,
    moving_centroids,
    rare_event,
    record,
    sea,
    sine,
    turning_hyperplane,
)

#: The suite's seeds are far below.
FIRST_SEED = 100


def agrawal(seed: int) -> Recorded:
    """Three rules for a loan, one after the other."""
    rules = (0, 3, 6)
    return record([islice(synth.Agrawal(rule, seed=seed + rule, perturbation=0.05), 4000) for rule in rules])


def agrawal_gradual(seed: int) -> Recorded:
    """One rule gives way to another over 2,000 rows."""
    first, second = (synth.Agrawal(rule, seed=seed + rule) for rule in (1, 4))
    mixed = synth.ConceptDriftStream(first, second, position=5000, width=2000, seed=seed)
    return replace(record([islice(mixed, 10_000)], gradual=True), drifts=(5000,))


def stagger(seed: int) -> Recorded:
    """Three rules over three words."""
    return record([islice(synth.STAGGER(rule, seed=seed + rule), 2500) for rule in (0, 1, 2)])


def mixed_words(seed: int) -> Recorded:
    """Two truth values and two numbers; the labels are reversed, and return."""
    return record([islice(synth.Mixed(rule, seed=seed + part), 3000) for part, rule in enumerate((0, 1, 0))])


def trees(seed: int) -> Recorded:
    """A random tree, then another."""
    return record(
        [islice(synth.RandomTree(seed_tree=each, seed_sample=each, n_classes=3), 5000) for each in (seed, seed + 1)]
    )


def waveform(seed: int) -> Recorded:
    return record([islice(synth.Waveform(seed=seed, has_noise=True), 8000)])


def raw_table(seed: int) -> Recorded:
    """Fifteen features in raw units, four classes of three clusters each, 3% of the labels wrong."""
    X, y = tables.make_classification(
        10_000, 15, n_informative=8, n_classes=4, n_clusters_per_class=3, flip_y=0.03, random_state=seed
    )
    rng = np.random.default_rng(seed)
    return _recorded(X * 10.0 ** rng.uniform(-3, 5, size=15) + rng.normal(size=15) * 100, y)


def moons(seed: int) -> Recorded:
    return _recorded(*tables.make_moons(6000, noise=0.25, random_state=seed))


def circles(seed: int) -> Recorded:
    return _recorded(*tables.make_circles(6000, noise=0.12, factor=0.6, random_state=seed))


def spirals(seed: int) -> Recorded:
    """Three arms around each other."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=6000)
    turn = np.sqrt(rng.uniform(0.05, 1, size=6000)) * 3 * np.pi
    angle = turn + y * 2 * np.pi / 3
    return _recorded(np.stack([turn * np.cos(angle), turn * np.sin(angle)], 1) + rng.normal(size=(6000, 2)) * 0.5, y)


def new_classes(seed: int) -> Recorded:
    """A table of ten classes that come two at a time."""
    X, y = tables.make_classification(
        10_000, 20, n_informative=15, n_classes=10, n_clusters_per_class=1, class_sep=1.5, random_state=seed
    )
    order = np.argsort(y // 2, kind="stable")
    return replace(_recorded(X[order], y[order]), drifts=tuple(int(n) for n in np.searchsorted(y[order], (2, 4, 6, 8))))


def shuffled(load: Callable[..., tuple[np.ndarray, np.ndarray]]) -> Callable[[int], Recorded]:
    """A table that ships with scikit-learn, raw, in random order."""

    def recorded(seed: int) -> Recorded:
        X, y = load(return_X_y=True)
        order = np.random.default_rng(seed).permutation(len(y))
        return _recorded(X[order], y[order])

    return recorded


def digits_by_class(seed: int) -> Recorded:
    """Small pictures of digits, raw, two digits at a time."""
    whole = shuffled(tables.load_digits)(seed)
    order = np.argsort(whole.y // 2, kind="stable")
    firsts = np.searchsorted(whole.y[order] // 2, np.arange(1, 5))
    return Recorded(whole.X[order], whole.y[order], tuple(int(first) for first in firsts))


def shuttle(seed: int) -> Recorded:
    """River's record of a space shuttle, anomalies (7%) against the rest, a window of 10,000 rows."""
    whole = record([datasets.Shuttle()])
    start = np.random.default_rng(seed).integers(len(whole.y) - 10_000)
    return _recorded(whole.X[start : start + 10_000], whole.y[start : start + 10_000])


DEVELOPMENT: dict[str, Callable[[int], Recorded]] = {
    "sea-5-percent": lambda seed: sea(seed, (3, 2, 0), 4000, 0.05),
    "sea-20-percent": lambda seed: sea(seed, (2, 3, 2, 1, 0), 3000, 0.2),
    "rbf-fast": lambda seed: moving_centroids(
        seed, 10_000, n_features=6, n_classes=3, n_centroids=30, n_drift_centroids=30, change_speed=0.01
    ),
    "rbf-slow": lambda seed: moving_centroids(
        seed, 12_000, n_features=15, n_classes=5, n_centroids=40, n_drift_centroids=20, change_speed=0.0005
    ),
    "hyperplane-fast": lambda seed: turning_hyperplane(
        seed, 10_000, n_features=7, n_drift_features=7, mag_change=0.005, noise_percentage=0.02
    ),
    "hyperplane-slow": lambda seed: turning_hyperplane(
        seed, 12_000, n_features=20, n_drift_features=5, mag_change=0.0005, noise_percentage=0.1
    ),
    "sine-return": lambda seed: sine(seed, (2, 3, 2), 3000),
    "sine-four": lambda seed: sine(seed, (3, 1, 2, 0), 2500, noise=True),
    "led-little-noise": lambda seed: led(seed, (2, 6, 0), 3000, 0.05),
    "agrawal": agrawal,
    "agrawal-gradual": agrawal_gradual,
    "stagger": stagger,
    "mixed-reversal": mixed_words,
    "trees": trees,
    "waveform": waveform,
    "mixed-scale": lambda seed: mixed_scale(
        seed, 8000, (2, -4, 0, 5, -7, 3, 1), (0.0, 1e7, -0.5), unit=0.01, classes=2
    ),
    "mixed-scale-wide": lambda seed: mixed_scale(
        seed, 8000, (-6, 6, -1, 4, -3, 2, 0, 3, -5, 1), (1.0, 273.15), unit=2.54, classes=4
    ),
    "rare-300": lambda seed: rare_event(seed, 15_000, 300, 6),
    "rare-100": lambda seed: rare_event(seed, 10_000, 100, 12),
    "raw-table": raw_table,
    "moons": moons,
    "circles": circles,
    "spirals": spirals,
    "new-classes": new_classes,
    "digits": shuffled(tables.load_digits),
    "digits-by-class": digits_by_class,
    "wine": shuffled(tables.load_wine),
    "breast-cancer": shuffled(tables.load_breast_cancer),
    "shuttle": shuttle,
}


def _recorded(X: np.ndarray, y: np.ndarray) -> Recorded:
    return Recorded(X.astype(np.float32), y.astype(np.int64))


def write_all(folder: Path, seed: int = FIRST_SEED) -> None:
    """Every stream with this seed, under its name."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in DEVELOPMENT.items():
        stream = make(seed)
        np.savez_compressed(folder / f"{name}.npz", X=stream.X, y=stream.y, drifts=np.array(stream.drifts, np.int64))
        print(f"{name}: {len(stream.y):,} rows, {stream.X.shape[1]} features, {len(np.unique(stream.y))} classes")


if __name__ == "__main__":
    write_all(Path(sys.argv[1]))
