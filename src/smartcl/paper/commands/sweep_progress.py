"""Progress of a sweep: a bar for a person at a terminal, a line for each run in a log."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Column

from smartcl.paper.experiments.engines.engine import Outcome
from smartcl.paper.experiments.run_spec import RunSpec
from smartcl.paper.experiments.sweep import Finished


@contextmanager
def sweep_progress(total: int, console: Console) -> Iterator[Finished]:
    """A callback for each finished run."""
    columns = (
        BarColumn(20, table_column=Column(min_width=20)),
        TextColumn(
            "{task.completed:.0f} of {task.total:.0f} runs, {task.fields[left]}", table_column=Column(min_width=36)
        ),
        TextColumn("{task.description}", table_column=Column(no_wrap=True, overflow="ellipsis")),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        bar, start = bars.add_task("", total=total, left="starting"), time.monotonic()
        done = failed = 0

        def finished(outcome: Outcome) -> None:
            nonlocal done, failed
            done, failed = done + 1, failed + (outcome.result is None)
            left = time_left(time.monotonic() - start, done, total) + (f", {failed} failed" if failed else "")
            said = f"{describe(outcome.spec)}: {describe_end(outcome)}"
            bars.update(bar, completed=done, left=left, description=escape(said))
            if not console.is_terminal:
                console.print(f"{done}/{total} {said}; {left}", soft_wrap=True, markup=False, highlight=False)

        yield finished


def describe(spec: RunSpec) -> str:
    """A run in a few words.

    >>> describe(RunSpec.of({"beta": 0.1}, dataset="disjoint-mnist", method="smart", noise="flip:0.1", seed=3))
    'disjoint-mnist smart beta=0.1, 300 samples, flip:0.1, seed 3'
    """
    settings = "".join(f" {name}={value}" for name, value in spec.parameters)
    noise = "" if spec.noise == "none" else f" {spec.noise},"
    return f"{spec.dataset} {spec.method}{settings}, {spec.memory},{noise} seed {spec.seed}"


def describe_end(outcome: Outcome) -> str:
    if outcome.result is None:
        return f"failed: {outcome.reason}"
    accuracy, seconds = outcome.result.get("accuracy"), outcome.result.get("seconds")
    known = [] if accuracy is None else [f"{accuracy:.2f} %"]
    return " in ".join([*known, *([] if seconds is None else [f"{seconds:.0f} s"])]) or "done"


def time_left(elapsed: float, done: int, total: int) -> str:
    """The runs to come at the mean pace so far.

    >>> time_left(90.0, 3, 10), time_left(7000.0, 1, 3)
    ('4 min left', '3 h 53 min left')
    """
    minutes = round(elapsed / done * (total - done) / 60)
    if total == done:
        return "all done"
    if minutes < 1:
        return "under 1 min left"
    return f"{minutes} min left" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min left"
