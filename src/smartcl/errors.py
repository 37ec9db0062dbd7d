"""Errors of the environment: an extra that is not installed, a download that fails."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class UnavailableError(RuntimeError):
    """The environment does not give what is needed: a download, an extra that is not installed."""


def extra(module: str, name: str) -> Any:
    """A module that only the extra of this name installs; without it, one sentence that says how to get it.

    >>> extra("json.decoder", "paper").JSONDecoder().decode("[1]")
    [1]
    >>> extra("nowhere.at_all", "paper")
    Traceback (most recent call last):
    smartcl.errors.UnavailableError: the package nowhere is not installed: pip install 'smartcl[paper]'
    """
    package = module.partition(".")[0]
    try:
        import_module(package)  # a part of it that is loaded already would be found without it
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        message = f"the package {package} is not installed: pip install 'smartcl[{name}]'"
        raise UnavailableError(message) from None
    return import_module(module)
