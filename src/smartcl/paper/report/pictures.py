"""Files of a figure: its drawings as SVG, and the numbers behind them as CSV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from smartcl.paper.report.grid import csv_text
from smartcl.paper.report.svg import Drawing


def save_drawings(drawings: Mapping[str, Drawing], folder: Path) -> list[Path]:
    """Each drawing as ``<name>.svg`` in the folder, which is made if it is not there."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, drawing in drawings.items():
        written.append(folder / f"{name}.svg")
        written[-1].write_text(drawing.file(), encoding="utf-8", newline="")
    return written


def save_numbers(stem: Path, lines: Sequence[Sequence[object]]) -> Path:
    """As ``<stem>.csv``; the folder is made if it is not there."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    path = stem.with_name(f"{stem.name}.csv")
    path.write_text(csv_text(lines), encoding="utf-8", newline="")
    return path
