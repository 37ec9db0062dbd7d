"""The work of ``smartcl results``: the page of results, from the result files."""

from __future__ import annotations

from pathlib import Path

from smartcl.cli.usage import arguments_checked
from smartcl.cli.visible import tell
from smartcl.files.outputs import check_file
from smartcl.paper.experiments.migration import migrate
from smartcl.paper.report.loaded_runs import Runs
from smartcl.paper.report.markdown_page import markdown_page


def results(page: Path, folder: Path, rename: bool) -> None:
    """Write the page."""
    with arguments_checked():
        check_file(page)
    if rename:
        print(migrate(folder))
    page.write_text(markdown_page(Runs(folder)), encoding="utf-8")
    tell(f"page: {page}")
