"""``smartcl report``: results as a page to read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from smartcl.cli.usage import arguments_checked
from smartcl.cli.visible import tell
from smartcl.errors import extra
from smartcl.files.outputs import check_writable
from smartcl.paper.experiments.tensorboard import prepare_tensorboard, write_events
from smartcl.paper.report.html_page import BENCHMARKS, write_report


def report(
    results: Annotated[Path, typer.Option(exists=True, file_okay=False, help="Where the result files are.")] = Path(
        "results"
    ),
    out: Annotated[Path, typer.Option(file_okay=False, help="The folder to write.")] = Path("report"),
    benchmarks: Annotated[Path, typer.Option(help="What was timed; rows a second are drawn of it.")] = BENCHMARKS,
    tensorboard: Annotated[Path | None, typer.Option(help="A folder for TensorBoard event files of all runs.")] = None,
) -> None:
    """Write one HTML page of all results, every plot as SVG, every table as CSV."""
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
