"""The kinds of values that a setting can have: each takes a value, or a text of one, and says what it takes."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any, Protocol

from smartcl.references import import_reference, reference_of

#: What a parameter of a classifier may be, to be saved.
SAVED_TYPES = (bool, int, float, str, type(None))


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


@dataclass(frozen=True, eq=False)
class OwnMember:
    """A member of the user's own: a classifier as scikit-learn has them, or a function that makes a member.

    Two are equal if they would make the same: the same function, or the same class with the same parameters.
    """

    made: Any

    @property
    def is_classifier(self) -> bool:
        return hasattr(self.made, "get_params")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OwnMember) or self.is_classifier != other.is_classifier:
            return False
        if not self.is_classifier:
            return self.made is other.made
        mine, theirs = (each.made.get_params(deep=False) for each in (self, other))
        return type(self.made) is type(other.made) and repr(mine) == repr(theirs)

    def __hash__(self) -> int:
        return hash(type(self.made))

    def saved(self) -> Any:
        """What a file can hold of it: where its code is, and a classifier's parameters beside that."""
        if not self.is_classifier:
            return reference_of(self.made, "members")
        parameters = {name: plain(value) for name, value in self.made.get_params(deep=False).items()}
        odd = next((name for name, value in parameters.items() if not isinstance(value, SAVED_TYPES)), None)
        if odd is not None:
            raise ValueError(f"members must have plain parameters to be saved: {odd} of {type(self.made).__name__}")
        return {"classifier": reference_of(type(self.made), "members"), "parameters": parameters}


@dataclass(frozen=True)
class Members:
    """Names of members, and members of the user's own; a text has commas between them.

    >>> Members()("ridge, trees")
    ('ridge', 'trees')
    """

    form: str = "names of members, classifiers, or functions that make a member; a text of names with commas"

    def __call__(self, value: Any) -> tuple[str | OwnMember, ...]:
        given = [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value
        if not isinstance(given, tuple | list):
            raise ValueError
        return tuple(self._one(each) for each in given)

    def _one(self, given: Any) -> str | OwnMember:
        if isinstance(given, OwnMember):
            return given
        if isinstance(given, str):
            return OwnMember(import_reference(given)) if ":" in given else given
        if isinstance(given, dict) and set(given) == {"classifier", "parameters"}:
            return OwnMember(import_reference(given["classifier"])(**given["parameters"]))
        learns = all(hasattr(given, name) for name in ("fit", "predict", "get_params")) and not isinstance(given, type)
        if not learns and not callable(given):
            raise ValueError
        return OwnMember(given)


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
class LevelCount:
    """One of a few words, or how many levels a value may have.

    >>> LevelCount(("exact", "auto"), Whole(2, 256))("4"), LevelCount(("exact", "auto"), Whole(2, 256)).form
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
    """NumPy's numbers and truth values as Python's; while NumPy is not imported, there are none."""
    if "numpy" not in sys.modules:
        return value
    import numpy as np

    for theirs, ours in ((np.bool_, bool), (np.integer, int), (np.floating, float)):
        if isinstance(value, theirs):
            return ours(value)
    return value
