"""The sensitivity figure, on the page and by itself: a panel per strength, a curve per method and stream."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from smartcl.paper.experiments.sensitivity import sensitivity_points
from smartcl.paper.report.charts import Axis, Point, Series, line_chart
from smartcl.paper.report.loaded_runs import Runs, numbers
from smartcl.paper.report.page_figure import PageFigure, slug
from smartcl.paper.report.pictures import save_drawings, save_numbers
from smartcl.paper.report.svg import Drawing, Key

#: The points of a curve, by method and stream.
Curves = dict[tuple[str, str], list[dict[str, Any]]]

STEM = "sensitivity"
STRENGTHS = {"alpha": "α (group lasso)", "beta": "β (neural correlation)"}
COLOURS = ("red", "blue", "green", "violet", "orange", "teal", "pink", "olive")
FIELDS = ("parameter", "value", "method", "dataset", "noise", "mean", "std", "n")


def sensitivity(runs: Runs) -> PageFigure:
    """Of all runs that vary nothing but a strength."""
    return draw_sensitivity(sensitivity_points((result["spec"], result) for result in runs.all))


def write_sensitivity(data: dict[str, Any], folder: Path) -> list[Path]:
    """Every point as a line of CSV, and every panel as a drawing; nothing where no run is."""
    points = data["points"]
    if not points:
        return []
    return [
        save_numbers(folder / STEM, [FIELDS, *([point[name] for name in FIELDS] for point in points)]),
        *save_drawings(draw_sensitivity(points).files, folder),
    ]


def draw_sensitivity(points: list[dict[str, Any]]) -> PageFigure:
    """One panel per strength that was varied; a single point is no curve."""
    title = "Sensitivity to the two strengths"
    varied = {label: _curves(points, name) for name, label in STRENGTHS.items()}
    streams = sorted({stream for curves in varied.values() for _, stream in curves})
    if not streams:
        return PageFigure(STEM, title, missing="smartcl reproduce figure-sensitivity")
    panels = [(label, _drawing(curves, label, streams)) for label, curves in varied.items() if curves]
    counts = [point["n"] for curves in varied.values() for curve in curves.values() for point in curve]
    caption = (
        f"Accuracy while one strength varies and the rest stays at the method's default, 300 whole samples' bytes: "
        f"{numbers(counts)} a point, the band is one standard deviation; values are evenly spaced, not to scale."
    )
    return PageFigure(STEM, title, caption, tuple(panels))


def _curves(points: list[dict[str, Any]], strength: str) -> Curves:
    curves: Curves = {}
    for point in points:
        if point["parameter"] == strength:
            stream = point["dataset"] if point["noise"] == "none" else f"{point['dataset']} {point['noise']}"
            curves.setdefault((point["method"], stream), []).append(point)
    return {name: curve for name, curve in sorted(curves.items()) if len(curve) > 1}


def _drawing(curves: Curves, label: str, streams: list[str]) -> Drawing:
    """A colour for each stream, the same in every panel; the paper's settings dashed."""
    values = sorted({point["value"] for curve in curves.values() for point in curve})
    series = []
    for (method, stream), curve in curves.items():
        colour = COLOURS[streams.index(stream) % len(COLOURS)]
        key = Key(slug(f"{method} {stream}"), f"{method}, {stream}", colour, dashed=method != "smart")
        line = [
            Point(
                values.index(point["value"]),
                point["mean"],
                point["std"] or 0.0,
                f"{key.label}, {point['value']:g}: {point['mean']:.2f} (n = {point['n']})",
            )
            for point in curve
        ]
        series.append(Series(key, line))
    heights = [p.y + sign * p.spread for each in series for p in each.points for sign in (1, -1)]
    ticks = [(i, f"{value:g}") for i, value in enumerate(values)]
    return line_chart(
        series,
        Axis(label, -0.3, len(values) - 0.7, ticks),
        Axis.around("accuracy, %", heights),
        f"Accuracy against {label}: {', '.join(each.key.label for each in series)}",
    )
