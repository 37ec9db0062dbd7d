"""The kinds of values that a setting can have: each takes a value, or a text of one, and says what it takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np


class Kind(Protocol):
    """Takes a value, or a text of one, as it will be used; raises a ``ValueError`` where it is not of the ``form``."""

    @property
    def form(self) -> str: ...

    def __call__(self, value: Any) -> Any: ...


@dataclass(frozen=True)
class Real:
    """Numbers from ``low`` to ``high``, the ends included unless said; NaN and infinity are never among them.

    >>> Real(0.0, 1.0, high_included=False).form, Real(0.0, 1.0)("5e-1")
    ('a number in [0, 1)', 0.5)
    """

    low: float
    high: float
    low_included: bool = True
    high_included: bool = True

    @property
    def form(self) -> str:
        return f"a number in {'(['[self.low_included]}{self.low:g}, {self.high:g}{')]'[self.high_included]}"

    def __call__(self, value: Any) -> float:
        number = float(value) if isinstance(value, str) else value
        inside = type(number) in (int, float) and (
            self.low < number < self.high
            or (number == self.low and self.low_included)
            or (number == self.high and self.high_included)
        )
        if not inside:
            raise ValueError
        return float(number)


@dataclass(frozen=True)
class Whole:
    """Whole numbers from ``low`` to ``high``."""

    low: int
    high: int

    @property
    def form(self) -> str:
        return f"a whole number from {self.low} to {self.high}"

    def __call__(self, value: Any) -> int:
        number = int(value) if isinstance(value, str) else value
        if type(number) is not int or not self.low <= number <= self.high:
            raise ValueError
        return number


@dataclass(frozen=True)
class Widths:
    """A whole number for each layer, first to last; a number alone is one layer.

    >>> Widths(Whole(1, 1000), most=3)("400,400")
    (400, 400)
    """

    width: Whole
    most: int

    @property
    def form(self) -> str:
        return f"whole numbers such as 400,400: up to {self.most}, each from {self.width.low} to {self.width.high}"

    def __call__(self, value: Any) -> tuple[int, ...]:
        if isinstance(value, str):
            value = [int(text) for text in value.strip("()[] ").removesuffix(",").split(",")]
        widths = tuple(value) if isinstance(value, tuple | list) else (value,)
        if not 1 <= len(widths) <= self.most:
            raise ValueError
        return tuple(self.width(plain(width)) for width in widths)


@dataclass(frozen=True)
class Flag:
    """True or False."""

    form: str = "True or False"

    def __call__(self, value: Any) -> bool:
        flag = {"True": True, "False": False}.get(value) if isinstance(value, str) else value
        if type(flag) is not bool:
            raise ValueError
        return flag


@dataclass(frozen=True)
class Name:
    """A name; which ones there are, the part that takes it says."""

    form: str = "a name"

    def __call__(self, value: Any) -> str:
        if type(value) is not str:
            raise ValueError
        return value


@dataclass(frozen=True)
class Names:
    """Any number of names; a text has commas between them.

    >>> Names()("ridge, trees")
    ('ridge', 'trees')
    """

    form: str = "names with commas between them"

    def __call__(self, value: Any) -> tuple[str, ...]:
        given = [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value
        if not isinstance(given, tuple | list) or not all(type(name) is str for name in given):
            raise ValueError
        return tuple(given)


@dataclass(frozen=True)
class Word:
    """One of a few words, or nothing."""

    words: tuple[str, ...]

    @property
    def form(self) -> str:
        return f"one of {', '.join(self.words)}"

    def __call__(self, value: Any) -> str | None:
        if value is None or value == "None":
            return None
        if type(value) is not str or value not in self.words:
            raise ValueError
        return value


@dataclass(frozen=True)
class Levels:
    """One of a few words, or how many levels a value may have.

    >>> Levels(("exact", "auto"), Whole(2, 256))("4"), Levels(("exact", "auto"), Whole(2, 256)).form
    (4, 'exact, auto or a whole number from 2 to 256')
    """

    words: tuple[str, ...]
    count: Whole

    @property
    def form(self) -> str:
        return f"{', '.join(self.words)} or {self.count.form}"

    def __call__(self, value: Any) -> str | int:
        return value if value in self.words else self.count(value)


def plain(value: Any) -> Any:
    """NumPy's numbers and truth values as Python's."""
    for theirs, ours in ((np.bool_, bool), (np.integer, int), (np.floating, float)):
        if isinstance(value, theirs):
            return ours(value)
    return value
