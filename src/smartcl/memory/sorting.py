"""Putting in order in linear time: a memory of a million samples is sorted with every batch."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from smartcl.data.batch import Ints


def sorted_by(keys: NDArray[np.float32], *groups: NDArray[Any]) -> Ints:
    """Positions by the last group, within it by the one before, and at last by key; equals stay in order.

    This is ``np.lexsort((keys, *groups))`` with groups that are bools or whole numbers, in passes of sixteen bits where
    they are small: those take linear time, a fifth of it for a hundred thousand samples.

    >>> sorted_by(np.array([0.3, 0.1, 0.2], dtype=np.float32), np.array([0, 1, 0]))
    array([2, 0, 1])
    """
    bits = keys.view(np.int32)
    ascending = bits ^ ((bits >> 31) & 0x7FFFFFFF)  # as whole numbers, negative keys would stand the wrong way round
    order: Ints = np.argsort(ascending.astype(np.uint16), kind="stable")
    for numbers in ((ascending >> 16).astype(np.int16), *(narrow(group) for group in groups)):
        order = order[np.argsort(numbers[order], kind="stable")]
    return order


def narrow(numbers: NDArray[Any]) -> NDArray[Any]:
    """Bools or whole numbers in the smallest type that holds them."""
    low, high = (np.min_scalar_type(int(end)) for end in (numbers.min(initial=0), numbers.max(initial=0)))
    return numbers.astype(np.promote_types(low, high), copy=False)
