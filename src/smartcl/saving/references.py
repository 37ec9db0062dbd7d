"""A user's own code by name: what a file can hold of a function or a class is where to import it from.

A name that the user gives is imported. A name that a folder gives is imported only if the user has said that this code
is trusted (``only_trusted``): importing a module runs it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from importlib import import_module
from itertools import accumulate
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

#: What may be imported while a folder is loaded; None: the user names the code, and nothing is held back.
_TRUSTED: ContextVar[tuple[str, ...] | None] = ContextVar("trusted", default=None)

#: The form of a name of code, ``package.module:name``.
NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")


class UntrustedCodeError(ValueError):
    """A folder names code that the user has not said to trust.

    >>> print(UntrustedCodeError(["nets:make", "os:system"]))
    loading would import code, nets:make and os:system: if you trust it, load with trust=['nets', 'os'],
    on the command line with --trust nets --trust os
    """

    def __init__(self, names: Sequence[str]) -> None:
        modules = list(dict.fromkeys(name.partition(":")[0] for name in names))
        options = " ".join(f"--trust {module}" for module in modules)
        super().__init__(
            f"loading would import code, {' and '.join(names)}: if you trust it, load with trust={modules}, "
            f"on the command line with {options}"
        )


def trusted_names(trust: Sequence[str] | str | None) -> tuple[str, ...]:
    """What a user trusts: modules and packages by name, or single names such as ``package.module:name``.

    >>> trusted_names(["nets"]), trusted_names("nets"), trusted_names(None)
    (('nets',), ('nets',), ())
    """
    names = () if trust is None else (trust,) if isinstance(trust, str) else trust
    if not isinstance(names, Sequence) or not all(isinstance(name, str) and name for name in names):
        raise ValueError(f"trust must be a list of names of modules, such as ['mymodule'], got {trust!r:.60}")
    return tuple(names)


@contextmanager
def only_trusted(names: tuple[str, ...]) -> Iterator[None]:
    """Inside, code is imported only if one of these names is its own, its module's or a package's around it."""
    before = _TRUSTED.set(names)
    try:
        yield
    finally:
        _TRUSTED.reset(before)


def check_trusted(texts: Sequence[str]) -> None:
    """Refuse names of code that are not trusted, all in one error and before anything is imported."""
    refused = [text for text in dict.fromkeys(texts) if not _is_trusted(text)]
    if refused:
        raise UntrustedCodeError(refused)


def _is_trusted(text: str) -> bool:
    trusted = _TRUSTED.get()
    module = text.partition(":")[0]
    return trusted is None or any(name == text or f"{module}.".startswith(f"{name}.") for name in trusted)


def names_in(value: Any) -> list[str]:
    """The names of code in a saved setting; texts of several names have commas between them.

    >>> names_in({"members": "ridge, nets:tree", "network": "nets:make", "lr": 0.1})
    ['nets:tree', 'nets:make']
    """
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if NAME.fullmatch(part.strip())]
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    return [name for part in parts for name in names_in(part)]


def reference_of(code: Callable[..., Any], what: str = "it") -> str:
    """``module:name`` of a function or class that another process can import, or a ``ValueError`` in one line.

    >>> import collections
    >>> reference_of(collections.OrderedDict)
    'collections:OrderedDict'
    >>> reference_of(lambda rows: rows, "augment")
    Traceback (most recent call last):
        ...
    ValueError: augment must be a function or class of a module to be saved by name, got ...
    """
    text = f"{getattr(code, '__module__', None)}:{getattr(code, '__qualname__', None)}"
    try:
        found = import_reference(text)
    except ValueError:
        found = None
    if found is not code:
        raise ValueError(f"{what} must be a function or class of a module to be saved by name, got {code!r:.80}")
    return text


def saved_code(name: str, value: Any) -> Any:
    """A setting as a file can hold it: code by its reference, members one by one, whatever else as it is."""
    if isinstance(value, tuple | list):
        return tuple(saved_code(name, each) for each in value)
    if hasattr(value, "saved"):
        return value.saved()
    return reference_of(value, name) if callable(value) else value


def import_reference(text: str) -> Any:
    """The object of this name, imported, or a ``ValueError`` that says why it cannot be.

    >>> import_reference("math:tau")
    6.283185307179586
    """
    module, _, name = text.partition(":")
    if not (name and all(part.isidentifier() for part in [*module.split("."), *name.split(".")])):
        raise ValueError(f"code is named by its module and its name, such as 'package.module:name', got {text!r:.80}")
    check_trusted([text])
    try:
        path = list(accumulate(name.split("."), getattr, initial=import_module(module)))
    except (ImportError, AttributeError) as error:
        raise ValueError(f"{text} cannot be imported here: {error}") from None
    _check_homes(text, path[1:])
    return path[-1]


def _check_homes(text: str, path: Sequence[Any]) -> None:
    """Trust in a module covers what is defined in it, not what it imports, such as ``os.system``."""
    trusted = _TRUSTED.get()
    if trusted is None or text in trusted:
        return
    for found in path:
        if isinstance(found, ModuleType):
            check_trusted([f"{found.__name__}:{text.rpartition('.')[2]}"])
        elif isinstance(found, type | FunctionType | BuiltinFunctionType) and found.__module__ is not None:
            check_trusted([f"{found.__module__}:{found.__qualname__}"])


@dataclass(frozen=True)
class Code:
    """The kind of a setting that is a function, a class or a module of the user's own, or its name; or None.

    >>> Code()("math:sqrt")(4.0)
    2.0
    """

    form: str = "a function or class, or where it is to be imported from, such as package.module:name"

    def __call__(self, value: Any) -> Any:
        found = import_reference(value) if isinstance(value, str) else value
        if found is not None and not callable(found):
            raise ValueError
        return found
