"""The paper's tables with the measured cells above the published ones, and the list of what is missing."""

from __future__ import annotations

from typing import Any

from smartcl.experiments.tables import TABLES, Row, Table
from smartcl.report.curves import REFERENCE
from smartcl.report.results_page import NOTES
from smartcl.report.runs import Runs, count
from smartcl.report.sheet import Cell, Sheet

TIDY = ("row", "column", "mean", "std", "n", "published")


def table_sheet(table: Table, runs: Runs) -> Sheet | None:
    """The rows that have any run; the best measured cell of a column stands out. None without a run."""
    rows = [(row, [runs.cell(table, row, column) for column in table.columns]) for row in table.rows]
    rows = [(row, cells) for row, cells in rows if any(cell["n"] for cell in cells)]
    if not rows:
        return None
    best = [_best(rows, i) for i in range(len(table.columns))]
    lines = tuple(
        (Cell.of(row.label), *(_cell(cell, cell["mean"] == top) for cell, top in zip(cells, best, strict=True)))
        for row, cells in rows
    )
    tidy = (TIDY, *(tuple(cell[name] for name in TIDY) for _, cells in rows for cell in cells))
    return Sheet(table.name, table.title, ("method", *table.columns), lines, NOTES.get(table.name, ""), tidy)


def missing_sheet(runs: Runs) -> Sheet:
    """For each table how many runs there are of those it asks for, and the command that makes the rest."""
    lines: list[tuple[Cell, ...]] = []
    tidy: list[tuple[object, ...]] = [("table", "row", "column", "runs", "of")]
    for table in TABLES.values():
        held = [
            (row.label, column, len(runs.of_cell(table, row, column))) for row in table.rows for column in table.columns
        ]
        there, empty = sum(min(n, table.seeds) for _, _, n in held), sum(not n for _, _, n in held)
        full = there == len(held) * table.seeds
        lines.append(
            (
                Cell.of(table.name),
                Cell.of(there, 0),
                Cell.of(len(held) * table.seeds, 0),
                Cell.of(empty, 0),
                Cell.of("complete" if full else f"smartcl reproduce {table.name} --seeds {table.seeds}"),
            )
        )
        tidy += [(table.name, *cell, table.seeds) for cell in held if cell[2] < table.seeds]
    heads = ("table", "runs there", "runs asked for", "cells without a run", "command")
    stale = (
        "" if not runs.stale else f"{count(runs.stale)} in the folder had other defaults, or a damaged file: left out."
    )
    return Sheet("missing", "What is missing", heads, tuple(lines), stale, tuple(tidy))


def _best(rows: list[tuple[Row, list[dict[str, Any]]]], column: int) -> float | None:
    means = [cells[column]["mean"] for row, cells in rows if row.method != REFERENCE and cells[column]["n"]]
    return max(means) if len(means) > 1 else None


def _cell(cell: dict[str, Any], strong: bool) -> Cell:
    notes = [f"paper {cell['published']:.2f}"] if cell["published"] is not None else []
    if not cell["n"]:
        return Cell("–", None, " · ".join(notes))
    spread = "" if cell["std"] is None else f" ± {cell['std']:.2f}"
    return Cell(f"{cell['mean']:.2f}{spread}", cell["mean"], " · ".join([*notes, f"n {cell['n']}"]), strong)
