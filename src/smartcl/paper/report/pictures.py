"""Pictures by matplotlib, for the web and for everything else, and the numbers behind them; an extra installs it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from smartcl.errors import extra
from smartcl.paper.report.grid import csv_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def new_picture(width: float, height: float) -> Figure:
    """An empty figure of so many inches."""
    figure: Figure = extra("matplotlib.figure", "paper").Figure(figsize=(width, height), layout="constrained")
    return figure


def save_picture(figure: Figure, stem: Path) -> tuple[Path, Path]:
    """As ``<stem>.svg``, the same bytes for the same figure, and as ``<stem>.png``; both on white."""
    svg, png = stem.with_name(f"{stem.name}.svg"), stem.with_name(f"{stem.name}.png")
    settings = {"svg.hashsalt": "smartcl", "svg.fonttype": "none", "font.family": "sans-serif"}
    with extra("matplotlib", "paper").rc_context(settings):
        figure.savefig(svg, metadata={"Date": None}, facecolor="white")
    figure.savefig(png, dpi=150, facecolor="white")
    return svg, png


def save_numbers(stem: Path, lines: Sequence[Sequence[object]]) -> Path:
    """As ``<stem>.csv``; the folder is made if it is not there."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    path = stem.with_name(f"{stem.name}.csv")
    path.write_text(csv_text(lines), encoding="utf-8", newline="")
    return path
