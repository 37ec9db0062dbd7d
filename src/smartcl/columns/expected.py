"""What labels the columns of a row let expect: ridge regression on all rows so far, in closed form.

It is there for what the last labels say beyond it. Of a rate of the last labels itself, much is told by the columns of
the rows too: evening flights are late, and so were those before them. A model that is given the rate learns less of the
hour, and knows too little where the rate is not known.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smartcl.saving.saved import Saved

Doubles = NDArray[np.float64]

#: Features that it goes by, at most: 80 kB, and 0.2 ms for a solution.
MOST_FEATURES = 100
#: Rows between two solutions, and rows that shrink a weight to half.
SOLVED_ROWS, PENALTY_ROWS = 50, 20.0


@dataclass(frozen=True, eq=False)
class Expected:
    """Second moments of features, a constant first, their products with targets, and the weights that follow.

    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(1000, 2))
    >>> taught = Expected.none(2, 1).after(x, (x[:, :1] > 0).astype(float))
    >>> taught.of(np.array([[2.0, 0.0], [-2.0, 0.0]])).round(1).tolist()
    [[1.0], [0.0]]
    """

    second: Doubles
    products: Doubles
    weights: Doubles
    rows: int

    @classmethod
    def none(cls, features: int, targets: int) -> Expected:
        products = np.zeros((1 + features, targets))
        return cls(np.zeros((1 + features, 1 + features)), products, products, 0)

    def of(self, features: NDArray[Any]) -> Doubles:
        """The expected targets, from 0 to 1; those of all rows until there was a solution."""
        found: Doubles = np.clip(self.weights[0] + features @ self.weights[1:], 0.0, 1.0)
        return found

    def after(self, features: NDArray[Any], targets: NDArray[Any]) -> Expected:
        """With these rows too."""
        x = np.ones((len(features), len(self.second)))
        x[:, 1:] = features
        rows = self.rows + len(x)
        summed = replace(
            self, second=self.second + x.T @ x, products=self.products + x.T @ targets.astype(np.float64), rows=rows
        )
        return summed.solved() if rows // SOLVED_ROWS > self.rows // SOLVED_ROWS else summed

    def solved(self) -> Expected:
        """With weights for the sums as they are; the penalty is in the units of each feature."""
        penalty = np.diag(self.second) * (PENALTY_ROWS / max(1, self.rows))
        penalty[0] = 0.0
        unit = np.maximum(penalty, 1e-9 * max(1.0, float(self.rows)))
        return replace(self, weights=np.linalg.solve(self.second + np.diag(unit), self.products))

    @property
    def nbytes(self) -> int:
        return self.second.nbytes + self.products.nbytes + self.weights.nbytes

    def state_dict(self) -> dict[str, Any]:
        return {"second": self.second, "products": self.products, "weights": self.weights, "rows": self.rows}

    def loaded(self, saved: Saved) -> Expected:
        """What ``state_dict`` described, of as many features and targets."""
        arrays = {
            name: np.array(saved.array(name, getattr(self, name).shape, "float64"))
            for name in ("second", "products", "weights")
        }
        return Expected(**arrays, rows=saved.whole("rows", 0, 2**62))
