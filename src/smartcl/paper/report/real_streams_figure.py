"""The real streams in one picture: accuracy against speed and against the bytes of the state, a point for each row."""

from __future__ import annotations

from math import log10
from pathlib import Path
from typing import Any

from smartcl.memory import format_bytes
from smartcl.paper.experiments.real_stream_tables import COMMON, IN_FIFTIES, ROW_BY_ROW, STREAMS
from smartcl.paper.report.charts import WIDTH, Axis, Point, Series, scatter_chart
from smartcl.paper.report.grid import Cell, Grid
from smartcl.paper.report.page_figure import PageFigure, key_of
from smartcl.paper.report.pictures import save_drawings, save_numbers
from smartcl.paper.report.svg import Drawing

STEM = "real-streams"
FIELDS = ("table", "row", "accuracy", "rows_a_second", "pickled_bytes")
TITLES = {ROW_BY_ROW.name: "row by row", IN_FIFTIES.name: "in fifties"}
#: Rows that are on no drawing: they are far below all others.
NOT_DRAWN = ("always the commonest",)


def write_real_streams(data: dict[str, Any], folder: Path) -> list[Path]:
    """Every point as a line of CSV, and the drawings; nothing where no row has run on all streams."""
    lines = [
        (name, *(point[field] for field in FIELDS[1:])) for name, found in data["points"].items() for point in found
    ]
    if not lines:
        return []
    panels = {TITLES[name]: against_speed(found) for name, found in data["points"].items() if found}
    figure = PageFigure(STEM, "", panels=tuple(panels.items()))
    return [save_numbers(folder / STEM, [FIELDS, *lines]), *save_drawings(figure.files, folder)]


def against_speed(points: list[dict[str, Any]], width: float = WIDTH) -> Drawing:
    """Mean accuracy against rows a second."""
    return _scatter(points, "rows_a_second", "rows a second", lambda power: f"{10**power:,}", width)


def against_state(points: list[dict[str, Any]], width: float = WIDTH) -> Drawing:
    """Mean accuracy against the bytes of the whole state."""
    return _scatter(points, "pickled_bytes", "bytes of the whole state", lambda power: format_bytes(10**power), width)


def _scatter(points: list[dict[str, Any]], field: str, name: str, said: Any, width: float) -> Drawing:
    rows = {row.label: row for row in ROW_BY_ROW.rows}
    drawn = [point for point in points if point["row"] not in NOT_DRAWN]
    series = [
        Series(
            key_of(rows[point["row"]]),
            [
                Point(
                    log10(point[field]),
                    point["accuracy"],
                    says=f"{point['row']}: {point['accuracy']:.1f} %, {point['rows_a_second']:,.0f} rows a second, "
                    f"{format_bytes(round(point['pickled_bytes']))} of state",
                )
            ],
        )
        for point in drawn
    ]
    places = [each.points[0].x for each in series]
    low, high = int(min(places) // 1), int(-(-max(places) // 1))
    x = Axis(name, low, high, [(power, said(power)) for power in range(low, high + 1)])
    y = Axis.around("accuracy, %", [point["accuracy"] for point in drawn])
    return scatter_chart(
        series, x, y, f"Accuracy against {name}: {', '.join(point['row'] for point in drawn)}", width=width
    )


def place_grids(data: dict[str, Any]) -> list[Grid]:
    """For each table a line for each row, the best mean place above; nothing where no run is."""
    return [place_grid(name, found) for name, found in data["ranks"].items() if found]


def place_grid(name: str, ranks: list[dict[str, Any]]) -> Grid:
    """The place on each stream, and how far behind the first."""
    best = min((line["mean"] for line in ranks if line["mean"] is not None), default=None)
    columns = [column for column in STREAMS if any(column in line["places"] for line in ranks)]
    lines = tuple(
        (
            Cell.of(line["row"]),
            Cell(
                "–" if line["mean"] is None else f"{line['mean']:.2f}",
                line["mean"],
                strong=line["mean"] is not None and line["mean"] == best,
            ),
            *(_place(line, column) for column in columns),
        )
        for line in sorted(ranks, key=lambda line: (line["mean"] is None, line["mean"]))
    )
    title = f"Place by accuracy {TITLES[name]}, in brackets how far behind the first; mean place on {', '.join(COMMON)}"
    return Grid(f"{name}-places", title, ("method", "mean place", *columns), lines)


def _place(line: dict[str, Any], column: str) -> Cell:
    place = line["places"].get(column)
    if place is None:
        return Cell("–", None)
    behind = line["behind"][column]
    return Cell(f"{place:g}" + (f" (−{behind:.1f})" if behind else ""), place)
