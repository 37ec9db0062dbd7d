"""Statistics of the names of a column: how often each came, how its rows differ from all, and when it came last.

A name gets a slot when it comes. When all slots are taken, the names that have not been seen for longest give theirs
back. Names are kept as 8-byte hashes: nothing here can be read.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from hashlib import blake2b
from typing import Any

import numpy as np

from smartcl.columns.change_log import ChangeLog
from smartcl.data.batch import Floats
from smartcl.saving.saved import Saved

#: Names of a column that are known at a time: 24 bytes each for two classes. Flights have 4,043 aircraft.
MOST_NAMES = 8192
#: The share that stays when there are more.
KEPT_SHARE = 0.75
#: Rows at the rate of all that a name's own rate is mixed with. 5, 20 and 50 were within 0.3 points of accuracy on
#: flights after the first 100,000.
SHRINK_ROWS = 20.0
#: Rows of a name after which older ones count less: a rate follows a change.
WINDOW_ROWS = 1000.0
#: What is stored of a rate are multiples of this: few different values take few bytes.
GRAIN = 1 / 256


def key_of(name: str) -> int:
    """The hash that a name is known by.

    >>> key_of("UA") == key_of("UA") != key_of("AA")
    True
    """
    return int.from_bytes(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little", signed=True)


class NameRates:
    """Rates of the names of one column, in ``width`` columns of classes.

    >>> rates = NameRates(1)
    >>> rates.learn([7, 7, 8], np.array([[0.5], [0.5], [-0.5]], np.float32), row=3)
    >>> rates.features([7, 8, 9]).tolist()
    [[0.046875], [-0.0234375], [0.0]]
    """

    def __init__(self, width: int) -> None:
        self.width = width
        self._slots: dict[int, int] = {}
        # one more than is used: what is not known reads the last
        self._count = np.zeros(1, np.float32)
        self._rate = np.zeros((1, width), np.float32)
        self._last = np.zeros(1, np.int64)

    def __len__(self) -> int:
        return len(self._slots)

    @property
    def nbytes(self) -> int:
        """Of hashes, counts, rates and rows."""
        return len(self._slots) * (8 + 4 + 4 * self.width + 8)

    def features(self, keys: Iterable[int]) -> Floats:
        """How much more often than in all rows each class comes with these names; 0 for a name that is new."""
        at = np.fromiter((self._slots.get(key, -1) for key in keys), np.int64)
        count = np.where(at < 0, np.float32(0), self._count[at])
        rates = self._rate[at] * (count / (count + np.float32(SHRINK_ROWS)))[:, None]
        found: Floats = (np.rint(rates / GRAIN) * GRAIN).astype(np.float32)
        return found

    def feature(self, key: int) -> list[float]:
        """The same of one name."""
        at = self._slots.get(key)
        if at is None:
            return [0.0] * self.width
        count = self._count[at]
        share = count / (count + np.float32(SHRINK_ROWS))
        found: list[float] = (np.rint(self._rate[at] * share / np.float32(GRAIN)) * np.float32(GRAIN)).tolist()
        return found

    def unseen(self, keys: Iterable[int]) -> int:
        """How many of these are not known."""
        return sum(key not in self._slots for key in keys)

    def learn(self, keys: list[int], residuals: Floats, row: int, journal: ChangeLog | None = None) -> None:
        """Learn how far rows with these names were from the rate of all; ``row`` is the number of rows by then."""
        new = [key for key in dict.fromkeys(keys) if key not in self._slots]
        if new:
            self._make_room(new[-MOST_NAMES // 2 :], row, journal)
        if len(keys) == 1:
            if keys[0] in self._slots:
                self._learn_one(self._slots[keys[0]], residuals[0], row, journal)
            return
        held = [place for place, key in enumerate(keys) if key in self._slots]
        slots = [self._slots[keys[place]] for place in held]
        at, place, times = np.unique(np.array(slots, np.int64), return_inverse=True, return_counts=True)
        sums = np.zeros((len(at), self.width), np.float32)
        np.add.at(sums, place, residuals[held])
        if journal is not None:
            for values in (self._count, self._rate, self._last):
                journal.array(values, at)
        more = times.astype(np.float32)
        count = np.minimum(self._count[at] + more, np.maximum(WINDOW_ROWS, more)).astype(np.float32)
        self._rate[at] += (sums - more[:, None] * self._rate[at]) / count[:, None]
        self._count[at] = count
        self._last[at] = row

    def _learn_one(self, at: int, residual: Floats, row: int, journal: ChangeLog | None) -> None:
        """The same for a single row, a short way."""
        if journal is not None:
            for values in (self._count, self._rate, self._last):
                journal.array(values, at)
        count = min(self._count[at] + np.float32(1), np.float32(WINDOW_ROWS))
        self._rate[at] += (residual - self._rate[at]) / count
        self._count[at] = count
        self._last[at] = row

    def _make_room(self, new: list[int], row: int, journal: ChangeLog | None) -> None:
        """Slots for new names."""
        if journal is not None:
            for name in ("_slots", "_count", "_rate", "_last"):
                journal.attribute(self, name)
        if len(self._slots) + len(new) > MOST_NAMES:
            used = np.fromiter(self._slots.values(), np.int64)
            kept = used[np.argsort(-self._last[used], kind="stable")[: max(0, int(KEPT_SHARE * MOST_NAMES) - len(new))]]
            place = dict(zip(kept.tolist(), range(len(kept)), strict=True))
            self._slots = {key: place[at] for key, at in self._slots.items() if at in place}
            self._count, self._rate, self._last = self._count[kept], self._rate[kept], self._last[kept]
        elif journal is not None:
            for key in new:
                journal.entry(self._slots, key)
        wanted = len(self._slots) + len(new)
        if wanted >= len(self._count):
            more = max(wanted, min(2 * len(self._count), MOST_NAMES)) + 1 - len(self._count)
            self._count = np.concatenate([self._count, np.zeros(more, np.float32)])
            self._rate = np.concatenate([self._rate, np.zeros((more, self.width), np.float32)])
            self._last = np.concatenate([self._last, np.zeros(more, np.int64)])
        for key in new:
            self._slots[key] = len(self._slots)

    def copy(self) -> NameRates:
        """One that can be changed by itself."""
        made = copy(self)
        made._slots = dict(self._slots)
        made._count, made._rate, made._last = self._count.copy(), self._rate.copy(), self._last.copy()
        return made

    def state_dict(self) -> dict[str, Any]:
        count = len(self._slots)
        keys = np.zeros(count, np.int64)
        keys[list(self._slots.values())] = list(self._slots)
        return {
            **{"keys": keys, "count": self._count[:count].copy()},
            **{"rate": self._rate[:count].copy(), "last": self._last[:count].copy()},
        }

    def load_state_dict(self, saved: Saved) -> None:
        """Go on as the one that gave this state, or raise a ``StateError``."""
        keys = saved.array("keys", (None,), "int64")
        if len(keys) > MOST_NAMES or len(np.unique(keys)) < len(keys):
            saved.refuse("keys", f"must be up to {MOST_NAMES} different hashes")
        self._slots = {key: slot for slot, key in enumerate(keys.tolist())}
        count = saved.array("count", (len(keys),), "float32")
        rate = saved.array("rate", (len(keys), self.width), "float32")
        if not (count > 0).all():
            saved.refuse("count", "must be above 0")
        if not (np.abs(rate) <= 1).all():
            saved.refuse("rate", "must be from -1 to 1")
        self._count, self._rate = (
            np.append(count, np.float32(0)),
            np.vstack([rate, np.zeros((1, self.width), np.float32)]),
        )
        self._last = np.append(saved.array("last", (len(keys),), "int64"), 0)
