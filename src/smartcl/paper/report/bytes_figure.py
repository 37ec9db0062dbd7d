"""Accuracy against bytes on a logarithmic axis: a line per precision, and the paper's points."""

from __future__ import annotations

from collections.abc import Sequence
from math import log10
from pathlib import Path
from typing import Any

from smartcl.memory import format_bytes
from smartcl.paper.experiments.precision_runs import BYTES_RUNS, bytes_data
from smartcl.paper.report.charts import Axis, Point, Series, line_chart
from smartcl.paper.report.loaded_runs import Runs, numbers
from smartcl.paper.report.page_figure import PageFigure, slug
from smartcl.paper.report.pictures import save_drawings, save_numbers
from smartcl.paper.report.svg import Key

STEM = "accuracy-log-bytes"
#: A row has the same colour, whichever rows have runs.
COLOURS = dict(zip((row.label for row in BYTES_RUNS.rows), ("red", "orange", "blue"), strict=True))
FIELDS = ("row", "bytes", "mean", "std", "n")


def against_bytes(runs: Runs) -> PageFigure:
    """Of the runs that are there."""
    return draw_bytes(bytes_data([(BYTES_RUNS, runs.seeds)], runs))


def write_bytes(data: dict[str, Any], folder: Path) -> list[Path]:
    """Every point as a line of CSV, and the drawing; nothing where no run is."""
    if not data["points"]:
        return []
    lines = [[point[name] for name in FIELDS] for point in (*data["points"], *data["published"])]
    return [save_numbers(folder / STEM, [FIELDS, *lines]), *save_drawings(draw_bytes(data).files, folder)]


def draw_bytes(data: dict[str, Any]) -> PageFigure:
    title = "Accuracy against bytes, from a few images to hundreds"
    if not data["points"]:
        return PageFigure(STEM, title, missing="smartcl reproduce figure-bytes")
    rows = list(dict.fromkeys(point["row"] for point in data["points"]))
    curves = {row: [_point(point) for point in data["points"] if point["row"] == row] for row in rows}
    published = [_point(point) for point in data["published"]]
    series = [
        Series(Key(slug(row), row, COLOURS[row], dashed=False), curve, published if row == rows[0] else (), 2.5)
        for row, curve in curves.items()
    ]
    sizes = sorted({point["bytes"] for point in (*data["points"], *data["published"])})
    labelled = apart(sorted({point["bytes"] for point in data["points"]}))
    axis = Axis(
        "bytes, and as many whole images (logarithmic)",
        log10(sizes[0]) - 0.1,
        log10(sizes[-1]) + 0.1,
        [(log10(size), f"{format_bytes(size)}\n{size // 784}") for size in labelled],
    )
    heights = [p.y + sign * p.spread for each in series for p in (*each.points, *each.hollow) for sign in (1, -1)]
    drawing = line_chart(
        series,
        axis,
        Axis.around("accuracy, %", heights, high=100),
        f"Accuracy against bytes: {', '.join(rows)}",
        "SMART, published (10 runs)",
    )
    caption = (
        f"Disjoint MNIST, accuracy after the last batch: {numbers([point['n'] for point in data['points']])} a point, "
        f"the band is one standard deviation; hollow marks are what the paper prints for SMART."
    )
    return PageFigure(STEM, title, caption, (("", drawing),))


def apart(sizes: Sequence[int], decades: float = 0.25) -> list[int]:
    """Those of these rising sizes that can be labelled side by side on a logarithmic axis, the largest among them.

    >>> apart([5, 10, 30, 100, 300, 500])
    [5, 10, 30, 100, 500]
    """
    kept: list[int] = []
    for size in reversed(sizes):
        if not kept or log10(kept[-1] / size) >= decades:
            kept.append(size)
    return kept[::-1]


def _point(point: dict[str, Any]) -> Point:
    says = f"{point['row']}, {format_bytes(point['bytes'])}: {point['mean']:.2f} (n = {point['n']})"
    return Point(log10(point["bytes"]), point["mean"], point["std"] or 0.0, says)
