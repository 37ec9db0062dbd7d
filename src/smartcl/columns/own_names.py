"""Names that have a column of their own, as long as they come."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from smartcl.columns.change_log import ChangeLog
from smartcl.saving.saved import Saved

#: Rows for which a name was not seen before its column may go to another: stored rows of it are seldom left then.
LONG_UNSEEN = 10_000


class OwnNames:
    """Which name has which of ``width`` columns. A new one takes a free column, or that of a name long unseen.

    >>> own = OwnNames(2)
    >>> own.learn(["red", "blue", "green"], row=0)
    >>> own.place("blue"), own.place("green")
    (1, None)
    >>> own.learn(["red", "green"], row=LONG_UNSEEN)
    >>> own.place("blue"), own.place("green")
    (None, 1)
    """

    def __init__(self, width: int) -> None:
        self.width = width
        self._places: dict[str, int] = {}
        #: Of each column, the row by which its name was last seen.
        self._last = np.zeros(width, np.int64)
        #: Whether new names take columns: not in shards, each of which would give the same one to another name.
        self.takes_names = True

    def place(self, name: str | None) -> int | None:
        """The column of a name, if it has one."""
        return None if name is None else self._places.get(name)

    def name(self, place: int) -> str | None:
        """The name that has this column."""
        return next((name for name, at in self._places.items() if at == place), None)

    def __iter__(self) -> Any:
        """The names, by column."""
        return iter(sorted(self._places, key=self._places.__getitem__))

    @property
    def nbytes(self) -> int:
        return sum(len(name.encode("utf-8", "replace")) + 16 for name in self._places)

    def take(self, name: str) -> None:
        """Give a column to a name, if one is free."""
        if name not in self._places and len(self._places) < self.width:
            self._places[name] = self._free()

    def learn(self, names: Sequence[str | None], row: int, journal: ChangeLog | None = None) -> None:
        """Rows with these names came; ``row`` were before."""
        seen = [name for name in dict.fromkeys(names) if name is not None]
        known = [self._places[name] for name in seen if name in self._places]
        if journal is not None:
            journal.array(self._last, known)
        self._last[known] = row
        new = [name for name in seen if name not in self._places]
        if new and self.takes_names:
            self._take_in(new, row, journal)

    def _take_in(self, new: Sequence[str], row: int, journal: ChangeLog | None) -> None:
        """Give columns to new names, as long as there are any to give."""
        if journal is not None:
            journal.attribute(self, "_places")
            journal.attribute(self, "_last")
        places, last = dict(self._places), self._last.copy()
        for name in new:
            free = next((place for place in range(self.width) if place not in places.values()), None)
            if free is None:
                eldest = min(places, key=lambda each: (last[places[each]], places[each]))
                if row - last[places[eldest]] < LONG_UNSEEN:
                    continue
                free = places.pop(eldest)
            places[name], last[free] = free, row
        self._places, self._last = places, last

    def _free(self) -> int:
        return next(place for place in range(self.width) if place not in self._places.values())

    def only(self, places: Collection[int]) -> OwnNames:
        """One that knows the names of these columns only."""
        made = OwnNames(self.width)
        made._places = {name: place for name, place in self._places.items() if place in places}
        return made

    def copy(self) -> OwnNames:
        """One that can be changed by itself."""
        made = OwnNames(self.width)
        made._places, made._last, made.takes_names = dict(self._places), self._last.copy(), self.takes_names
        return made

    def state_dict(self) -> dict[str, Any]:
        return {"places": dict(self._places), "last": self._last.copy()}

    def load_state_dict(self, saved: Saved) -> None:
        """Go on as the one that gave this state, or raise a ``StateError``."""
        places = saved.part("places")
        found = {name: places.whole(name, 0, self.width - 1) for name in places}
        if len(set(found.values())) < len(found):
            saved.refuse("places", "must be another for each name")
        self._places, self._last = found, np.array(saved.array("last", (self.width,), "int64"))
