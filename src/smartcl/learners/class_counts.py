"""How often each class has come so far, and how long ago: who is still among the newcomers, and who only in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from smartcl.data.batch import Ints
from smartcl.saved import Saved

#: A class stays away once it has missed so many of its turns, by how often it has come so far.
MISSED_TURNS = 10.0
#: A stored sample is replayed again and again: it stands for so many that come once.
STORED_WORTH = 10.0


@dataclass(frozen=True, eq=False)
class ClassCounts:
    """Of each class the samples that have come, and the place in the stream where the last one stood.

    >>> counts = ClassCounts.none(2).add(np.array([0, 0, 1])).add(np.array([0, 0]))
    >>> counts.seen, counts.last, counts.total
    (array([4, 1]), array([5, 3]), 5)
    """

    seen: Ints
    last: Ints
    total: int

    @classmethod
    def none(cls, n_classes: int) -> ClassCounts:
        return cls(np.zeros(n_classes, dtype=np.int64), np.zeros(n_classes, dtype=np.int64), 0)

    def widened(self, n_classes: int) -> ClassCounts:
        """With room for classes that have not come yet."""
        more = (0, n_classes - len(self.seen))
        return ClassCounts(np.pad(self.seen, more), np.pad(self.last, more), self.total)

    def add(self, y: Ints) -> ClassCounts:
        """With these samples counted in; the batch is one place."""
        came = np.bincount(y, minlength=len(self.seen))
        total = self.total + len(y)
        return ClassCounts(self.seen + came, np.where(came > 0, total, self.last), total)

    @property
    def absence(self) -> NDArray[np.float64]:
        """From 0, a class that is due or has just come, to 1, one that stays away: by how many of its turns it missed.

        A class that comes once in a thousand is not away after a hundred others; one that came every other time is.
        """
        missed = (self.total - self.last) * (self.seen / max(1, self.total))
        return np.minimum(1.0, missed / MISSED_TURNS)

    def state_dict(self) -> dict[str, Any]:
        return {"seen": self.seen, "last": self.last, "total": self.total}

    @classmethod
    def from_state(cls, saved: Saved, n_classes: int) -> ClassCounts:
        """What ``state_dict`` described, if a stream can have gone so."""
        total = saved.whole("total", 0)
        seen, last = (saved.array(name, (n_classes,), "int64") for name in ("seen", "last"))
        if int(seen.min(initial=0)) < 0 or int(seen.sum()) != total:
            saved.refuse("seen", f"must be counts that make {total} together")
        if ((last < seen) | (last > total)).any():
            saved.refuse("last", f"must be places up to {total}, none before as many samples of its class")
        return cls(seen, last, total)


def standing(counts: ClassCounts, stored: Ints, y: Ints) -> torch.Tensor | None:
    """How much each class counts against each of these new samples, as a logarithm; None where every one does fully.

    A sample that is new pushes all other classes down where it stands. Those that come with it hold up their own
    places; a class that stays away has only its stored samples for that. So it counts as much as these are worth beside
    all that has come of the new sample's class, and never more than fully.
    """
    absence = counts.absence
    absence[np.unique(y)] = 0.0
    if not absence.any():
        return None
    worth = np.log(STORED_WORTH * np.maximum(stored, 0.5)) - np.log(counts.seen[y])[:, None]
    return torch.from_numpy(absence * np.minimum(0.0, worth)).float()
