"""``smartcl results``: the page of results, from the result files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from smartcl.cli.loading import done_by


@done_by("smartcl.paper.commands.results:results")
def results(
    page: Annotated[Path, typer.Argument(help="The Markdown file to write.")] = Path("docs/results.md"),
    folder: Annotated[Path, typer.Option("--results", help="Where the result files are.")] = Path("results"),
    rename: Annotated[
        bool, typer.Option("--migrate", help="First give files of older releases their new names.")
    ] = False,
) -> None:
    """Write the page of results."""
