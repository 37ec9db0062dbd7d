"""Counts of the classes so far and when each came last; some are among the newest rows, some in memory alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from smartcl.data.batch import Bools, Doubles, Ints
from smartcl.learners.class_places import placed
from smartcl.saving.saved import Saved

#: Turns that a class must miss to count as absent; a turn follows from its frequency so far.
MISSED_TURNS = 10.0
#: The power of the ratio by which a class that stays away counts.
SHARPNESS = 2.0
#: No class is taken to be rarer than that.
LEAST_RATE = 1e-9


@dataclass(frozen=True, eq=False)
class ClassCounts:
    """Of each class the samples that have come, and after how many of all the first and the last of them did.

    >>> counts = ClassCounts.none(2).add(np.array([0, 0])).add(np.array([1, 0])).add(np.array([0, 0]))
    >>> counts.seen, counts.first, counts.last, counts.total
    (array([5, 1]), array([0, 2]), array([6, 4]), 6)
    """

    seen: Ints
    first: Ints
    last: Ints
    total: int

    @classmethod
    def none(cls, n_classes: int) -> ClassCounts:
        zeros = np.zeros(n_classes, dtype=np.int64)
        return cls(zeros, zeros, zeros, 0)

    def widened(self, n_classes: int) -> ClassCounts:
        """With room for classes that have not come yet."""
        more = (0, n_classes - len(self.seen))
        seen, first, last = (np.pad(each, more) for each in (self.seen, self.first, self.last))
        return ClassCounts(seen, first, last, self.total)

    def add(self, y: Ints) -> ClassCounts:
        """With the samples of a batch counted in."""
        came = np.bincount(y, minlength=len(self.seen))
        first = np.where((came > 0) & (self.seen == 0), self.total, self.first)
        total = self.total + len(y)
        return ClassCounts(self.seen + came, first, np.where(came > 0, total, self.last), total)

    def placed(self, at: Ints, n_classes: int) -> ClassCounts:
        """With its classes at these places among ``n_classes``."""
        seen, first, last = (placed(each, at, n_classes) for each in (self.seen, self.first, self.last))
        return replace(self, seen=seen, first=first, last=last)

    @classmethod
    def together(cls, parts: Sequence[ClassCounts], base: ClassCounts | None = None) -> ClassCounts:
        """Of streams that went on side by side, each from the same base: as if their rows had come in turns.

        >>> one, two = (ClassCounts.none(2).add(np.array(y)) for y in ([0, 0], [0, 1]))
        >>> both = ClassCounts.together([one, two])
        >>> both.seen, both.total
        (array([3, 1]), 4)
        """
        start = cls.none(len(parts[0].seen)) if base is None else base
        own = [part.total - start.total for part in parts]
        if min(own) < 0:
            raise ValueError(
                f"base has seen {start.total:,} rows, more than a model that is said to have begun from it"
            )
        total = start.total + sum(own)
        seen = start.seen + sum(part.seen - start.seen for part in parts)
        first, last = np.where(start.seen > 0, start.first, total), start.last
        for part, rows in zip(parts, own, strict=True):
            came = part.seen > start.seen
            stretch = sum(own) / max(1, rows)
            begin = start.total + np.floor((part.first - start.total) * stretch).astype(np.int64)
            end = start.total + np.ceil((part.last - start.total) * stretch).astype(np.int64)
            first = np.where(came & (start.seen == 0), np.minimum(first, begin), first)
            last = np.where(came, np.maximum(last, np.minimum(end, total)), last)
        return cls(seen, np.where(seen > 0, first, 0), last, total)

    def without(self, gone: ClassCounts) -> ClassCounts:
        """Without the rows of a part, wherever in the stream they were."""
        seen, total = self.seen - gone.seen, self.total - gone.total
        if int(seen.min(initial=0)) < 0:
            raise ValueError("a part that is taken out must have been in the model: it has seen more rows of a class")
        share = total / max(1, self.total)
        last = np.maximum(np.minimum(np.ceil(self.last * share).astype(np.int64), total), seen)
        first = np.minimum(np.floor(self.first * share).astype(np.int64), last - seen)
        return ClassCounts(seen, first, last, total)

    @property
    def rate(self) -> Doubles:
        """The share of each class in all that has come since its first sample."""
        rate: Doubles = self.seen / np.maximum(1, self.total - self.first)
        return rate

    def rare(self, ensured: float) -> Bools:
        """Which classes come less often than the ``ensured`` part of an even share."""
        rare: Bools = (self.seen > 0) & (self.rate < ensured / max(1, int((self.seen > 0).sum())))
        return rare

    @property
    def log_rate(self) -> torch.Tensor:
        """Its logarithm, of a class that has not come yet by far the least."""
        return torch.from_numpy(np.log(np.maximum(self.rate, LEAST_RATE))).float()

    @property
    def absence(self) -> Doubles:
        """From 0, a class that is due or has just come, to 1, one that stays away: by how many of its turns it missed.

        A class that comes once in a thousand is not away after a hundred others; one that came every other time is.
        """
        absence: Doubles = np.minimum(1.0, (self.total - self.last) * self.rate / MISSED_TURNS)
        return absence

    def state_dict(self) -> dict[str, Any]:
        return {"seen": self.seen, "first": self.first, "last": self.last, "total": self.total}

    @classmethod
    def from_state(cls, saved: Saved, n_classes: int) -> ClassCounts:
        """What ``state_dict`` described, if a stream can have gone so."""
        total = saved.whole("total", 0)
        seen, first, last = (saved.array(name, (n_classes,), "int64") for name in ("seen", "first", "last"))
        if int(seen.min(initial=0)) < 0 or int(seen.sum()) != total:
            saved.refuse("seen", f"must be counts that make {total} together")
        if int(first.min(initial=0)) < 0 or (last - first < seen).any() or int(last.max(initial=0)) > total:
            saved.refuse("last", f"must be places up to {total}, and after the first with room for all of a class")
        return cls(seen, first, last, total)


def standing(counts: ClassCounts, stored: Ints, y: Ints) -> torch.Tensor | None:
    """How much each class counts against each of these new samples, as a logarithm; None where every one does fully.

    A sample that is new pushes all other classes down where it stands. Those that come with it hold up their own
    places; a class that stays away has only its stored samples for that. So it counts by the square of their number
    over that of all that has come of the new sample's class, and never more than fully: at first as in the
    cross-entropy, in a long task as in ER-ACE.
    """
    absence = counts.absence
    absence[np.unique(y)] = 0.0
    if not absence.any():
        return None
    worth = np.log(np.maximum(stored, 0.5)) - np.log(counts.seen[y])[:, None]
    return torch.from_numpy(SHARPNESS * absence * np.minimum(0.0, worth)).float()


def overstated(counts: ClassCounts, stored: Ints, ensured: float) -> torch.Tensor | None:
    """How much more of the memory each class has than of the stream, as a logarithm; None where no class is rare.

    The memory holds more of a rare class than has come, and replay would make it look frequent. A class that stays away
    has no frequency to be true to.
    """
    rate, rare = counts.rate, counts.rare(ensured)
    if not (rare & (stored > 0)).any():
        return None
    excess = np.log(np.maximum(stored, 1) / max(1, int(stored.sum()))) - np.log(np.where(rare, rate, 1.0))
    return torch.from_numpy(np.where(rare, (1 - counts.absence) * np.maximum(0.0, excess), 0.0)).float()
