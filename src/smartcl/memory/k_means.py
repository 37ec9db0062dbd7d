"""k-means in one dimension: the few levels that lie nearest to many values in the mean square."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from smartcl.data.batch import Bools, Floats, Ints

#: Rounds of k-means; in one dimension further rounds change nothing measurable.
ROUNDS = 20

Centres = NDArray[np.float64]


class _Ordered(NamedTuple):
    """Values in order, and the sums of the first of them, of their values and of their squares."""

    values: Centres
    sums: Centres
    squares: Centres


def centres(values: Floats, count: int) -> Floats:
    """Where ``count`` levels are nearest to these values, ascending.

    They start where the best levels of a smooth density lie, as dense as its third root (Panter and Dite, 1951).
    """
    different, times = np.unique(values, return_counts=True)
    if len(different) <= count:
        return different
    reached = np.cbrt(times).cumsum()
    start = different[np.searchsorted(reached, reached[-1] * (np.arange(count) + 0.5) / count)]
    return _settled(_ordered(values), start.astype(np.float64), np.ones(count, dtype=np.bool_))


def more_centres(values: Floats, held: Floats, count: int) -> Floats:
    """``count`` levels near these values, among them all that are ``held`` already.

    Each new one goes where the error is largest, and all new ones settle before the next.

    >>> more_centres(np.array([0, 1, 5, 6, 9], dtype=np.float32), np.array([1, 5], dtype=np.float32), 3)
    array([1., 5., 9.], dtype=float32)
    """
    ordered, places = _ordered(values), held.astype(np.float64)
    free = np.zeros(len(held), dtype=np.bool_)
    while len(places) < count:
        new = _where_most_is_lost(ordered, places)
        if new is None:
            break
        at = int(np.searchsorted(places, new))
        free = np.insert(free, at, True)
        places = _moved(ordered, np.insert(places, at, new), free)
    return np.unique(np.concatenate([held, places[free].astype(np.float32)]))


def _ordered(values: Floats) -> _Ordered:
    ordered = np.sort(values).astype(np.float64)
    return _Ordered(ordered, *(np.concatenate([[0.0], each.cumsum()]) for each in (ordered, np.square(ordered))))


def _settled(ordered: _Ordered, places: Centres, free: Bools) -> Floats:
    return np.unique(_moved(ordered, places, free).astype(np.float32))


def _moved(ordered: _Ordered, places: Centres, free: Bools) -> Centres:
    """The places after some rounds, in each of which those that are free move to the mean of what is nearest."""
    for _ in range(ROUNDS):
        ends = _ends(ordered, places)
        members = np.diff(ends)
        means = np.diff(ordered.sums[ends]) / np.maximum(1, members)
        places = np.where(free & (members > 0), means, places)
    return places


def _where_most_is_lost(ordered: _Ordered, places: Centres) -> float | None:
    """The mean of the values on the worse side of the level with the largest error; None if there is no error."""
    ends = _ends(ordered, places)
    members, sums, squares = np.diff(ends), np.diff(ordered.sums[ends]), np.diff(ordered.squares[ends])
    worst = int((squares - 2 * places * sums + members * np.square(places)).argmax())
    first, end = int(ends[worst]), int(ends[worst + 1])
    middle = int(np.searchsorted(ordered.values, places[worst]))
    sides = [ordered.values[first:middle], ordered.values[middle:end]]
    gains = [len(side) * (side.mean() - places[worst]) ** 2 if len(side) else 0.0 for side in sides]
    return float(sides[int(np.argmax(gains))].mean()) if max(gains) > 0 else None


def _ends(ordered: _Ordered, places: Centres) -> Ints:
    """Where the values nearest to each place begin, and where the last end."""
    borders = np.searchsorted(ordered.values, (places[1:] + places[:-1]) / 2)
    return np.concatenate([[0], borders, [len(ordered.values)]])
