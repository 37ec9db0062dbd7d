"""The rivals in closed form that ``adaptive`` is compared with on encoded rows, by name and number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Rival:
    """How its row is called, and every number that it has."""

    label: str
    settings: dict[str, Any]


RIVALS: dict[str, Rival] = {
    "class-means": Rival("class means", {}),
    "shared-lda": Rival("LDA, shared covariance", {"shrinkage": 1e-4}),
    "ranpac": Rival("RanPAC: random projection, ridge", {"features": 5000, "held_out": 0.2}),
    "logistic-all-rows": Rival("logistic regression, all rows", {"held_out": 0.2}),
}
