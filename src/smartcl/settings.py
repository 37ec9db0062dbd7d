"""Settings of learners: the values each may have, in one list that is asked wherever a setting comes in.

A method's settings are a frozen dataclass derived from ``Settings``. The command line, the estimator, a saved model and
the parts of a learner refuse the same values in the same words. The upper ends are no advice: beyond them single
precision overflows, or a run does not end.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from typing import Any, Protocol, Self

from smartcl.saving.references import Code, UntrustedCodeError, import_reference, reference_of

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


#: Characters shown of a value that is refused.
SHOWN = 60


STRENGTH = Real(0.0, 1e6)
SHARE = Real(0.0, 1.0, high_included=False)

SETTINGS: Mapping[str, Kind] = {
    "hidden": Widths(Whole(1, 10**9), most=100),
    "lr": Real(0.0, 10.0, low_included=False),
    "iterations": Whole(1, 10**6),
    "epochs": Whole(1, 10**6),
    "replay": Whole(0, 10**9),
    "joint": Flag(),
    "average": SHARE,
    "smoothing": SHARE,
    "dropout": SHARE,
    "robust": Real(0.0, 1.0),
    "distill": STRENGTH,
    "dark": STRENGTH,
    "alpha": STRENGTH,
    "beta": STRENGTH,
    "strength": STRENGTH,
    "margin": STRENGTH,
    "threshold": STRENGTH,
    "patience": Whole(1, 255),
    "precision": LevelCount(("plain", "exact", "auto"), Whole(2, 256)),
    "trust": Flag(),
    "whole": Flag(),
    "form": Name(),
    "arithmetic": Word(("float32", "bfloat16", "auto")),
    "layer": Name(),
    "memory_first": Flag(),
    "consolidate": Name(),
    "init": Name(),
    "network": Code(),
    "optimizer": Code(),
    "augment": Code(),
    "members": Members(),
    "kept_weights": Word(("float32", "float16")),
    "features": Whole(1, 50_000),
}


def setting(name: str, value: Any, kind: Kind | None = None) -> Any:
    """The value as it will be used: text is parsed, NumPy's numbers become Python's; a wrong one is refused.

    >>> import numpy as np
    >>> setting("lr", "1e-3"), setting("hidden", np.int64(64)), setting("trust", "False")
    (0.001, (64,), False)
    >>> setting("patience", -5)
    Traceback (most recent call last):
        ...
    ValueError: patience must be a whole number from 1 to 255, got -5
    """
    kind = SETTINGS[name] if kind is None else kind
    try:
        return kind(plain(value))
    except UntrustedCodeError:
        raise
    except ValueError:
        raise ValueError(f"{name} must be {kind.form}, got {shown(value)}") from None


def of_kind(kind: Kind, default: Any) -> Any:
    """A field of ``Settings`` that brings its own kind, for a name that is not in the list or means something else."""
    return field(default=default, metadata={"kind": kind})


@dataclass(frozen=True)
class Settings:
    """What can be set of something: one field a setting, each checked by its kind when the settings are made.

    The kind is that of the field's name in the list, or the field's own (``of_kind``). A field with ``init=False`` has
    one value for good and is no setting.

    >>> @dataclass(frozen=True)
    ... class Cooling(Settings):
    ...     lr: float = 1e-3
    ...     temperature: float = of_kind(Real(0.0, 100.0), 2.0)
    >>> Cooling().changed({"temperature": "3"}).as_dict()
    {'lr': 0.001, 'temperature': 3.0}
    >>> Cooling(temperature=-1)
    Traceback (most recent call last):
        ...
    ValueError: temperature must be a number in [0, 100], got -1
    """

    def __post_init__(self) -> None:
        for name, kind in self.kinds().items():
            object.__setattr__(self, name, setting(name, getattr(self, name), kind))

    @classmethod
    def kinds(cls) -> dict[str, Kind]:
        """What each setting may be, by name."""
        return {part.name: part.metadata.get("kind") or _listed(part.name) for part in fields(cls) if part.init}

    def as_dict(self) -> dict[str, Any]:
        """Every setting by name; code of the user's own where there is any."""
        given = {name: getattr(self, name) for name in self.kinds()}
        return {name: value for name, value in given.items() if value is not None}

    def changed(self, parameters: Mapping[str, Any]) -> Self:
        """The same but for these; unknown names and values out of range are refused."""
        check_known(parameters, self.kinds())
        return replace(self, **parameters)


def _listed(name: str) -> Kind:
    if name not in SETTINGS:
        raise TypeError(f"a setting must have a kind, and {name} is in no list: write {name} = of_kind(kind, default)")
    return SETTINGS[name]


def shown(value: Any) -> str:
    """A value in an error, whatever its length.

    >>> shown("x" * 1000)
    "'xxxxxxxxxxxxxxxxxxxxxxxxxxx...xxxxxxxxxxxxxxxxxxxxxxxxxxxx'"
    """
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # of a whole number with thousands of digits
        return f"a number of {value.bit_length()} bits" if isinstance(value, int) else type(value).__name__
    half = SHOWN // 2
    return text if len(text) <= SHOWN else f"{text[: half - 2]}...{text[-half + 1 :]}"


def as_given(value: Any) -> Any:
    """A value as it was before it became JSON: tuples come back as lists.

    >>> as_given({"hidden": [2, 3]})
    {'hidden': (2, 3)}
    """
    if isinstance(value, dict):
        return {name: as_given(item) for name, item in value.items()}
    return tuple(as_given(item) for item in value) if isinstance(value, list | tuple) else value


def check_known(parameters: Mapping[str, Any], known: Collection[str]) -> None:
    """Refuse a parameter of another name, and name the nearest."""
    unknown = next((name for name in parameters if name not in known), None)
    if unknown is not None:
        raise ValueError(f"unknown parameter {shown(unknown)}: {nearest(unknown, known)}")


def nearest(name: str, known: Collection[str]) -> str:
    """What a name that is not known may have meant.

    >>> nearest("strenght", ["lr", "strength"])
    'did you mean strength? known are lr, strength'
    """
    close = get_close_matches(str(name), known, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(close)}? " if close else ""
    return f"{hint}known are {', '.join(known)}" if known else "there are none"
