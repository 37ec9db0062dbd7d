"""Status line of a long command: renewed on a terminal, repeated now and then in a log."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from typing import Self

from smartcl.cli.one_line import one_line, screen_columns

LOG_SECONDS = 10.0


class StatusLine:
    """On stderr; gone when it is left."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._last = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def show(self, text: str) -> None:
        if not self._terminal and time.monotonic() - self._last < LOG_SECONDS:
            return
        self._last = time.monotonic()
        with suppress(OSError):
            line = one_line(text, screen_columns() - 1)
            print(f"\r\033[K{line}" if self._terminal else line, end="" if self._terminal else "\n", file=sys.stderr)
            sys.stderr.flush()

    def __exit__(self, *_: object) -> None:
        if self._terminal:
            with suppress(OSError):
                print("\r\033[K", end="", file=sys.stderr, flush=True)
