"""Probabilities that come true: what the pool said of its first choice is mapped to how often that was right.

The map is monotonic and piecewise linear through bins of equal count, fitted by isotonic regression to answers that
were given before their rows were learned (Zadrozny & Elkan, "Transforming classifier scores into accurate multiclass
probability estimates", KDD 2002).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from smartcl.data.batch import Doubles
from smartcl.learners.ensemble.settings import BATCH_ROWS, LEAST, LONG_ROWS, LOOK_ROWS
from smartcl.saving.saved import Saved


@dataclass(frozen=True, eq=False)
class Calibration:
    """The pool's newest honest answers: how sure it was, and how right (0 or 1), each with a weight."""

    sure: Doubles
    right: Doubles
    weight: Doubles

    @classmethod
    def none(cls) -> Calibration:
        return cls(*(np.zeros(0) for _ in range(3)))

    def after(self, shares: Doubles, y: NDArray[Any], weight: NDArray[Any]) -> Calibration:
        """With these answers of the pool counted in."""
        right = (shares.argmax(axis=1) == y).astype(np.float64)
        news = (shares.max(axis=1), right, weight.astype(np.float64))
        olds = (self.sure, self.right, self.weight)
        return Calibration(*(np.concatenate(pair)[-LONG_ROWS:] for pair in zip(olds, news, strict=True)))

    def weaker(self, share: float) -> Calibration:
        """The same with each answer's weight times ``share``."""
        return Calibration(self.sure, self.right, share * self.weight)

    @classmethod
    def joined(cls, parts: Sequence[Calibration]) -> Calibration:
        """The newest answers of each part, as many of each."""
        most = LONG_ROWS // len(parts)
        return cls(
            *(np.concatenate([vars(part)[name][-most:] for part in parts]) for name in ("sure", "right", "weight"))
        )

    @cached_property
    def _curve(self) -> tuple[Doubles, Doubles] | None:
        """How sure the pool was in each bin, and how often it was right there."""
        if len(self.sure) < LOOK_ROWS:
            return None
        order = np.argsort(self.sure, kind="stable")
        starts = np.arange(0, len(order), BATCH_ROWS)
        weight = np.maximum(np.add.reduceat(self.weight[order], starts), 1e-9)
        sure = np.add.reduceat((self.weight * self.sure)[order], starts) / weight
        right = np.add.reduceat((self.weight * self.right)[order], starts)
        raised = isotonic_regression((right + sure) / (weight + 1), weights=weight)
        # a little of what the pool said keeps the order of rows that the isotonic fit makes equal
        return sure, (1 - LEAST) * raised.x + LEAST * sure

    @property
    def least_errors(self) -> float:
        """How often the surest answers are wrong; 0 while too few are known."""
        return 0.0 if self._curve is None else float(1 - self._curve[1][-1])

    def applied(self, shares: Doubles) -> Doubles:
        """Probabilities whose largest comes true as often as it says; the order of the classes stays as it is."""
        if self._curve is None:
            return shares
        if len(shares) == 1:
            return self._applied_to_one(shares, *self._curve)
        rows, first = np.arange(len(shares)), shares.argmax(axis=1)
        sure = shares[rows, first]
        wanted = np.interp(sure, *self._curve).clip(1 / shares.shape[1] + 1e-6, 1 - 1e-6)
        others = shares.copy()
        others[rows, first] = 0.0
        second = others.max(axis=1)
        # the first choice stays the first: as much as it must have for that, also in single precision
        wanted = np.maximum(wanted, second / (second + 1 - sure + 1e-12) + 1e-6)
        corrected: Doubles = others * ((1 - wanted) / np.maximum(1 - sure, 1e-12))[:, None]
        corrected[rows, first] = wanted
        corrected /= corrected.sum(axis=1, keepdims=True)
        return corrected

    def _applied_to_one(self, shares: Doubles, sure_in_bin: Doubles, right_in_bin: Doubles) -> Doubles:
        """The same of a single row, to the bit, in Python's numbers: arrays of one number take longer."""
        first, corrected = int(shares.argmax()), shares.copy()
        sure, corrected[0, first] = float(shares[0, first]), 0.0
        wanted = float(np.interp(sure, sure_in_bin, right_in_bin))
        wanted = min(max(wanted, 1 / shares.shape[1] + 1e-6), 1 - 1e-6)
        second = float(corrected.max())
        wanted = max(wanted, second / (second + 1 - sure + 1e-12) + 1e-6)
        corrected *= (1 - wanted) / max(1 - sure, 1e-12)
        corrected[0, first] = wanted
        corrected /= corrected.sum()
        return corrected

    @property
    def nbytes(self) -> int:
        return self.sure.nbytes + self.right.nbytes + self.weight.nbytes

    def state_dict(self) -> dict[str, Any]:
        return {"sure": self.sure, "right": self.right, "weight": self.weight}

    @classmethod
    def from_state(cls, saved: Saved) -> Calibration:
        sure = np.array(saved.array("sure", (None,), "float64"))
        return cls(sure, *(np.array(saved.array(name, sure.shape, "float64")) for name in ("right", "weight")))
