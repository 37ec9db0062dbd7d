"""Missing values of arrays: what stands in their place, and which columns say so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from smartcl.data.batch import Floats, Ints
from smartcl.saving.saved import Saved

#: Rows by which it is decided what stands for a missing value, and which columns say so.
FIRST_ROWS = 1000


@dataclass(frozen=True, eq=False)
class Gaps:
    """``fill`` stands where a value is missing, a number for each column; columns ``says`` have a feature that says so.

    >>> gaps = Gaps.of(np.array([[1.0, np.nan], [3.0, 5.0]], np.float32))
    >>> gaps.filled(np.array([[np.nan, np.nan]], np.float32))
    array([[2., 5., 1.]], dtype=float32)
    """

    fill: Floats
    says: Ints

    @classmethod
    def of(cls, rows: Floats) -> Gaps:
        """The means of these rows, the first; columns in which something is missing say so from here on."""
        return cls(means(rows), np.flatnonzero(np.isnan(rows).any(axis=0)))

    def filled(self, rows: Floats) -> Floats:
        """Rows without gaps, and where they were."""
        lost = np.isnan(rows)
        return np.concatenate([np.where(lost, self.fill, rows), lost[:, self.says]], axis=1, dtype=np.float32)

    def opened(self, rows: Floats) -> Floats:
        """Filled rows as they were, where they say that something is missing."""
        width = len(self.fill)
        found = rows[:, :width].copy()
        found[:, self.says] = np.where(rows[:, width:] != 0, np.nan, found[:, self.says])
        return found

    def state_dict(self) -> dict[str, Any]:
        return {"fill": self.fill, "says": self.says}

    @classmethod
    def from_state(cls, saved: Saved, n_features: int) -> Gaps:
        """The same again, or a ``StateError``."""
        says = saved.array("says", (None,), "int64")
        width = n_features - len(says)
        if width < 1 or len(np.unique(says)) < len(says) or (len(says) and not 0 <= says.min() <= says.max() < width):
            saved.refuse("says", f"must be different columns below {width}")
        return cls(np.array(saved.array("fill", (width,), "float32")), np.array(says))


def means(rows: Floats) -> Floats:
    """The mean of what is there in each column, 0 where nothing is.

    >>> means(np.array([[1.0, np.nan], [3.0, np.nan]], np.float32)).tolist()
    [2.0, 0.0]
    """
    there = ~np.isnan(rows)
    sums = np.where(there, rows, 0).sum(axis=0, dtype=np.float64)
    found: Floats = (sums / np.maximum(there.sum(axis=0), 1)).astype(np.float32)
    return found


def gaps_of(X: Any) -> Gaps | None:
    """What the first rows of an array show of gaps; None where none of them has any."""
    if not isinstance(X, np.ndarray) or X.dtype.kind != "f" or not np.isnan(X).any():
        return None
    return Gaps.of(X[:FIRST_ROWS].astype(np.float32))
