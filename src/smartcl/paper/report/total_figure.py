"""Accuracy against the bytes of the whole state, on a logarithmic axis: a line for each method."""

from __future__ import annotations

from math import log10
from pathlib import Path
from typing import Any

from smartcl.memory import format_bytes
from smartcl.paper.experiments.total_runs import TOTAL_RUNS, total_data
from smartcl.paper.report.charts import Axis, Point, Series, line_chart
from smartcl.paper.report.loaded_runs import Runs, numbers
from smartcl.paper.report.page_figure import PageFigure, slug
from smartcl.paper.report.palette import of_method
from smartcl.paper.report.pictures import save_drawings, save_numbers
from smartcl.paper.report.svg import Key

STEM = "accuracy-total-bytes"
FIELDS = ("row", "bytes", "mean", "std", "n")
#: The totals that are labelled.
LABELLED = (50_000, 200_000, 500_000, 1_000_000, 3_000_000, 10_000_000)


def against_total(runs: Runs) -> PageFigure:
    """Of the runs that are there."""
    return draw_totals(total_data([(TOTAL_RUNS, runs.seeds)], runs))


def write_totals(data: dict[str, Any], folder: Path) -> list[Path]:
    """Every point as a line of CSV, and the drawing; nothing where no run is."""
    if not data["points"]:
        return []
    lines = [[point[name] for name in FIELDS] for point in data["points"]]
    return [save_numbers(folder / STEM, [FIELDS, *lines]), *save_drawings(draw_totals(data).files, folder)]


def draw_totals(data: dict[str, Any]) -> PageFigure:
    title = "Accuracy against the bytes of the whole state"
    if not data["points"]:
        return PageFigure(STEM, title, missing="smartcl reproduce total-bytes")
    by_row: dict[str, list[dict[str, Any]]] = {}
    for point in data["points"]:
        by_row.setdefault(point["row"], []).append(point)
    series = [
        Series(Key(slug(row), row, of_method(points[0]["method"]), dashed=False), [_point(p) for p in points], (), 2.5)
        for row, points in by_row.items()
    ]
    axis = Axis(
        "bytes of the whole state (logarithmic)",
        log10(LABELLED[0]) - 0.15,
        log10(LABELLED[-1]) + 0.1,
        [(log10(size), format_bytes(size)) for size in LABELLED],
    )
    heights = [p.y + sign * p.spread for each in series for p in each.points for sign in (1, -1)]
    drawing = line_chart(
        series, axis, Axis.around("accuracy, %", heights, high=100), f"{title}: {', '.join(by_row)}", ""
    )
    caption = (
        f"Disjoint MNIST, accuracy after the last batch: {numbers([point['n'] for point in data['points']])} a point, "
        "the band is one standard deviation. Counted is all that a saved folder holds of a learner: weights, averages, "
        "moments, sums and samples. Every method is as wide as SmartClassifier(total=...) would make it."
    )
    return PageFigure(STEM, title, caption, (("", drawing),))


def _point(point: dict[str, Any]) -> Point:
    says = f"{point['row']}, {format_bytes(int(point['bytes']))}: {point['mean']:.2f} (n = {point['n']})"
    return Point(log10(point["bytes"]), point["mean"], point["std"] or 0.0, says)
