"""Keyword counts: a sparse row for each day, and the value a learner sees."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

Csr: TypeAlias = "sparse.csr_array[Any, tuple[int, int]]"

#: The label of a day that is neither learned from nor tested on.
UNKNOWN = -1


def count_table(values: Any) -> Csr:
    """A matrix ``[day, keyword]``, dense or sparse, as the counts of a panel: float64, only what is not zero.

    >>> count_table(np.array([[0, 3]], dtype=np.uint8)).data
    array([3.])
    """
    table = sparse.csr_array(values, dtype=np.float64)
    table.sum_duplicates()
    table.eliminate_zeros()
    if not (np.isfinite(table.data) & (table.data > 0)).all():
        raise ValueError("counts must be finite and not negative")
    return table


def log_counts(counts: Csr) -> Csr:
    """log(1 + count) in float32, sparse as the counts are."""
    return sparse.csr_array(counts.log1p().astype(np.float32))
