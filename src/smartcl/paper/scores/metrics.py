"""What is made of an accuracy matrix ``A``: ``A[i, j]`` is the accuracy on task ``j`` after learning task ``i``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]


def average_accuracy(matrix: Matrix) -> float:
    """The mean over tasks after the last one.

    >>> average_accuracy(np.array([[90.0, 50.0], [80.0, 100.0]]))
    90.0
    """
    return float(matrix[-1].mean())


def forgetting(matrix: Matrix) -> float:
    """How far each earlier task fell from its best accuracy, on average (Chaudhry et al. 2018).

    >>> forgetting(np.array([[90.0, 50.0], [80.0, 100.0]]))
    10.0
    """
    if len(matrix) < 2:
        return 0.0
    return float((matrix[:-1].max(axis=0) - matrix[-1])[:-1].mean())


def backward_transfer(matrix: Matrix) -> float:
    """What later tasks did to the accuracy each task had when it was learned (Lopez-Paz & Ranzato 2017).

    >>> backward_transfer(np.array([[90.0, 50.0], [80.0, 100.0]]))
    -10.0
    """
    if len(matrix) < 2:
        return 0.0
    return float((matrix[-1] - matrix.diagonal())[:-1].mean())


def forward_transfer(matrix: Matrix, chance: float) -> float:
    """How far above chance each task was just before it was learned (Lopez-Paz & Ranzato 2017).

    >>> forward_transfer(np.array([[90.0, 55.0], [80.0, 100.0]]), chance=50.0)
    5.0
    """
    if len(matrix) < 2:
        return 0.0
    return float(matrix.diagonal(offset=1).mean() - chance)
