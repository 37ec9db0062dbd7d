"""The work of ``smartcl report``: results as pages to read."""

from __future__ import annotations

from pathlib import Path

from smartcl.cli.screen import tell
from smartcl.cli.usage import arguments_checked
from smartcl.paper.report.html_page import write_report
from smartcl.paper.report.loaded_runs import Runs
from smartcl.paper.report.markdown_page import markdown_page
from smartcl.saving.atomic import check_file, check_writable, write_file


def report(results: Path, out: Path, benchmarks: Path, markdown: Path | None) -> None:
    """Write the folder with the HTML page, or the Markdown page alone."""
    with arguments_checked():
        if not results.is_dir():
            raise ValueError(
                f"there is no folder of results {str(results)!r}: 'smartcl run' and 'smartcl reproduce' write one, "
                "the repository has one of all tables, and --results names another"
            )
    if markdown is not None:
        with arguments_checked():
            check_file(markdown)
        write_file(markdown, markdown_page(Runs(results)).encode())
        tell(f"page: {markdown}")
        return
    with arguments_checked():
        check_writable(out)
    made = write_report(results, out, benchmarks)
    tell(f"page: {out / 'index.html'} ({len(made.runs.all)} runs)")
    tell(f"plots: {len(made.drawings)} in {out / 'figures'}; tables: {len(made.grids)} in {out / 'tables'}")
