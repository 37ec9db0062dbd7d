"""Loading what a command needs, once it is called: its help alone takes no torch, which takes seconds to load."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from importlib import import_module
from typing import ParamSpec

from smartcl.cli.main import leave

P = ParamSpec("P")


@contextmanager
def loading() -> Iterator[None]:
    """Inside, ctrl-C ends the process at once: in a library that loads, an interrupt could turn into any error."""
    heeded = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )
    if heeded:
        signal.signal(signal.SIGINT, leave)
    try:
        yield
    finally:
        if heeded:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def done_by(place: str) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """A command whose work is done by a function elsewhere, ``module:function``, that takes the same arguments.

    It is found by its name: no module of the command line may import the paper, and most users never load it.
    """
    module, name = place.split(":")

    def wrapper(command: Callable[P, None]) -> Callable[P, None]:
        @wraps(command)
        def call(*args: P.args, **kwargs: P.kwargs) -> None:
            with loading():
                work = getattr(import_module(module), name)
            work(*args, **kwargs)

        return call

    return wrapper
