"""The scale that rows have when their features are added to sums: fixed early, for sums of other scales do not add up.

While a stream is young the scale follows what has been seen, each time twice as many rows have come. Later a feature
gets another scale only where it must: it had none yet, or its unit is surely another.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from smartcl.data.batch import Doubles, Rows
from smartcl.data.spec import InputSpec
from smartcl.learners.ensemble.rows import as_table
from smartcl.learners.ensemble.settings import OTHER_SCALE, SETTLED_ROWS
from smartcl.network.scaling import InputScale, compressed
from smartcl.saving.saved import Saved


@dataclass(frozen=True, eq=False)
class Frame:
    """A centre and a width for each feature, found after ``rows`` rows; nothing for a stream of a fixed transform."""

    centre: Doubles
    width: Doubles
    rows: int = 0

    @classmethod
    def of(cls, scale: InputScale | None, rows: int) -> Frame:
        """As the scale is now."""
        if scale is None:
            return cls(np.zeros(0), np.zeros(0), rows)
        return cls(scale.centre.copy(), scale.width.copy(), rows)

    def due(self, rows: int) -> bool:
        """Is it time to take the scale anew, for all features?"""
        return self.rows == 0 or 2 * self.rows <= rows <= SETTLED_ROWS

    def followed(self, scale: InputScale | None) -> Frame:
        """With the scale of those features that have another one now."""
        if scale is None:
            return self
        centre, width = scale.centre, scale.width
        ratio = width / self.width
        other = (ratio > OTHER_SCALE) | (ratio < 1 / OTHER_SCALE)
        other |= np.abs(centre - self.centre) > OTHER_SCALE * np.maximum(self.width, width)
        if not other.any():
            return self
        return Frame(np.where(other, centre, self.centre), np.where(other, width, self.width), self.rows)

    def scaled(self, x: Rows, spec: InputSpec) -> Any:
        """Rows in this scale: a dense array, or CSR."""
        x = as_table(x, spec)
        if not isinstance(x, torch.Tensor):
            data = x.data.astype(np.float64) / (self.width[x.indices] if len(self.centre) else 1 / spec.scale)
            scaled = x.astype(np.float32)
            scaled.data = compressed(data)
            return scaled
        if not len(self.centre):
            values = (x.to(torch.float64) - spec.offset) * spec.scale
            return values.float().numpy() if spec.dtype == "uint8" else compressed(values.numpy())
        return compressed((x.numpy().astype(np.float64) - self.centre) / self.width)

    @property
    def nbytes(self) -> int:
        return self.centre.nbytes + self.width.nbytes

    def state_dict(self) -> dict[str, Any]:
        return {"centre": self.centre, "width": self.width, "rows": self.rows}

    @classmethod
    def from_state(cls, saved: Saved, spec: InputSpec) -> Frame:
        shape = (spec.n_features if spec.learned else 0,)
        centre = np.array(saved.array("centre", shape, "float64"))
        width = np.array(saved.array("width", shape, "float64"))
        if (width <= 0).any():
            saved.refuse("width", "must be above 0")
        return cls(centre, width, saved.whole("rows", 0))
