"""What a setting of a learner may be: one list, asked wherever a setting comes in.

A method's settings are a frozen dataclass derived from ``Settings``. The command line, the estimator, a saved model and
the parts of a learner refuse the same values in the same words. The upper ends are no advice: beyond them single
precision overflows, or a run does not end.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from typing import Any, Self

from smartcl.references import Code, UntrustedCodeError
from smartcl.setting_kinds import Flag, Kind, LevelCount, Members, Name, Real, Whole, Widths, Word, plain

#: Of a value that is refused, so many characters are shown.
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
