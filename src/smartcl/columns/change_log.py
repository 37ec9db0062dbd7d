"""Log of changes to arrays, dicts and attributes, by which they can be undone."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray


class ChangeLog:
    """What things were before they were changed in place; ``undo`` makes them so again, the last change first.

    >>> import numpy as np
    >>> counts, journal = np.zeros(3), ChangeLog()
    >>> journal.array(counts, [0, 2])
    >>> counts[[0, 2]] += 1
    >>> journal.undo()
    >>> counts.tolist()
    [0.0, 0.0, 0.0]
    """

    def __init__(self) -> None:
        self._notes: list[tuple[Any, Any, Any, bool]] = []

    def array(self, values: NDArray[Any], index: Any) -> None:
        """These entries of an array will change."""
        self._notes.append((values, index, values[index].copy(), False))

    def attribute(self, owner: object, name: str) -> None:
        """This attribute will be replaced."""
        self._notes.append((vars(owner), name, vars(owner)[name], False))

    def entry(self, owner: dict[Any, Any], key: Any) -> None:
        """This entry of a dict will change, come or go."""
        self._notes.append((owner, key, owner.get(key), key not in owner))

    def undo(self) -> None:
        """Take all changes back; a second interrupt does not stop it half-way."""
        while self._notes:
            try:
                owner, key, value, was_absent = self._notes[-1]
                if was_absent:
                    owner.pop(key, None)
                else:
                    owner[key] = value
                self._notes.pop()
            except KeyboardInterrupt:
                continue
