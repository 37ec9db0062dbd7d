"""``smartcl report``: results as a page to read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from smartcl.cli.loading import done_by


@done_by("smartcl.paper.commands.report:report")
def report(
    results: Annotated[Path, typer.Option(exists=True, file_okay=False, help="Where the result files are.")] = Path(
        "results"
    ),
    out: Annotated[Path, typer.Option(file_okay=False, help="The folder to write.")] = Path("report"),
    benchmarks: Annotated[Path, typer.Option(help="What was timed; rows a second are drawn of it.")] = Path(
        "benchmarks/results.json"
    ),
    tensorboard: Annotated[Path | None, typer.Option(help="A folder for TensorBoard event files of all runs.")] = None,
) -> None:
    """Write one HTML page of all results, every plot as SVG, every table as CSV."""
