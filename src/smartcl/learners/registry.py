"""A mapping by name that installed packages extend: what they declare is found when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar

Thing = TypeVar("Thing")


class Registry(MutableMapping[str, Thing], Generic[Thing]):
    """Ours, then what was registered since, then entry points of a group, which never replace one of ours.

    Names are known without loading anything. Ours are made and entry points loaded when they are looked at; ``take``
    makes what an entry point is one of these things or raises a ``ValueError``.

    >>> numbers = Registry({"one": lambda: 1}, group="smartcl.doctest", take=int)
    >>> numbers["two"] = 2
    >>> list(numbers), "three" in numbers
    (['one', 'two'], False)
    """

    def __init__(self, ours: Mapping[str, Callable[[], Thing]], group: str, take: Callable[[Any], Thing]) -> None:
        self.ours, self._group, self._take = ours, group, take
        self._known: dict[str, Thing] = {}
        self._declared: dict[str, EntryPoint] | None = None

    def __getitem__(self, name: str) -> Thing:
        if name not in self._known:
            self._known[name] = self.ours[name]() if name in self.ours else self._loaded(self._entries()[name])
        return self._known[name]

    def __setitem__(self, name: str, thing: Thing) -> None:
        self._known[name] = thing

    def __delitem__(self, name: str) -> None:
        del self._known[name]

    def __contains__(self, name: object) -> bool:
        return name in self.ours or name in self._known or name in self._entries()

    def __iter__(self) -> Iterator[str]:
        return iter({**self.ours, **self._known, **self._entries()})

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def name_of(self, fits: Callable[[Thing], bool]) -> str | None:
        """The name of the first that fits, among those that are loaded: no caller can hold another."""
        return next((name for name, thing in self._known.items() if fits(thing)), None)

    def _entries(self) -> dict[str, EntryPoint]:
        if self._declared is None:
            self._declared = {entry.name: entry for entry in entry_points(group=self._group)}
        return self._declared

    def _loaded(self, entry: EntryPoint) -> Thing:
        try:
            return self._take(entry.load())
        except Exception as error:  # another package may raise any error when it is imported
            why = " ".join(f"{type(error).__name__}: {error}".split())
            raise ValueError(f"{entry.name!r} of {self._group} cannot be loaded from {entry.value}: {why}") from error
