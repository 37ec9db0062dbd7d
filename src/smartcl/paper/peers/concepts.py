"""Streams made of concepts that follow each other: River's generators, and three of our own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from river.datasets import synth

#: Rows of features with a label each, as River yields them.
RiverRows = Iterable[tuple[dict[Any, Any], Any]]


@dataclass(frozen=True)
class Recorded:
    """A stream written down: rows in their order, labels from zero on, and where the concept changes.

    A stream that changes all along has no such rows, and says so by ``gradual``.
    """

    X: NDArray[np.float32]
    y: NDArray[np.int64]
    drifts: tuple[int, ...] = ()
    gradual: bool = False


def record(parts: Sequence[RiverRows], gradual: bool = False) -> Recorded:
    """One part after the other, each seam a drift; words become numbers, labels count from zero in sorted order."""
    pairs = [list(part) for part in parts]
    rows = [row for part in pairs for row in part]
    names = list(rows[0][0])
    columns = [_numbers([x[name] for x, _ in rows]) for name in names]
    labels = np.unique([label for _, label in rows], return_inverse=True)[1].astype(np.int64)
    seams = np.cumsum([len(part) for part in pairs])[:-1]
    return Recorded(np.stack(columns, axis=1), labels, tuple(int(seam) for seam in seams), gradual)


def sea(seed: int, variants: Sequence[int], rows: int, noise: float) -> Recorded:
    """Abrupt: ``rows`` rows of each variant."""
    return record(
        [
            islice(synth.SEA(variant=variant, noise=noise, seed=1000 * seed + part), rows)
            for part, variant in enumerate(variants)
        ]
    )


def sine(seed: int, functions: Sequence[int], rows: int, noise: bool = False) -> Recorded:
    """Functions 0 and 1 label every point oppositely, as do 2 and 3; with ``noise``, two features mean nothing."""
    return record(
        [
            islice(synth.Sine(function, seed=1000 * seed + part, has_noise=noise), rows)
            for part, function in enumerate(functions)
        ]
    )


def led(seed: int, swapped: Sequence[int], rows: int, noise: float) -> Recorded:
    """Seven segments of a digit and seventeen lights that mean nothing; ``swapped`` segments trade places with them."""
    lights = {"noise_percentage": noise, "irrelevant_features": True}
    return record(
        [
            islice(synth.LEDDrift(seed=1000 * seed + part, n_drift_features=number, **lights), rows)
            for part, number in enumerate(swapped)
        ]
    )


def moving_centroids(seed: int, rows: int, **settings: Any) -> Recorded:
    """Clouds that wander all along."""
    return record([islice(synth.RandomRBFDrift(seed_model=seed, seed_sample=seed, **settings), rows)], gradual=True)


def turning_hyperplane(seed: int, rows: int, **settings: Any) -> Recorded:
    """A boundary that turns all along."""
    return record([islice(synth.Hyperplane(seed=seed, **settings), rows)], gradual=True)


def curved_classes(rng: np.random.Generator, latent: NDArray[np.float64], classes: int) -> NDArray[np.int64]:
    """Labels by a random small network over the latent values: boundaries are bent, classes about equally large."""
    width = latent.shape[1]
    hidden = np.tanh(latent @ rng.normal(size=(width, 16)) / np.sqrt(width) * 1.5 + rng.normal(size=16))
    level = hidden @ rng.normal(size=16)
    cuts = np.quantile(level, np.arange(1, classes) / classes)
    labels: NDArray[np.int64] = np.searchsorted(cuts, level).astype(np.int64)
    return labels


def mixed_scale(
    seed: int, rows: int, exponents: Sequence[float], constants: Sequence[float], unit: float, classes: int
) -> Recorded:
    """Each feature in a unit of its own, ten to these exponents; one far from zero, one long-tailed, some constant.

    In mid-stream the first feature's unit changes by the factor ``unit``; what it means for the label does not.
    """
    rng = np.random.default_rng([seed, 0])
    latent = rng.normal(size=(rows, len(exponents)))
    y = curved_classes(rng, latent, classes)
    values = latent.copy()
    values[:, 1] += 50.0
    values[:, 2] = np.exp(1.5 * values[:, 2])
    values *= 10.0 ** np.array(exponents)
    values[rows // 2 :, 0] *= unit
    X = np.concatenate([values, np.tile(np.array(constants), (rows, 1))], axis=1)
    return Recorded(X.astype(np.float32), y, (rows // 2,))


def rare_event(seed: int, rows: int, one_in: int, features: int) -> Recorded:
    """An event in ``one_in`` rows: three of the features lean to one side, none says it for certain."""
    rng = np.random.default_rng([seed, 1])
    y = np.zeros(rows, dtype=np.int64)
    y[rng.choice(rows, rows // one_in, replace=False)] = 1
    X = rng.normal(size=(rows, features))
    X[:, :3] += 1.5 * y[:, None]
    return Recorded(X.astype(np.float32), y)


def _numbers(values: list[Any]) -> NDArray[np.float32]:
    """Numbers as they are, words by their place in the alphabet."""
    if isinstance(values[0], str):
        return np.unique(values, return_inverse=True)[1].astype(np.float32)
    return np.array(values, dtype=np.float32)
