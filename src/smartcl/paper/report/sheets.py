"""The paper's tables with the measured cells above the published ones, and the list of what is missing."""

from __future__ import annotations

from typing import Any

from smartcl.paper.experiments.metrics import METRICS, SCORES, format_value
from smartcl.paper.experiments.table import Row, Table
from smartcl.paper.experiments.tables import TABLES
from smartcl.paper.report.cells import compared
from smartcl.paper.report.curves import REFERENCE
from smartcl.paper.report.figure import slug
from smartcl.paper.report.runs import Runs, count
from smartcl.paper.report.sheet import Cell, Sheet

TIDY = ("row", "column", "metric", "mean", "std", "n", "published")


def table_sheets(table: Table, runs: Runs) -> list[Sheet]:
    """A sheet for each metric the table shows; none where there is no run."""
    found = [_sheet(table, metric, runs) for metric in table.metrics]
    return [sheet for sheet in found if sheet is not None]


def _sheet(table: Table, metric: str, runs: Runs) -> Sheet | None:
    """The rows that have any run; the best measured score of a column stands out."""
    rows = [(row, [runs.cell(table, row, column, metric) for column in table.columns]) for row in table.rows]
    rows = [(row, cells) for row, cells in rows if any(cell["n"] for cell in cells)]
    if not rows:
        return None
    best = [_best(rows, i) if metric in SCORES else None for i in range(len(table.columns))]
    lines = tuple(
        (Cell.of(row.label), *(_cell(cell, cell["mean"] == top) for cell, top in zip(cells, best, strict=True)))
        for row, cells in rows
    )
    tidy = (TIDY, *(tuple(cell[name] for name in TIDY) for _, cells in rows for cell in cells))
    alone = len(table.metrics) == 1
    name = table.name if alone else f"{table.name}-{slug(metric)}"
    return Sheet(name, table.title if alone else METRICS[metric], ("method", *table.columns), lines, "", tidy)


def missing_sheet(runs: Runs) -> Sheet:
    """For each table how many runs there are of those it asks for, and the command that makes the rest."""
    lines: list[tuple[Cell, ...]] = []
    tidy: list[tuple[object, ...]] = [("table", "row", "column", "runs", "of")]
    for table in TABLES.values():
        held = [
            (row.label, column, len(runs.of_cell(table, row, column)), table.seeds_of(row))
            for row in table.rows
            for column in table.columns
        ]
        there, asked = sum(min(n, wanted) for *_, n, wanted in held), sum(wanted for *_, wanted in held)
        empty = sum(not n for *_, n, _ in held)
        lines.append(
            (
                Cell.of(table.name),
                Cell.of(there, 0),
                Cell.of(asked, 0),
                Cell.of(empty, 0),
                Cell.of("complete" if there == asked else f"smartcl reproduce {table.name}"),
            )
        )
        tidy += [(table.name, *cell) for cell in held if cell[2] < cell[3]]
    heads = ("table", "runs there", "runs asked for", "cells without a run", "command")
    stale = (
        "" if not runs.stale else f"{count(runs.stale)} in the folder had other defaults, or a damaged file: left out."
    )
    return Sheet("missing", "What is missing", heads, tuple(lines), stale, tuple(tidy))


def _best(rows: list[tuple[Row, list[dict[str, Any]]]], column: int) -> float | None:
    """The largest mean of the rows that compete."""
    contenders = [cells[column] for row, cells in rows if row.method != REFERENCE and row.reference is None]
    means = [cell["mean"] for cell in contenders if cell["n"]]
    return max(means) if len(means) > 1 else None


def _cell(cell: dict[str, Any], strong: bool) -> Cell:
    """The measured value; below it the published one, the row it is set against, and the number of runs."""
    metric, notes = cell["metric"], []
    if cell["published"] is not None:
        notes.append(f"paper {format_value(metric, cell['published'])}")
    if cell["versus"] is not None:
        notes.append(compared(metric, cell["versus"]))
    if not cell["n"]:
        return Cell("–", None, " · ".join(notes))
    spread = "" if cell["std"] is None else f" ± {format_value(metric, cell['std'])}"
    shown = f"{format_value(metric, cell['mean'])}{spread}"
    return Cell(shown, cell["mean"], " · ".join([*filter(None, notes), f"n {cell['n']}"]), strong)
