"""Accuracy over time on each stream of the suite, with the moments marked at which the concept changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from smartcl.paper.datasets.stream_suite import SUITE
from smartcl.paper.experiments.streams import STREAM_RUNS, streams_data
from smartcl.paper.report.charts import Axis, Point, Series, line_chart
from smartcl.paper.report.loaded_runs import Runs, numbers
from smartcl.paper.report.page_figure import PageFigure, key_of
from smartcl.paper.report.pictures import save_drawings, save_numbers
from smartcl.paper.report.svg import Drawing

STEM = "streams"
FIELDS = ("stream", "row", "until_row", "accuracy", "n")


def streams(runs: Runs) -> PageFigure:
    """Of all runs on the suite."""
    return draw_streams(streams_data([(STREAM_RUNS, STREAM_RUNS.seeds)], runs)["curves"])


def write_streams(data: dict[str, Any], folder: Path) -> list[Path]:
    """Every point as a line of CSV, and every stream as a drawing; nothing where no run is."""
    curves = data["curves"]
    if not curves:
        return []
    points = [
        (curve["column"], curve["row"], end, accuracy, curve["n"])
        for curve in curves
        for end, accuracy in zip(curve["rows"], curve["accuracy"], strict=True)
    ]
    return [save_numbers(folder / STEM, [FIELDS, *points]), *save_drawings(draw_streams(curves).files, folder)]


def draw_streams(curves: list[dict[str, Any]]) -> PageFigure:
    """A panel for each stream that accuracy says something of."""
    title = "Accuracy over time, each batch predicted before it is learned"
    shown = {
        column: [curve for curve in curves if curve["column"] == column]
        for column, stream in SUITE.items()
        if stream.ranked_by == "accuracy"
    }
    panels = tuple((SUITE[column].title, _drawing(found)) for column, found in shown.items() if found)
    if not panels:
        return PageFigure(STEM, title, missing=f"smartcl reproduce {STREAM_RUNS.name}")
    caption = (
        f"Accuracy by window of the stream, up to the row it stands at: mean of {numbers([c['n'] for c in curves])}. "
        "Upright lines are the rows at which the concept changes; a stream that changes all along has none. Where one "
        "row in 1,000 is an event, accuracy says nothing: no panel."
    )
    return PageFigure(STEM, title, caption, panels)


def _drawing(curves: list[dict[str, Any]]) -> Drawing:
    by_label = {curve["row"]: curve for curve in curves}
    series = [
        Series(
            key_of(row),
            _points(by_label[row.label]),
            width=3.0 if row.method == "adaptive" else 1.6,
        )
        for row in STREAM_RUNS.rows
        if row.label in by_label
    ]
    heights = [accuracy for curve in curves for accuracy in curve["accuracy"]]
    ends = [end for curve in curves for end in curve["rows"]]
    return line_chart(
        series,
        Axis.around("rows, changing all along" if curves[0]["gradual"] else "rows", ends, low=0, high=1.03 * max(ends)),
        Axis.around("accuracy, %", heights, high=100),
        f"Accuracy over time on {curves[0]['column']}: {', '.join(by_label)}",
        moments=curves[0]["drifts"],
    )


def _points(curve: dict[str, Any]) -> list[Point]:
    return [Point(end, accuracy) for end, accuracy in zip(curve["rows"], curve["accuracy"], strict=True)]
