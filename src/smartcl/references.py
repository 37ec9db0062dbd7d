"""A user's own code by name: what a file can hold of a function or a class is where to import it from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from importlib import import_module
from typing import Any


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
    """What has this name, imported; a ``ValueError`` says why it cannot be had.

    >>> import_reference("math:tau")
    6.283185307179586
    """
    module, _, name = text.partition(":")
    if not (name and all(part.isidentifier() for part in [*module.split("."), *name.split(".")])):
        raise ValueError(f"code is named by its module and its name, such as 'package.module:name', got {text!r:.80}")
    try:
        return reduce(getattr, name.split("."), import_module(module))
    except (ImportError, AttributeError) as error:
        raise ValueError(f"{text} cannot be imported here: {error}") from None


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
