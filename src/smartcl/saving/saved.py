"""Reading of a saved state that may be damaged: every value taken out of it is checked.

A file's checksum tells that it is what was written, not that a learner wrote it. So a loaded state is checked to be one
that could have been saved, before a learner uses it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from reprlib import repr as shortened
from typing import Any, NoReturn, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

#: The wanted length of each dimension; None: any.
Shape: TypeAlias = tuple[int | None, ...]


class StateError(ValueError):
    """A saved state that no learner can have saved: where it is wrong, and how.

    >>> str(StateError("state.memory.labels", "is missing"))
    'the saved state is damaged: state.memory.labels is missing'
    """

    def __init__(self, where: str, why: str) -> None:
        super().__init__(f"the saved state is damaged: {where} {why}")


class Saved:
    """One part of a saved state and its path in it; each method names the type and range that it expects.

    >>> saved = Saved({"width": 3, "model": {"bias": torch.zeros(2)}})
    >>> saved.whole("width", low=1, high=10)
    3
    >>> saved.part("model").tensor("bias", (3,))
    Traceback (most recent call last):
        ...
    smartcl.saving.saved.StateError: the saved state is damaged: state.model.bias has the shape (2,), must be (3,)
    """

    def __init__(self, state: object, where: str = "state") -> None:
        if not isinstance(state, dict):
            raise StateError(where, f"must be a dict of its parts, is {_kind(state)}")
        stranger = next((name for name in state if not isinstance(name, str)), None)
        if stranger is not None:
            raise StateError(where, f"must have text for names, has {shortened(stranger)}")
        self._state: dict[str, Any] = state
        self.where = where

    @classmethod
    def of(cls, state: object, where: str) -> Saved:
        """A state that may have been opened already."""
        return state if isinstance(state, Saved) else cls(state, where)

    def __iter__(self) -> Iterator[str]:
        """The names of what is there."""
        return iter(self._state)

    def value(self, name: str) -> Any:
        """What is there under this name, not looked at any further."""
        return self._entry(name)

    def part(self, name: str) -> Saved:
        """The part of this name."""
        return Saved(self._entry(name), self._path(name))

    def has(self, name: str) -> bool:
        """Whether something else than None was saved under this name."""
        return self._entry(name) is not None

    def optional(self, name: str) -> Saved | None:
        """The part of this name; None where None was saved."""
        return self.part(name) if self.has(name) else None

    def parts(self, name: str) -> list[Saved]:
        """The parts of a list."""
        return [Saved(item, f"{self._path(name)}[{place}]") for place, item in enumerate(self.items(name))]

    def items(self, name: str) -> list[Any]:
        """What a list holds, not looked at any further."""
        found = self._entry(name)
        if not isinstance(found, list | tuple):
            self.refuse(name, f"must be a list, is {_kind(found)}")
        return list(found)

    def optional_items(self, name: str) -> list[Any] | None:
        """The same; None where None was saved."""
        return self.items(name) if self.has(name) else None

    def counts(self, name: str, least: int, most: int) -> tuple[int, ...]:
        """Whole numbers from 0 on; their count lies in the given range."""
        found = self.items(name)
        if not least <= len(found) <= most or not all(type(each) is int and each >= 0 for each in found):
            self.refuse(name, f"must be {least} to {most} whole numbers of 0 or more")
        return tuple(found)

    def entries(self, name: str) -> dict[str, Any]:
        """What a part holds by name, not looked at any further."""
        return dict(self.part(name)._state)

    def tensor(self, name: str, shape: Shape, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """A tensor of finite numbers."""
        found = self._entry(name)
        if not isinstance(found, torch.Tensor):
            self.refuse(name, f"must be a tensor, is {_kind(found)}")
        if found.dtype != dtype:
            self.refuse(name, f"holds {found.dtype}, must hold {dtype}")
        self._check_shape(name, tuple(found.shape), shape)
        if not bool(torch.isfinite(found).all()):
            self.refuse(name, "must be finite: it contains NaN or infinity")
        return found

    def tensors(
        self, name: str, shapes: Mapping[str, tuple[int, ...]], dtype: torch.dtype = torch.float32
    ) -> dict[str, torch.Tensor]:
        """A part that holds one tensor of finite numbers for each of these names, of this shape, and no others."""
        found = self.part(name)
        stranger = next((key for key in found._state if key not in shapes), None)
        if stranger is not None:
            self.refuse(name, f"has {shortened(stranger)}, which is not one of {', '.join(shapes)}")
        return {key: found.tensor(key, shape, dtype) for key, shape in shapes.items()}

    def array(self, name: str, shape: Shape, *dtypes: str) -> NDArray[Any]:
        """An array of finite numbers in one of these dtypes."""
        found = self._entry(name)
        if not isinstance(found, np.ndarray):
            self.refuse(name, f"must be an array, is {_kind(found)}")
        if not any(found.dtype == np.dtype(dtype) for dtype in dtypes):
            self.refuse(name, f"holds {found.dtype}, must hold {' or '.join(dtypes)}")
        self._check_shape(name, found.shape, shape)
        if found.dtype.kind == "f" and not np.isfinite(found).all():
            self.refuse(name, "must be finite: it contains NaN or infinity")
        return found

    def whole(self, name: str, low: int, high: int | None = None) -> int:
        """A whole number from ``low`` to ``high``, both possible."""
        found = self._entry(name)
        if isinstance(found, bool) or not isinstance(found, int | np.integer):
            self.refuse(name, f"must be a whole number, is {_kind(found)}")
        if found < low or (high is not None and found > high):
            self.refuse(name, f"must be {_range(low, high)}, is {shortened(found)}")
        return int(found)

    def number(self, name: str, low: float = -math.inf, high: float = math.inf) -> float:
        """A finite number from ``low`` to ``high``, both possible."""
        found = self._entry(name)
        if isinstance(found, bool) or not isinstance(found, int | float | np.integer | np.floating):
            self.refuse(name, f"must be a number, is {_kind(found)}")
        if not (low <= found <= high and -math.inf < found < math.inf):
            self.refuse(name, f"must be a finite number from {low:g} to {high:g}, is {shortened(found)}")
        return float(found)

    def text(self, name: str) -> str:
        found = self._entry(name)
        if not isinstance(found, str):
            self.refuse(name, f"must be text, is {_kind(found)}")
        return found

    def choice(self, name: str, *allowed: str) -> str:
        """One of these texts."""
        found = self.text(name)
        if found not in allowed:
            self.refuse(name, f"must be {' or '.join(allowed)}, is {shortened(found)}")
        return found

    def one_of(self, name: str, *types: type) -> Any:
        """A value of one of these types."""
        found = self._entry(name)
        if type(found) not in types:
            self.refuse(name, f"must be of the type {' or '.join(t.__name__ for t in types)}, is {_kind(found)}")
        return found

    def flag(self, name: str) -> bool:
        found = self._entry(name)
        if not isinstance(found, bool | np.bool_):
            self.refuse(name, f"must be true or false, is {_kind(found)}")
        return bool(found)

    def refuse(self, name: str, why: str) -> NoReturn:
        """Say that the entry of this name is wrong, and why."""
        raise StateError(self._path(name), why)

    def _entry(self, name: str) -> Any:
        if name not in self._state:
            self.refuse(name, "is missing")
        return self._state[name]

    def _path(self, name: str) -> str:
        return f"{self.where}.{name}"

    def _check_shape(self, name: str, found: tuple[int, ...], wanted: Shape) -> None:
        fits = len(found) == len(wanted) and all(n is None or n == m for n, m in zip(wanted, found, strict=True))
        if not fits:
            shape = str(wanted).replace("None", "any")
            self.refuse(name, f"has the shape {found}, must be {shape}")


def generator_state(saved: Saved) -> dict[str, Any]:
    """The saved state of a NumPy generator, or a ``StateError``."""
    like = np.random.default_rng(0).bit_generator
    if saved.text("bit_generator") != type(like).__name__:
        saved.refuse("bit_generator", f"must be {type(like).__name__}")
    words = saved.part("state")
    return {
        "bit_generator": type(like).__name__,
        "state": {"state": words.whole("state", 0, 2**128 - 1), "inc": words.whole("inc", 0, 2**128 - 1)},
        "has_uint32": saved.whole("has_uint32", 0, 1),
        "uinteger": saved.whole("uinteger", 0, 2**32 - 1),
    }


def _kind(thing: object) -> str:
    return "None" if thing is None else f"of the type {type(thing).__name__}"


def _range(low: int, high: int | None) -> str:
    return f"at least {low}" if high is None else f"from {low} to {high}"
