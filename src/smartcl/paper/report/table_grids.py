"""Tables of runs as grids: measured above published, by metric or by column; paired differences; what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from smartcl.memory import format_bytes
from smartcl.paper.experiments.catalogue import known_artefacts
from smartcl.paper.experiments.measures import HOLDINGS, METRICS, SCORES, STREAM_SCORES, format_difference, format_value
from smartcl.paper.experiments.run_table import Row, Table
from smartcl.paper.report.grid import Cell, Grid
from smartcl.paper.report.loaded_runs import REFERENCES, Runs, count
from smartcl.paper.report.page_figure import slug

TIDY = ("row", "column", "metric", "mean", "std", "n", "published")
#: The head of the column that says what a method takes in all, weights and sums beside the memory.
WHOLE_STATE = "whole state"
#: What the lines below a measured value are, by the entry of a cell that they come from.
BELOW = {"published": "published below", "versus": "against the row below: ratio, or difference [95%]"}


def metric_grids(table: Table, runs: Runs) -> dict[str, Grid]:
    """For each metric that the table shows a grid of the rows that have a run; none where there is none."""
    found = {metric: _metric_grid(table, metric, runs) for metric in table.metrics}
    return {metric: grid for metric, grid in found.items() if grid is not None}


def _metric_grid(table: Table, metric: str, runs: Runs) -> Grid | None:
    """Rows and columns without any run are left out; the best measured score of a column stands out."""
    found = {column: [runs.cell(table, row, column, metric) for row in table.rows] for column in table.columns}
    found = {column: cells for column, cells in found.items() if any(cell["n"] for cell in cells)}
    rows = [(row, [cells[i] for cells in found.values()]) for i, row in enumerate(table.rows)]
    rows = [(row, cells) for row, cells in rows if any(cell["n"] for cell in cells)]
    if not rows:
        return None
    best = [_best(rows, i) if metric in (*SCORES, *STREAM_SCORES) else None for i in range(len(found))]
    sizes = {row.label: _sizes(runs.state_bytes(table, row)) for row, _ in rows if row.reference is None}
    heads = ("method", *found, *((WHOLE_STATE,) if any(size.shown != "–" for size in sizes.values()) else ()))
    lines = tuple(
        (
            Cell.of(row.label),
            *(measured(cell, top) for cell, top in zip(cells, best, strict=True)),
            *((sizes.get(row.label, Cell.of(None)),) if WHOLE_STATE in heads else ()),
        )
        for row, cells in rows
    )
    tidy = (TIDY, *(tuple(cell[name] for name in TIDY) for _, cells in rows for cell in cells))
    alone = len(table.metrics) == 1
    name = table.name if alone else f"{table.name}-{slug(metric)}"
    return Grid(name, table.title if alone else METRICS[metric], heads, lines, tidy=tidy)


def _sizes(sizes: Sequence[int]) -> Cell:
    """From the smallest to the largest, as text that sorts by the largest.

    >>> _sizes([7_600_000, 8_000_000]).shown, _sizes([500]).shown, _sizes([]).shown
    ('7.6 to 8 MB', '500 B', '–')
    """
    if not sizes:
        return Cell.of(None)
    low, high = (format_bytes(size) for size in (sizes[0], sizes[-1]))
    number, unit = low.split()
    return Cell(high if low == high else f"{number if high.endswith(unit) else low} to {high}", sizes[-1])


def column_grids(table: Table, cells: Sequence[dict[str, Any]]) -> list[Grid]:
    """One grid of the table's columns; where there is more than one metric, a grid of those for each column."""
    if len(table.metrics) == 1:
        return [_column_grid(table, table.title, table.columns, cells)]
    heads = [METRICS[metric] for metric in table.metrics]
    return [
        _column_grid(table, f"{table.title}: {column}", heads, [cell for cell in cells if cell["column"] == column])
        for column in table.columns
    ]


def _column_grid(table: Table, title: str, heads: Sequence[str], cells: Sequence[dict[str, Any]]) -> Grid:
    by_row: dict[str, list[Cell]] = {}
    for cell in cells:
        by_row.setdefault(cell["row"], []).append(measured(cell))
    said = [words for kind, words in BELOW.items() if any(cell[kind] is not None for cell in cells)]
    lines = tuple((Cell.of(label), *row) for label, row in by_row.items())
    return Grid(table.name, ", ".join([f"{title}; mean ± deviation (n)", *said]), ("", *heads), lines)


def measured(cell: dict[str, Any], best: float | None = None) -> Cell:
    """Mean and deviation of a table's cell, the published value, and how far it is from the row it is set against.

    The ``best`` mean stands out.

    >>> cell = {"metric": "accuracy", "mean": 90.0, "std": 1.414, "n": 2, "published": 88.93, "versus": None}
    >>> measured(cell).markdown()
    '90.00 ± 1.41 (2)<br>*88.93*'
    """
    metric = cell["metric"]
    spread = "" if cell["std"] is None else f" ± {format_value(metric, cell['std'])}"
    return Cell(
        f"{format_value(metric, cell['mean'])}{spread}",
        cell["mean"],
        cell["n"],
        "" if cell["published"] is None else format_value(metric, cell["published"]),
        "" if cell["versus"] is None else compared(metric, cell["versus"]),
        strong=best is not None and cell["mean"] == best,
    )


def compared(metric: str, versus: dict[str, Any]) -> str:
    """The ratio of what is held, the paired difference of a score with its 95% interval.

    >>> compared("auc", {"difference": 0.0123, "low": -0.01, "high": 0.0346, "ratio": 1.02})
    '+0.012 [-0.010, +0.035]'
    >>> compared("samples_held", {"difference": 2101, "low": 2101, "high": 2101, "ratio": 8.027})
    '8.0x'
    """
    if metric in HOLDINGS:
        return "" if versus["ratio"] is None else f"{versus['ratio']:.1f}x"
    return difference(metric, versus)


def difference(metric: str, pair: dict[str, Any]) -> str:
    """A paired difference, with its 95% interval where there is one."""
    ends = [pair[name] for name in ("difference", "low", "high") if pair[name] is not None]
    middle, *interval = [format_difference(metric, value) for value in ends]
    return f"{middle} [{', '.join(interval)}]" if interval else middle


def paired_grid(table: Table, lines: Sequence[dict[str, Any]]) -> Grid:
    """A line for each pair of rows: the difference, its 95% interval and the seeds in common, by column.

    >>> from smartcl.paper.experiments.catalogue import TABLES
    >>> line = {"row": "smart", "versus": "ER", "column": "300", "difference": 6.42, "low": 4.0, "high": 8.8, "n": 3}
    >>> print(paired_grid(TABLES["table5"], [line]).markdown("accuracy of"))
    | accuracy of | 300 |
    |---|---|
    | smart − ER | +6.42 [+4.00, +8.80] (3) |
    """
    by_pair: dict[str, dict[str, Cell]] = {}
    for line in lines:
        cell = Cell(difference(table.metrics[0], line), line["difference"], line["n"])
        by_pair.setdefault(f"{line['row']} − {line['versus']}", {})[line["column"]] = cell
    return Grid(
        f"{table.name}-paired",
        f"{table.title}; paired difference [95% interval] (n)",
        ("", *table.columns),
        tuple(
            (Cell.of(label), *(cells.get(column, Cell.of(None)) for column in table.columns))
            for label, cells in by_pair.items()
        ),
    )


def missing_grid(runs: Runs) -> Grid:
    """For each table and figure how many runs there are of those it asks for, and the command that makes the rest."""
    lines: list[tuple[Cell, ...]] = []
    tidy: list[tuple[object, ...]] = [("name", "row", "column", "runs", "of")]
    for name, artefact in known_artefacts().items():
        if not artefact.tables:
            continue  # its runs are in a file of its own
        held = [
            (row.label, column, len(runs.of_cell(table, row, column)), table.seeds_of(row))
            for table in artefact.tables
            for row in table.rows
            for column in table.columns
            if column not in row.without
        ]
        there, asked = sum(min(n, wanted) for *_, n, wanted in held), sum(wanted for *_, wanted in held)
        empty = sum(not n for *_, n, _ in held)
        command = "complete" if there == asked else f"smartcl reproduce {name}"
        lines.append((Cell.of(name), *(Cell.of(n, 0) for n in (there, asked, empty)), Cell.of(command)))
        tidy += [(name, *cell) for cell in held if cell[2] < cell[3]]
    heads = ("table or figure", "runs there", "runs asked for", "cells without a run", "command")
    stale = (
        "" if not runs.stale else f"{count(runs.stale)} in the folder had other defaults, or a damaged file: left out."
    )
    return Grid("missing", "What is missing", heads, tuple(lines), stale, tuple(tidy))


def _best(rows: list[tuple[Row, list[dict[str, Any]]]], column: int) -> float | None:
    """The largest mean of the rows that compete."""
    contenders = [cells[column] for row, cells in rows if row.method not in REFERENCES and row.reference is None]
    means = [cell["mean"] for cell in contenders if cell["n"]]
    return max(means) if len(means) > 1 else None
