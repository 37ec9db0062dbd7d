"""How far a download is: a callback, and a bar for terminals."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Progress(Protocol):
    """Told after each chunk of ``name`` how many bytes are done, of how many if that is known."""

    def __call__(self, name: str, done: int, total: int | None) -> None: ...


def silent(name: str, done: int, total: int | None) -> None:
    """Say nothing."""


@contextmanager
def terminal_bar() -> Iterator[Progress]:
    """A bar that goes away when it is done if stderr is a terminal, and silence otherwise.

    >>> with terminal_bar() as progress:
    ...     progress("train-images", 512, 1024)
    """
    if not sys.stderr.isatty():
        yield silent
        return

    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, TaskID, TextColumn
    from rich.progress import Progress as Bar

    rows: dict[str, TaskID] = {}
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:

        def show(name: str, done: int, total: int | None) -> None:
            if name not in rows:
                rows[name] = bar.add_task(name, total=total)
            bar.update(rows[name], completed=done)

        yield show
