"""Live progress of runs, for a person at a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bars

from smartcl.cli.screen import side_screen
from smartcl.learners.stream_learner import StreamLearner
from smartcl.learners.watching import TellProgress


@contextmanager
def live_bars() -> Iterator[Bars]:
    """Bars on stderr that go away when they are done; nothing where stderr is no terminal."""
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
