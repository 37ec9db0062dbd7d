"""Output for a terminal: text made safe, consoles for tables, status lines and progress bars."""

from __future__ import annotations

import os
import sys
import time
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Self, TextIO

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from smartcl.cli.one_line import one_line, screen_columns

if TYPE_CHECKING:
    from rich.progress import Progress as Bars

    from smartcl.learners.stream_learner import StreamLearner
    from smartcl.learners.watching import TellProgress

#: Control characters, halves of a character, and what breaks a line: Unicode's categories.
CONTROLS = ("Cc", "Cs", "Zl", "Zp")
#: What changes the direction of the text that follows: a name could look like another one.
DIRECTIONS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


def visible(text: str, keep: str = "") -> str:
    r"""The text with control characters written as Python writes them, but for those to ``keep``.

    >>> print(visible("a\x1b[2Jb\u202ec\n"))
    a\x1b[2Jb\u202ec\n
    >>> visible("naïve 日本　\n", keep="\n")
    'naïve 日本\u3000\n'
    """
    if text.isprintable():
        return text
    return "".join(char if char in keep or not _controls(char) else repr(char)[1:-1] for char in text)


def _controls(char: str) -> bool:
    return unicodedata.category(char) in CONTROLS or char in DIRECTIONS


def tell(text: object) -> None:
    """Print lines for people."""
    print(visible(str(text), keep="\n"))


def data_output() -> TextIO | VisibleText:
    """Standard output for data: as they are into a file or a pipe, with control characters shown on a terminal."""
    return VisibleText(sys.stdout) if sys.stdout.isatty() else sys.stdout


class VisibleText:
    """What is written to a terminal, control characters shown; for whoever needs no more than ``write``."""

    def __init__(self, terminal: TextIO) -> None:
        self._terminal = terminal

    def write(self, text: str) -> int:
        return self._terminal.write(visible(text, keep="\n"))


#: Wider than any table.
UNBOUNDED = 10_000


class Screen(Console):
    """A console that shows control characters in text and never passes them to the terminal."""

    def render_str(self, text: str, **how: Any) -> Text:
        return super().render_str(visible(text, keep="\n"), **how)


def shown(name: str) -> str:
    """A name from data as it stands in a cell of a table or in a line: on one line, and no markup."""
    return escape(visible(name))


def screen() -> Screen:
    """Standard output. Nothing is cut for a terminal that is not there; ``COLUMNS`` still says what is wanted."""
    told = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Screen(width=None if told else UNBOUNDED)


def side_screen() -> Screen:
    """Standard error."""
    return Screen(stderr=True)


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


@contextmanager
def live_bars() -> Iterator[Bars]:
    """Bars on stderr that go away when they are done; nothing where stderr is no terminal."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description:<12}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[memory]}", style="dim"),
        TimeRemainingColumn(),
    )
    console = side_screen()
    with Bars(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        yield bars


def bar_for(bars: Bars, name: str) -> TellProgress:
    """A progress callback that moves a bar of this name."""
    task = bars.add_task(name, total=None, memory="")

    def show(done: int, total: int, learner: StreamLearner) -> None:
        bars.update(task, completed=done, total=total, memory=repr(learner.memory))

    return show
