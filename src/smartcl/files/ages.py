"""How old what is remembered is: stored samples counted by the rows they came with, without a byte beside any of them.

A memory keeps its samples in the order they came, so that a few counts say it all; they follow from what each batch did
to the memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from smartcl.memory.schematic_memory import Observation
from smartcl.saving.saved import Saved

MOST_BANDS = 16


@dataclass(frozen=True)
class Ages:
    """``held[i]`` samples are left of the rows from ``i * band`` on, up to the next band. None: not known any more.

    >>> ages = Ages().after(Observation(np.array([], dtype=int), np.array([0, 1])), before=0)
    >>> ages.after(Observation(np.array([1]), np.array([0])), before=2).held
    (0, 1, 1)
    """

    band: int = 1
    held: tuple[int, ...] | None = ()

    def after(self, seen: Observation, before: int) -> Ages:
        """With a batch that came after so many rows: who stayed, and who of it was stored."""
        if self.held is None or (np.diff(seen.kept) <= 0).any():
            return Ages(self.band, None)
        ends = np.cumsum(self.held)
        left = np.diff(np.searchsorted(seen.kept, ends), prepend=0) if len(ends) else np.zeros(0, dtype=np.int64)
        counts, band, rows = left.tolist(), self.band, before + seen.stored
        while len(rows) and int(rows.max()) // band >= MOST_BANDS:
            counts, band = [sum(counts[first : first + 2]) for first in range(0, len(counts), 2)], 2 * band
        new = np.bincount(rows // band, minlength=len(counts))
        new[: len(counts)] += np.array(counts, dtype=np.int64)
        return Ages(band, tuple(new.tolist()))

    def by_rows(self, rows: int) -> list[dict[str, int]] | None:
        """For people: from which row to which, how many samples."""
        if self.held is None:
            return None
        return [
            {"from": place * self.band + 1, "to": min((place + 1) * self.band, rows), "samples": count}
            for place, count in enumerate(self.held)
        ]

    def state_dict(self) -> dict[str, Any]:
        return {"band": self.band, "held": None if self.held is None else list(self.held)}

    @classmethod
    def from_state(cls, saved: Saved, samples: int) -> Ages:
        """The same again, if it is about so many samples."""
        held = saved.optional_items("held")
        fine = held is None or (
            len(held) <= MOST_BANDS and all(type(n) is int and n >= 0 for n in held) and sum(held) == samples
        )
        if not fine:
            saved.refuse("held", f"must be up to {MOST_BANDS} counts of the {samples} samples in memory")
        return cls(saved.whole("band", 1, 2**62), None if held is None else tuple(held))
