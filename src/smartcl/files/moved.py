"""Differences at a change of the stream: the newest stored samples against those before, by class and by feature."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from smartcl.data.batch import Doubles
from smartcl.memory import SampleStore
from smartcl.memory.export import stored_rows

#: Samples of each side that are compared: enough to see half a standard deviation among hundreds of features.
MOST_COMPARED = 1000
#: Features of sparse rows that are compared, the most frequent ones.
MOST_FEATURES = 256
#: Standard errors from which something has surely moved, where hundreds of features are asked.
SURE = 5.0
#: What is named of each kind: classes, means, correlations.
NAMED = 3


@dataclass(frozen=True)
class Side:
    """Samples of before or after a change: some of their features, and their labels."""

    x: Doubles
    y: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.y)


def what_moved(store: SampleStore, rows_after: int, feature: Callable[[int], str], classes: Sequence[str]) -> list[str]:
    """What the samples since a change have otherwise than those before, in words, the surest first.

    Shares of classes, means of features, and what a feature says of the label: its correlation with a class.
    """
    n = len(store)
    since = min(n // 2, max(rows_after, 1))
    if n < 4:
        return []
    at = np.arange(n)
    old, new, features = compared(store, at[: n - since][-MOST_COMPARED:], at[n - since :][-MOST_COMPARED:])
    error = np.sqrt(1 / len(old) + 1 / len(new))
    known = np.unique(np.concatenate([old.y, new.y]))
    moves: list[tuple[float, str]] = []

    was, now = (np.array([(side.y == label).mean() for label in known]) for side in (old, new))
    spread = np.sqrt(np.maximum((was + now) / 2 * (1 - (was + now) / 2), 1e-12))
    for sureness, place in surest((now - was) / spread / error):
        moves.append((sureness, f"share of {classes[known[place]]} {was[place]:.0%} -> {now[place]:.0%}"))

    was, now = old.x.mean(axis=0), new.x.mean(axis=0)
    deviation = np.concatenate([old.x, new.x]).std(axis=0)
    shift = np.divide(now - was, deviation, out=np.zeros_like(now), where=deviation > 1e-12)
    for sureness, place in surest(shift / error):
        moves.append((sureness, f"mean of {feature(features[place])} {was[place]:.3g} -> {now[place]:.3g}"))

    said, says = correlations(old, known), correlations(new, known)
    turned = (says - said) / error
    which = np.abs(turned).argmax(axis=1)
    for sureness, place in surest(turned[np.arange(len(turned)), which]):
        before, after = said[place, which[place]], says[place, which[place]]
        label = classes[known[which[place]]]
        moves.append((sureness, f"correlation of {feature(features[place])} with {label} {before:.2f} -> {after:.2f}"))
    return [text for _, text in sorted(moves, key=lambda move: -move[0])]


def compared(store: SampleStore, before: Any, after: Any) -> tuple[Side, Side, list[int]]:
    """Both sides, and which features they have: all, or of sparse rows the most frequent."""
    old, new = stored_rows(store, before), stored_rows(store, after)
    if isinstance(old, torch.Tensor) or isinstance(new, torch.Tensor):
        features = list(range(old.shape[1]))
        x = [np.asarray(side, dtype=np.float64) for side in (old, new)]
    else:
        counts = np.bincount(np.concatenate([old.indices, new.indices]), minlength=old.shape[1])
        features = np.sort(np.argsort(-counts, kind="stable")[:MOST_FEATURES]).tolist()
        x = [side[:, features].toarray().astype(np.float64) for side in (old, new)]
    y = [store.labels[side].astype(np.int64) for side in (before, after)]
    return Side(x[0], y[0]), Side(x[1], y[1]), features


def surest(sureness: Doubles) -> Iterator[tuple[float, int]]:
    """The largest of these, in standard errors, and their places.

    >>> list(surest(np.array([1.0, -9.0, 6.0])))
    [(9.0, 1), (6.0, 2)]
    """
    order = islice(np.argsort(-np.abs(sureness), kind="stable").tolist(), NAMED)
    return ((abs(float(sureness[place])), place) for place in order if abs(sureness[place]) > SURE)


def correlations(side: Side, classes: NDArray[np.int64]) -> Doubles:
    """Of each feature with each class; of what is constant, none.

    >>> correlations(Side(np.array([[0.0, 1.0], [1.0, 1.0]]), np.array([0, 1])), np.array([0, 1])).round(6).tolist()
    [[-1.0, 1.0], [0.0, 0.0]]
    """
    ours = side.x - side.x.mean(axis=0)
    theirs = (side.y[:, None] == classes).astype(np.float64)
    theirs -= theirs.mean(axis=0)
    scale = np.sqrt(np.square(ours).sum(axis=0))[:, None] * np.sqrt(np.square(theirs).sum(axis=0))
    found: Doubles = np.divide(ours.T @ theirs, scale, out=np.zeros(scale.shape), where=scale > 1e-9)
    return found
