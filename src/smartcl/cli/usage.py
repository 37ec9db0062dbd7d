"""From a ``ValueError`` about an argument to a usage error of the command line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer


class UsageError(typer.TyperException):
    """What the user asked for cannot be: the message says what was wrong and what is allowed."""

    exit_code = 2


@contextmanager
def arguments_checked() -> Iterator[None]:
    """Inside, a ``ValueError`` is the user's argument, not a defect."""
    try:
        yield
    except ValueError as error:
        raise UsageError(str(error)) from None


def assignments(items: list[str]) -> dict[str, str]:
    """``["alpha=0.1"]`` as a mapping.

    >>> assignments(["hidden=64,64", "lr=1e-3"])
    {'hidden': '64,64', 'lr': '1e-3'}
    """
    pairs = {}
    for item in items:
        name, sign, value = item.partition("=")
        if not sign or not name.strip():
            raise ValueError(f"--set takes name=value, got {item!r}")
        pairs[name.strip()] = value.strip()
    return pairs
