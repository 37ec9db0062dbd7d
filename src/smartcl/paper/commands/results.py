"""``smartcl results``: the page of results, from the result files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from smartcl.cli.usage import arguments_checked
from smartcl.cli.visible import tell
from smartcl.files.outputs import check_file
from smartcl.paper.experiments.migration import migrate
from smartcl.paper.report.loaded_runs import Runs
from smartcl.paper.report.markdown_page import markdown_page


def results(
    page: Annotated[Path, typer.Argument(help="The Markdown file to write.")] = Path("docs/results.md"),
    folder: Annotated[Path, typer.Option("--results", help="Where the result files are.")] = Path("results"),
    rename: Annotated[
        bool, typer.Option("--migrate", help="First give files of older releases their new names.")
    ] = False,
) -> None:
    """Write the page of results."""
    with arguments_checked():
        check_file(page)
    if rename:
        print(migrate(folder))
    page.write_text(markdown_page(Runs(folder)), encoding="utf-8")
    tell(f"page: {page}")
