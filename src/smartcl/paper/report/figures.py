"""Writing a figure for the web and for everything else."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure


def save_figure(figure: Figure, stem: Path) -> tuple[Path, Path]:
    """As ``<stem>.svg``, the same bytes for the same figure, and as ``<stem>.png``; both on white."""
    svg, png = stem.with_name(f"{stem.name}.svg"), stem.with_name(f"{stem.name}.png")
    with mpl.rc_context({"svg.hashsalt": "smartcl", "svg.fonttype": "none", "font.family": "sans-serif"}):
        figure.savefig(svg, metadata={"Date": None}, facecolor="white")
    figure.savefig(png, dpi=150, facecolor="white")
    return svg, png
