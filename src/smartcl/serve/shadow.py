"""Which of two models is better on the same rows: the one that answers, or its shadow that learns what it does not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from smartcl.saving.saved import Saved


@dataclass
class ShadowScore:
    """Rows that each of the two was right on, out of the last ``most`` at the most.

    >>> score = ShadowScore(most=2)
    >>> score.count(served=False, shadow=True), score.count(served=True, shadow=True)
    (False, True)
    """

    most: int
    rows: int = 0
    served: int = 0
    shadow: int = 0

    def count(self, served: bool, shadow: bool) -> bool:
        """Count a row; whether ``most`` have come and the shadow was right on more of them. Then both begin anew."""
        self.rows, self.served, self.shadow = self.rows + 1, self.served + served, self.shadow + shadow
        if self.rows < self.most:
            return False
        better = self.shadow > self.served
        self.rows = self.served = self.shadow = 0
        return better

    def as_dict(self) -> dict[str, Any]:
        return {"of": self.most, "rows": self.rows, "served_right": self.served, "shadow_right": self.shadow}

    def load_state_dict(self, saved: Saved) -> None:
        """Go on, unless another number of rows is asked for now: then both begin anew."""
        if saved.whole("most", 1) == self.most:
            self.rows = saved.whole("rows", 0, self.most)
            self.served, self.shadow = saved.whole("served", 0, self.rows), saved.whole("shadow", 0, self.rows)
