"""Scaling of inputs: each feature's centre and scale, learned as the stream goes.

The memory keeps native values, so an old sample is read with today's scale. Nothing here is a sample's, and nothing is
charged: five numbers a feature, beside the hundreds that the first layer has for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array

from smartcl.data.batch import Doubles, Ints, Rows
from smartcl.saving.saved import Saved

#: The number of values over which centre and scale are averaged, about, once there have been as many.
MEMORY = 2000
#: From this number of values on, a feature's scale is known: what lies far outside is an outlier, or another unit.
KNOWN = 20
#: At this number of scales from the centre a value is cut before it counts, and lies far outside.
FAR = 10.0
#: The share of a batch's values far outside from which the unit has changed.
OTHER_UNIT = 0.8
#: Up to this number of scales a value is passed on as it is; beyond, its logarithm counts.
LINEAR = 4.0
#: A share of zeros below the first says nothing; from the second on zero is what the feature is when it is not there.
SOME_ZEROS, MOSTLY_ZERO = 0.3, 0.7
#: Less than any number of single precision: no scale is smaller.
SMALLEST = 1e-45


@dataclass(frozen=True)
class InputScale:
    """What has been seen of each feature: values, the share of zeros, the mean, and the squares about the centre.

    The centre is the mean, but zero for a feature that is mostly zero, and for every feature of a sparse stream; the
    scale is the root mean square distance from the centre of the values that are there. A rare pixel of an image is so
    passed on at the size of the others, not blown up for being rare. ``spread`` neighbouring features have one centre
    and scale in common, as the pixels of a channel have.

    >>> scale = InputScale.fresh(2, sparse=False)
    >>> x = torch.tensor([[1000.0, 0.0], [1002.0, 0.0], [998.0, 0.0], [1000.0, 7.0]])
    >>> scale.updated(x).apply_dense(x).round(decimals=1)
    tensor([[ 0.0000,  0.0000],
            [ 1.4000,  0.0000],
            [-1.4000,  0.0000],
            [ 0.0000,  1.0000]])
    """

    sparse: bool
    rows: Doubles
    zeros: Doubles
    mean: Doubles
    counted: Doubles
    square: Doubles
    spread: int = field(default=1, kw_only=True)

    @classmethod
    def fresh(cls, n_features: int, sparse: bool, spread: int = 1) -> InputScale:
        """Nothing has been seen yet."""
        return cls(sparse, *(np.zeros(n_features // spread) for _ in range(5)), spread=spread)

    @property
    def centre(self) -> Doubles:
        """Of each feature."""
        return self._each(self._centre)

    @property
    def width(self) -> Doubles:
        """The scale of each feature; 1 for one that has not shown any."""
        return self._each(self._width)

    @property
    def _centre(self) -> Doubles:
        return self.mean * self._shown()

    @property
    def _width(self) -> Doubles:
        root = np.sqrt(self.square)
        return np.where(root > SMALLEST, root, 1.0)

    def _each(self, values: Doubles) -> Doubles:
        return values if self.spread == 1 else values.repeat(self.spread)

    def updated(self, x: Rows) -> InputScale:
        """With these rows counted in."""
        if not isinstance(x, torch.Tensor):
            return self._with_sparse(x)
        values = x.numpy().astype(np.float64)
        if self.spread > 1:
            values = values.reshape(len(values), -1, self.spread).transpose(0, 2, 1).reshape(-1, len(self.rows))
        return self._with_dense(values)

    @classmethod
    def together(cls, parts: Sequence[tuple[float, InputScale]]) -> InputScale:
        """Of streams that went on side by side: means of what each has seen, by these weights.

        Squares are about the common centre: how far the streams' own centres are from it adds to them.
        """
        first = parts[0][1]
        rows, counted = (sum(getattr(each, name) for _, each in parts) for name in ("rows", "counted"))

        def mean(values: Callable[[InputScale], Doubles], by: str) -> Doubles:
            weights = np.stack([weight * getattr(each, by) for weight, each in parts])
            known = np.stack([values(each) for _, each in parts])
            return np.asarray((weights * known).sum(axis=0) / np.maximum(weights.sum(axis=0), 1e-300))

        moved = replace(
            first,
            rows=rows,
            counted=counted,
            zeros=mean(lambda each: each.zeros, "rows"),
            mean=mean(lambda each: each.mean, "rows"),
        )
        centre = moved._centre
        return replace(moved, square=mean(lambda each: each.square + (each._centre - centre) ** 2, "counted"))

    def apply_dense(self, x: torch.Tensor, features: Ints | None = None) -> torch.Tensor:
        """Rows of all features, or of these, as the network takes them."""
        centre, width = self.centre, self.width
        if features is not None:
            centre, width = centre[features], width[features]
        values = x.numpy().astype(np.float64)
        return torch.from_numpy(compressed((values - centre) / width))

    def apply_sparse(self, x: csr_array[Any, tuple[int, int]]) -> NDArray[np.float32]:
        """The values of sparse rows as the network takes them; zero stays zero."""
        return compressed(x.data.astype(np.float64) / self.width[x.indices])

    def _shown(self) -> Doubles:
        """How much of its mean is a feature's centre: 1, but 0 for one that is mostly zero."""
        if self.sparse:
            return np.zeros_like(self.zeros)
        return 1 - np.clip((self.zeros - SOME_ZEROS) / (MOSTLY_ZERO - SOME_ZEROS), 0, 1)

    def _with_dense(self, x: Doubles) -> InputScale:
        there = x != 0
        state = self._in_other_units(x, there)
        low, high = state._bounds(x, there)
        x, n = np.clip(x, low, high), len(x) / self.spread
        rows = state.rows + n
        rate = np.minimum(n / np.minimum(rows, MEMORY), 1)
        zeros = state.zeros + rate * (1 - there.mean(axis=0) - state.zeros)
        mean = state.mean + rate * (x.mean(axis=0) - state.mean)
        moved = replace(state, rows=rows, zeros=zeros, mean=mean)
        shown, centre = moved._shown(), moved._centre
        weight = np.where(there, 1.0, shown)
        squares = (weight * (x - centre) ** 2).sum(axis=0)
        return moved._with_squares(weight.sum(axis=0) / self.spread, squares / self.spread)

    def _with_sparse(self, x: csr_array[Any, tuple[int, int]]) -> InputScale:
        values, n_features = x.data.astype(np.float64), len(self.rows)
        known = (self.counted >= KNOWN)[x.indices]
        far = known & (np.abs(values) > FAR * self._width[x.indices])
        count = np.bincount(x.indices, minlength=n_features)
        reset = np.bincount(x.indices[far], minlength=n_features) > OTHER_UNIT * np.maximum(count, 5)
        state = self._forgetting(reset) if reset.any() else self
        middle, reach = np.zeros(n_features), FAR * state._width
        fresh = (state.counted < KNOWN)[x.indices]
        if fresh.any():
            features, some = x.indices[fresh], values[fresh]
            which, medians = grouped_medians(features, some)
            middle[which] = medians
            reach[which] = first_reach(grouped_medians(features, np.abs(some - middle[features]))[1])
        low, high = np.minimum(middle - reach, 0), np.maximum(middle + reach, 0)
        believed = np.clip(values, low[x.indices], high[x.indices])
        squares: Doubles = np.bincount(x.indices, believed**2, n_features).astype(np.float64)
        return state._with_squares(count.astype(np.float64), squares)

    def _with_squares(self, weight: Doubles, squares: Doubles) -> InputScale:
        counted = self.counted + weight
        seen = weight > 0
        rate = np.divide(weight, np.minimum(counted, MEMORY), where=seen, out=np.zeros_like(weight)).clip(max=1)
        mean = np.divide(squares, weight, where=seen, out=np.zeros_like(weight))
        return replace(self, counted=counted, square=self.square + rate * (mean - self.square))

    def _in_other_units(self, x: Doubles, there: NDArray[np.bool_]) -> InputScale:
        """Without what is known of features of which nearly all values lie far outside: their unit has changed."""
        far = there & (np.abs(x - self._centre) > FAR * self._width) & (self.counted >= KNOWN)
        reset = far.sum(axis=0) > OTHER_UNIT * np.maximum(there.sum(axis=0), 5)
        return self._forgetting(reset) if reset.any() else self

    def _forgetting(self, reset: NDArray[np.bool_]) -> InputScale:
        return self._of({name: np.where(reset, 0.0, values) for name, values in self._arrays()})

    def _bounds(self, x: Doubles, there: NDArray[np.bool_]) -> tuple[Doubles, Doubles]:
        """Between which values each feature is believed: about its centre or, while that is new, about the median."""
        middle, reach = self._centre, FAR * self._width
        fresh = self.counted < KNOWN
        if fresh.any():
            some = np.where(there[:, fresh], x[:, fresh], np.nan)
            empty = ~there[:, fresh].any(axis=0)
            some[:, empty] = 0.0
            middle[fresh] = np.nanmedian(some, axis=0)
            reach[fresh] = first_reach(np.nanmedian(np.abs(some - middle[fresh]), axis=0))
        return np.minimum(middle - reach, 0), np.maximum(middle + reach, 0)

    def _of(self, arrays: Mapping[str, Doubles]) -> InputScale:
        return InputScale(self.sparse, *(arrays[name] for name, _ in self._arrays()), spread=self.spread)

    def _arrays(self) -> Iterator[tuple[str, Doubles]]:
        for part in fields(self):
            if part.name not in ("sparse", "spread"):
                yield part.name, getattr(self, part.name)

    def state_dict(self) -> dict[str, Any]:
        return dict(self._arrays())

    def loaded(self, saved: Saved) -> InputScale:
        """What ``state_dict`` described, for the same features."""
        shape = self.rows.shape
        found = {name: np.array(saved.array(name, shape, "float64")) for name, _ in self._arrays()}
        for name, values in found.items():
            if not np.isfinite(values).all() or (name != "mean" and (values < 0).any()):
                saved.refuse(name, "must be finite, and not negative")
        return self._of(found)


def first_reach(spread: Doubles) -> Doubles:
    """How far about the median of a first look values are believed, given their median distance from it."""
    return np.where(spread > 0, 1.5 * FAR * spread, np.inf)


def grouped_medians(groups: NDArray[np.integer[Any]], values: Doubles) -> tuple[NDArray[np.integer[Any]], Doubles]:
    """The groups there are, in order, and the median of the values of each.

    >>> grouped_medians(np.array([7, 2, 7, 7, 7]), np.array([1.0, 5.0, 4.0, 2.0, 100.0]))
    (array([2, 7]), array([5., 3.]))
    """
    order = np.lexsort((values, groups))
    which, starts, counts = np.unique(groups[order], return_index=True, return_counts=True)
    ranked = values[order]
    return which, (ranked[starts + (counts - 1) // 2] + ranked[starts + counts // 2]) / 2


def compressed(scaled: Doubles) -> NDArray[np.float32]:
    """Values far out come in by their logarithm: monotonic, and never too large for a network.

    >>> compressed(np.array([1.0, -3.0, 1e300])).round(1)
    array([  1. ,  -3. , 694.8], dtype=float32)
    """
    size = np.abs(scaled)
    far = size > LINEAR
    if far.any():
        scaled = np.where(far, np.sign(scaled) * (LINEAR + np.log1p(np.maximum(size - LINEAR, 0))), scaled)
    return scaled.astype(np.float32)
