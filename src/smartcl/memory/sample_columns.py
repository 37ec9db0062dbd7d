"""Columns beside the rows of a memory: the label, and named values such as a score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smartcl.data.batch import Ints
from smartcl.saving.saved import Saved

LabelColumn = NDArray[np.unsignedinteger[Any]]
LABEL_DTYPES = ("uint8", "uint16", "uint32", "uint64")


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Labels and named arrays with one entry per sample each.

    >>> columns = Columns.of([0, 3], {"score": np.array([0.5, 2.0], dtype=np.float32)})
    >>> columns.labels, columns.width
    (array([0, 3], dtype=uint8), 5)
    """

    labels: LabelColumn
    named: tuple[tuple[str, NDArray[Any]], ...] = ()

    def __post_init__(self) -> None:
        for array in self._arrays():
            array.flags.writeable = False

    @classmethod
    def of(cls, labels: ArrayLike, named: Mapping[str, ArrayLike]) -> Columns:
        """Copies of these arrays, the labels in their smallest unsigned type."""
        compact = smallest_unsigned(np.asarray(labels))
        return cls(compact).replace(named)

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self._arrays())

    @property
    def width(self) -> int:
        """The bytes of one sample in all columns."""
        return sum(array.itemsize * int(np.prod(array.shape[1:])) for array in self._arrays())

    def replace(self, named: Mapping[str, ArrayLike]) -> Columns:
        """The same columns, some of them new or replaced."""
        new = {name: _checked(name, column, len(self)) for name, column in named.items()}
        return Columns(self.labels, tuple({**dict(self.named), **new}.items()))

    def take(self, index: Ints) -> Columns:
        return Columns(self.labels[index], tuple((name, column[index]) for name, column in self.named))

    def join(self, other: Columns) -> Columns:
        """These samples, then the other's. Without samples there are no columns to agree on."""
        labels = np.concatenate([self.labels, other.labels])
        if not len(self) or not len(other):
            return Columns(labels, other.named if len(other) else self.named)
        ours, theirs = dict(self.named), dict(other.named)
        if self._shapes() != other._shapes():
            raise ValueError(f"stores must agree on their columns: {self._shapes()} here, {other._shapes()} there")
        return Columns(labels, tuple((name, np.concatenate([ours[name], theirs[name]])) for name in ours))

    def state_dict(self) -> dict[str, Any]:
        return {"labels": self.labels, "extra": dict(self.named)}

    @classmethod
    def from_state(cls, saved: Saved, n_classes: int | None) -> Columns:
        """What ``state_dict`` described, if it can be columns; labels are below ``n_classes``, where that is known."""
        labels = saved.array("labels", (None,), *LABEL_DTYPES)
        highest = int(labels.max(initial=0))
        if len(labels) and highest >= (2**63 if n_classes is None else n_classes):
            saved.refuse("labels", f"must be below the number of classes, {n_classes}; one is {highest}")
        named = saved.entries("extra")
        for name, column in named.items():
            numbers = isinstance(column, np.ndarray) and column.dtype.kind in "biuf"
            if not numbers or column.shape[:1] != labels.shape:
                saved.refuse(f"extra.{name}", f"must be an array with numbers for each of {len(labels)} samples")
            if not (column < np.inf).all():  # a logit of -inf is an unknown one
                saved.refuse(f"extra.{name}", "must be numbers: it contains NaN or infinity")
        return cls(np.array(labels)).replace(named)

    def _arrays(self) -> list[NDArray[Any]]:
        return [self.labels, *(column for _, column in self.named)]

    def _shapes(self) -> dict[str, tuple[str, tuple[int, ...]]]:
        return {name: (str(column.dtype), column.shape[1:]) for name, column in self.named}


def smallest_unsigned(labels: NDArray[Any]) -> LabelColumn:
    """Class numbers in the smallest type that holds them, as a copy.

    >>> smallest_unsigned(np.array([0, 300])).dtype
    dtype('uint16')
    """
    if labels.ndim != 1:
        raise ValueError(f"y must be one label per row, got shape {labels.shape}")
    if len(labels) == 0:
        return np.zeros(0, dtype=np.uint8)
    if labels.dtype.kind not in "biu" or labels.min() < 0:
        raise ValueError(f"y must be integers from 0 on, got {labels.dtype} with {labels.min()} in it")
    return labels.astype(np.min_scalar_type(int(labels.max())))


def _checked(name: str, column: ArrayLike, n_samples: int) -> NDArray[Any]:
    array = np.array(column)
    if array.shape[:1] != (n_samples,) or array.dtype.hasobject:
        raise ValueError(
            f"{name} must be one number or row of numbers for each of {n_samples} samples,"
            f" got {array.dtype} of shape {array.shape}"
        )
    return array
