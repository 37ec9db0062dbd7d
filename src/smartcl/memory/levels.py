"""Levels: the few values that a stored value can have, which follow the distribution of the values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smartcl.data.batch import Floats, Ints
from smartcl.memory.k_means import centres, more_centres
from smartcl.memory.nonzeros import Nonzeros
from smartcl.saving.saved import Saved

#: Exact values can be levels too, while there are no more different ones than these.
MOST_LEVELS = 1024
#: A shift and a scale for each feature must make the levels this many times as precise, ...
WORTH_SCALES = 2.0
#: ... measured on at least this number of values of a feature.
ENOUGH_VALUES = 8


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """The values that a non-zero can be kept as, ascending; zero is a level of its own, and stays zero.

    With ``scales`` (a shift and a factor for each feature), they are levels of ``(value - shift) / factor``. ``exact``
    says that the levels are all the values there were, and that no other value may be rounded to one of them.

    >>> levels = Levels(np.array([1, 5], dtype=np.float32), exact=False)
    >>> levels.numbers(Nonzeros(np.array([3]), np.arange(3), np.array([0.2, 4, 99], dtype=np.float32)))
    array([1, 2, 2])
    """

    values: Floats
    exact: bool
    scales: NDArray[np.float32] | None = None

    def __post_init__(self) -> None:
        for array in self._arrays():
            array.flags.writeable = False

    def __len__(self) -> int:
        return len(self.values)

    def __str__(self) -> str:
        return "values exact" if self.exact else f"{len(self) + 1} levels a value"

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self._arrays())

    def numbers(self, rows: Nonzeros) -> Ints:
        """The level of each value, counted from 1; 0 where an exact one is not among them."""
        if self.exact:
            at = np.searchsorted(self.values, rows.values)
            known = self.values[np.minimum(at, len(self) - 1)] == rows.values
            return np.where(known, at + 1, 0)
        return 1 + np.searchsorted(_borders(self.values), self.scaled(rows)).astype(np.int64)

    def numbered(self, rows: Nonzeros) -> Nonzeros:
        """The rows with the numbers of their levels for values."""
        return Nonzeros(rows.counts, rows.ids, self.numbers(rows).astype(np.float32))

    def round(self, rows: Nonzeros) -> Nonzeros:
        """The rows with values as they will be read."""
        return Nonzeros(rows.counts, rows.ids, self.read(self.numbers(rows), rows.ids))

    def scaled(self, rows: Nonzeros) -> Floats:
        """The values of these rows as the levels see them."""
        if self.scales is None:
            return rows.values
        with np.errstate(over="ignore"):
            found: Floats = np.nan_to_num((rows.values - self.scales[0, rows.ids]) / self.scales[1, rows.ids])
        return found

    def read(self, numbers: Ints, ids: Ints) -> Floats:
        """The values that these levels of these features stand for; none is zero."""
        found = self.values[numbers - 1]
        if self.scales is not None:
            with np.errstate(over="ignore"):
                found = found * self.scales[1, ids] + self.scales[0, ids]
            found = _not_zero(np.nan_to_num(found))
        return found

    def widen(self, n_features: int) -> Levels:
        """The same levels of a stream with more features."""
        if self.scales is None:
            return self
        new = np.tile(np.array([[0.0], [1.0]], dtype=np.float32), n_features - self.scales.shape[1])
        return Levels(self.values, self.exact, np.concatenate([self.scales, new], axis=1))

    def state_dict(self) -> dict[str, Any]:
        return {"values": self.values, "exact": self.exact, "scales": self.scales}

    @classmethod
    def from_state(cls, saved: Saved, n_features: int) -> Levels:
        """What ``state_dict`` described, if it can be levels of rows of this number of features."""
        values = np.array(saved.array("values", (None,), "float32"))
        if not 1 <= len(values) <= MOST_LEVELS or (np.diff(values) <= 0).any() or not values.all():
            saved.refuse("values", f"must be 1 to {MOST_LEVELS} numbers that ascend, without zero")
        scales = np.array(saved.array("scales", (2, n_features), "float32")) if saved.has("scales") else None
        exact = saved.flag("exact")
        if scales is not None and (exact or (scales[1] <= 0).any()):
            saved.refuse("scales", "must be positive, and are not there where values are exact")
        return cls(values, exact, scales)

    def _arrays(self) -> list[NDArray[Any]]:
        return [self.values] if self.scales is None else [self.values, self.scales]


def exact_levels(values: Floats) -> Levels | None:
    """All these values, if they are few enough."""
    different = np.unique(values)
    return Levels(different, exact=True) if 1 <= len(different) <= MOST_LEVELS else None


def learn_levels(
    rows: Nonzeros, exact: Nonzeros, n_features: int, count: int, scales_room: int, held: Levels | None = None
) -> Levels:
    """At most ``count`` levels, zero counted, that are near the values of ``exact`` rows.

    They are levels of the values as they are, or of each feature's own scale, learned from all ``rows``, where that is
    much more precise and its table takes no more than ``scales_room`` bytes. If values are ``held`` at fewer levels
    already, those stay among them: what was rounded once is not rounded again for the sake of what arrives.
    """
    if held is not None and not held.exact and len(held) < count - 1:
        return replace(held, values=_levels(more_centres(held.scaled(exact), held.values, count - 1)))
    shared = Levels(_centres(exact.values, count - 1), exact=False)
    if not len(exact.values) or len(np.unique(exact.values)) < count or 8 * n_features > scales_room:
        return shared
    scales = _scales(rows, n_features)
    plain = Levels(np.ones(1, dtype=np.float32), False, scales)
    own = Levels(_centres(plain.scaled(exact), count - 1), False, scales)
    return own if _error(shared, exact, scales) > WORTH_SCALES * _error(own, exact, scales) else shared


def _centres(values: Floats, count: int) -> Floats:
    return _levels(centres(values, count)) if len(values) else np.ones(1, dtype=np.float32)


def _levels(values: Floats) -> Floats:
    return np.unique(_not_zero(values))


def _scales(rows: Nonzeros, n_features: int) -> NDArray[np.float32]:
    """The mean and the deviation of each feature's values; of rare features, those of all values."""
    values = rows.values.astype(np.float64)
    counts = np.bincount(rows.ids, minlength=n_features)
    enough = np.maximum(counts, 1)
    mean = np.bincount(rows.ids, values, minlength=n_features) / enough
    variance = np.bincount(rows.ids, (values - mean[rows.ids]) ** 2, minlength=n_features) / enough
    rare = counts < ENOUGH_VALUES
    mean[rare], variance[rare] = values.mean(), values.var()
    deviation = np.sqrt(variance)
    usable = deviation > 1e-6 * np.abs(mean) + np.finfo(np.float32).tiny
    return np.stack([mean, np.where(usable, deviation, 1.0)]).astype(np.float32)


def _error(levels: Levels, rows: Nonzeros, scales: NDArray[np.float32]) -> float:
    """The mean square error, each feature's in units of its own deviation."""
    lost = (levels.read(levels.numbers(rows), rows.ids) - rows.values) / scales[1, rows.ids]
    return float(np.square(lost, dtype=np.float64).mean())


def _borders(centres: Floats) -> Floats:
    return (centres[1:] + centres[:-1]) / np.float32(2)


def _not_zero(values: Floats) -> Floats:
    """The same levels without zero: a value that was not zero is never read as zero."""
    tiny = np.float32(np.finfo(np.float32).tiny)
    return np.where(values == 0, tiny, values).astype(np.float32)
