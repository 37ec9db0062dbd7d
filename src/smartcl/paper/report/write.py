"""Writing a report: the page, every drawing as SVG, every table as CSV; each file whole or not there, the page last."""

from __future__ import annotations

import os
from pathlib import Path

from smartcl.paper.report.page import Report
from smartcl.paper.report.runs import Runs


def write_report(results: Path, out: Path) -> Report:
    """Make the report of a result folder in ``out``."""
    report = Report(Runs(results))
    for name, drawing in report.drawings.items():
        _write(out / "figures" / f"{name}.svg", drawing.file())
    for sheet in report.sheets:
        _write(out / "tables" / f"{sheet.name}.csv", sheet.csv())
    _write(out / "index.html", report.html())
    return report


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
