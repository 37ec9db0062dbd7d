"""Arrays with an entry for each class, among the classes of a larger list: for learners that learned apart."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from smartcl.data.batch import Ints


def placed(values: NDArray[Any], at: Ints, n_classes: int) -> NDArray[Any]:
    """The array with the entries of its last axis at these places among ``n_classes``; the others are zero.

    >>> placed(np.array([[1.0, 2.0]]), np.array([2, 0]), 3)
    array([[2., 0., 1.]])
    """
    found = np.zeros((*values.shape[:-1], n_classes), values.dtype)
    found[..., at] = values
    return found
