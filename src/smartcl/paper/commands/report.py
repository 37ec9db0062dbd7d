"""The work of ``smartcl report``: results as a page to read."""

from __future__ import annotations

from pathlib import Path

from smartcl.cli.usage import arguments_checked
from smartcl.cli.visible import tell
from smartcl.errors import extra
from smartcl.files.outputs import check_writable
from smartcl.paper.experiments.tensorboard import prepare_tensorboard, write_events
from smartcl.paper.report.html_page import write_report


def report(results: Path, out: Path, benchmarks: Path, tensorboard: Path | None) -> None:
    """Write the page, and event files where they are asked for."""
    with arguments_checked():
        check_writable(out)
        extra("matplotlib", "paper")
        if tensorboard is not None:
            prepare_tensorboard(tensorboard)
    made = write_report(results, out, benchmarks)
    tell(f"page: {out / 'index.html'} ({len(made.runs.all)} runs)")
    tell(f"plots: {len(made.drawings)} in {out / 'figures'}; tables: {len(made.grids)} in {out / 'tables'}")
    if tensorboard is not None:
        with_tasks = [result for result in made.runs.all if "accuracy_per_task" in result]
        for result in with_tasks:
            write_events(result, tensorboard)
        tell(f"event files: {len(with_tasks)} in {tensorboard}")
