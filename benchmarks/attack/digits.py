"""scikit-learn's digits in many orders and forms: with its default settings the classifier learns them in all."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import load_digits

from benchmarks.attack.tries import NEVER, SURVIVED, FaultError, Findings, run
from smartcl import SmartClassifier

LEAST_ACCURACY = 0.90
TRAINING_ROWS, BATCH = 1500, 50

#: The order in which rows come, of their labels.
Order = Callable[[np.ndarray], np.ndarray]


def _as_shuffled(y: np.ndarray) -> np.ndarray:
    return np.arange(len(y))


def _by_class(y: np.ndarray) -> np.ndarray:
    return np.argsort(y, kind="stable")


def _one_class_first(y: np.ndarray) -> np.ndarray:
    return np.argsort(y != 3, kind="stable")


#: The form of the rows, their order, and how many come with the first call.
STREAMS: dict[str, tuple[Callable[[np.ndarray], Any], Order, int]] = {
    "raw float64": (lambda x: x, _as_shuffled, BATCH),
    "divided by 16": (lambda x: x / 16, _as_shuffled, BATCH),
    "uint8": (lambda x: x.astype(np.uint8), _as_shuffled, BATCH),
    "sparse": (sparse.csr_array, _as_shuffled, BATCH),
    "sorted by class": (lambda x: x, _by_class, BATCH),
    "sorted by class, all announced": (lambda x: x, _by_class, BATCH),
    "one class first": (lambda x: x, _one_class_first, BATCH),
    "one row first": (lambda x: x, _as_shuffled, 1),
}


def attack(tries: int = len(STREAMS), *, seed: int = 0, until: float = NEVER) -> Findings:
    """Learn the first so many streams."""
    return run(partial(_attempt, seed), list(STREAMS)[:tries], patience=600.0, until=until)


def _attempt(seed: int, stream: str) -> str:
    reached = accuracy(stream, seed=seed)
    if reached < LEAST_ACCURACY:
        raise FaultError(f"an accuracy below {LEAST_ACCURACY}", f"{reached:.3f}")
    return SURVIVED


def accuracy(stream: str, rows: int = TRAINING_ROWS, seed: int = 0) -> float:
    """The share of test rows right after one pass over so many training rows."""
    form, order, first = STREAMS[stream]
    x, y = load_digits(return_X_y=True)
    shuffled = np.random.default_rng(seed).permutation(len(y))
    x, y = form(x[shuffled]), y[shuffled]
    index = order(y[:rows])
    model = SmartClassifier(memory="100kB", random_state=seed)
    announced = np.unique(y) if stream.endswith("announced") else None
    starts = [0, *range(first, rows, BATCH)]
    for start, stop in zip(starts, [*starts[1:], rows], strict=True):
        some = index[start:stop]
        model.partial_fit(x[some], y[some], classes=announced)
    return float(model.score(x[TRAINING_ROWS:], y[TRAINING_ROWS:]))
