"""Which stored samples the sums of the whole past hold, so that each forgotten one is taken out only where it is in."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smartcl.data.batch import Bools, Ints
from smartcl.learners.ensemble.recent import learnable
from smartcl.memory import SampleStore
from smartcl.saved import Saved
from smartcl.selection.roles import REPLAYED


@dataclass(frozen=True)
class Summed:
    """The sums hold the samples that may be learned from the position ``first`` in the memory on.

    Of those before it they hold none; or some, if ``mixed``.

    >>> Summed(first=3).after(np.array([0, 2, 3, 4])).first
    2
    """

    first: int = 0
    mixed: bool = False

    def after(self, kept: Ints) -> Summed:
        """After the memory kept the samples at these positions, in order."""
        return replace(self, first=int(np.searchsorted(kept, self.first)))

    def holds(self, roles: NDArray[np.uint8]) -> Bools:
        """Of samples with these roles, all that are stored, which ones are surely in the sums."""
        found: Bools = roles == REPLAYED
        found[: self.first] = False
        return found

    def unsure(self, some: Bools) -> bool:
        """Whether any of these samples may or may not be in the sums."""
        return self.mixed and bool(some[: self.first].any())

    def state_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_state(cls, saved: Saved, stored: int) -> Summed:
        """What ``state_dict`` described, beside a memory of ``stored`` samples."""
        return cls(saved.whole("first", 0, stored), saved.flag("mixed"))


def begin_of_newest(store: SampleStore, count: int) -> int:
    """The position of the first of the newest ``count`` samples that may be learned; the end of the memory for none."""
    newest = learnable(store)[::-1][:count]
    return int(newest[-1]) if len(newest) else len(store)
