"""Accuracy along the columns of a table: against bytes, against wrong labels; the paper's cells as hollow marks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from smartcl.memory import format_bytes
from smartcl.paper.experiments.catalogue import TABLES
from smartcl.paper.experiments.run_table import Row, Table
from smartcl.paper.report.charts import Axis, Point, Series, line_chart
from smartcl.paper.report.loaded_runs import REFERENCES, Runs, numbers
from smartcl.paper.report.page_figure import PageFigure, key_of

PAPER = "published (10 runs)"


def headline(runs: Runs) -> PageFigure:
    """Table 1: each column stands where its budget in bytes is."""
    table = TABLES["table1"]
    places = {column: size for column in table.columns if (size := column_bytes(table, column, runs)) is not None}
    title = "Accuracy against bytes"
    if not places:
        return PageFigure("accuracy-bytes", title, missing="smartcl reproduce table1")
    step = (max(places.values()) - min(places.values())) / max(len(places) - 1, 1) or 1
    ticks = [(size, f"{format_bytes(round(size))}\n{column}") for column, size in places.items()]
    axis = Axis("bytes, and as many whole images", *_ends(places, step), ticks)
    return _figure("accuracy-bytes", title, table, places, axis, runs, "the bytes a memory may take")


def noise(runs: Runs, name: str = "table2") -> PageFigure:
    """Tables 2 and 3: a column per share of wrong labels, evenly spaced."""
    table = TABLES[name]
    places = {column: float(i) for i, column in enumerate(table.columns)}
    axis = Axis("training images with a foreign label", *_ends(places, 1), [(i, c) for c, i in places.items()])
    title = "Accuracy against wrong labels" + ("" if name == "table2" else ", without a memory")
    return _figure(f"accuracy-noise-{name}", title, table, places, axis, runs, "the share of wrong training labels")


def column_bytes(table: Table, column: str, runs: Runs) -> float | None:
    """The budget of a column, as its runs had it; ``joint`` has none."""
    sizes = [
        result["budget_bytes"]
        for row in table.rows
        if row.method not in REFERENCES
        for result in runs.of_cell(table, row, column)
        if "budget_bytes" in result
    ]
    return min(sizes, default=None)


def _figure(
    name: str, title: str, table: Table, places: dict[str, float], axis: Axis, runs: Runs, against: str
) -> PageFigure:
    rows = distinct(table.rows)
    series = [each for row in rows if (each := series_of(table, row, places, runs)).points]
    if not series:
        return PageFigure(name, title, missing=f"smartcl reproduce {table.name}")
    values = [p.y + sign * p.spread for each in series for p in (*each.points, *each.hollow) for sign in (1, -1)]
    drawing = line_chart(
        series,
        axis,
        Axis.around("accuracy, %", values, high=100),
        f"{title}: {', '.join(each.key.label for each in series)}",
        PAPER,
    )
    counts = [cell["n"] for row in rows for cell in _cells(table, row, places, runs)]
    reference = " Joint training sees all data at once: no contender." if _has(series, "joint-training") else ""
    caption = (
        f"Accuracy after the last batch, mean of the task test sets, against {against}: {numbers(counts)} a point, "
        f"the band is one standard deviation; hollow marks are the paper's (10 runs).{reference}"
    )
    return PageFigure(name, title, caption, (("", drawing),))


def distinct(rows: Sequence[Row]) -> list[Row]:
    """The rows without those that show the same runs as an earlier one.

    >>> [row.label for row in distinct([Row("L2", "l2"), Row("L2, tuned", "l2"), Row("SI", "si", {"strength": 1.0})])]
    ['L2', 'SI']
    """
    kept: list[Row] = []
    for row in rows:
        if not any((row.method, row.parameters, row.at) == (own.method, own.parameters, own.at) for own in kept):
            kept.append(row)
    return kept


def series_of(table: Table, row: Row, places: dict[str, float], runs: Runs) -> Series:
    """The row's cells that have runs, each where its column has its place, and the published ones."""
    cells = _cells(table, row, places, runs)
    points = [
        Point(
            places[cell["column"]],
            cell["mean"],
            cell["std"] or 0.0,
            f"{row.label}, {cell['column']}: {cell['mean']:.2f}"
            + (f" ± {cell['std']:.2f}" if cell["std"] else "")
            + f" (n = {cell['n']})",
        )
        for cell in cells
    ]
    hollow = [
        Point(
            places[cell["column"]],
            cell["published"],
            says=f"{row.label}, {cell['column']}: published {cell['published']}",
        )
        for cell in cells
        if cell["published"] is not None and not key_of(row).dashed
    ]
    return Series(key_of(row), points, hollow, 3.0 if row.method == "smart" else 1.8)


def _cells(table: Table, row: Row, places: dict[str, float], runs: Runs) -> list[dict[str, Any]]:
    cells = [runs.cell(table, row, column) for column in places]
    return [cell for cell in cells if cell["n"]]


def _has(series: list[Series], name: str) -> bool:
    return any(each.key.name == name for each in series)


def _ends(places: dict[str, float], step: float) -> tuple[float, float]:
    return min(places.values()) - step / 4, max(places.values()) + step / 4
