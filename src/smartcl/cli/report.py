"""``smartcl report``: all results as pages to read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from smartcl.cli.loading import done_by


@done_by("smartcl.paper.commands.report_command:report")
def report(
    results: Annotated[Path, typer.Option(file_okay=False, help="The folder of results.")] = Path("results"),
    out: Annotated[Path, typer.Option(file_okay=False, help="The folder to write.")] = Path("report"),
    benchmarks: Annotated[Path, typer.Option(help="The file of timings for the figure of rows per second.")] = Path(
        "benchmarks/results.json"
    ),
    markdown: Annotated[
        Path | None, typer.Option(help="Write the tables as this Markdown file, such as docs/tables.md, and no folder.")
    ] = None,
) -> None:
    """Write one HTML page of all results, every plot as SVG, every table as CSV; or the tables as Markdown."""
