"""Helpers that the commands share: arguments checked before any work, results printed although saving fails."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import typer


class UsageError(typer.TyperException):
    """A wrong argument: the message says what was wrong and what is allowed."""

    exit_code = 2


class Interrupted(typer.TyperException):
    """An interrupt of a command that says itself what it saved."""

    exit_code = 130


@contextmanager
def arguments_checked() -> Iterator[None]:
    """Inside, a ``ValueError`` is the user's argument, not a defect."""
    try:
        yield
    except ValueError as error:
        raise UsageError(str(error)) from None


def one_thread() -> None:
    """One thread for torch and for NumPy's and SciPy's BLAS, unless OMP_NUM_THREADS says how many.

    The matrices are small, and threads on a busy machine wait for each other: with BLAS on two threads of two busy
    processors, 50 rows of ten columns took 190 ms of processor time instead of 26 (``model.learn`` in the service).
    """
    import scipy.linalg  # noqa: F401 - its BLAS is limited only once it is loaded
    import torch
    from threadpoolctl import threadpool_limits

    if "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(1)
        threadpool_limits(1)


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


def failure_of(save: Callable[[], object]) -> OSError | None:
    """Save, and return the error of the disk if there is one: it is raised after the result is printed."""
    try:
        save()
    except OSError as error:
        return error
    return None


def json_text(result: Any) -> str:
    """JSON as all programs read it, without NaN and infinity."""
    try:
        return json.dumps(result, allow_nan=False)
    except ValueError:
        raise UsageError("the result holds NaN or infinity: training diverged; try a smaller lr") from None
