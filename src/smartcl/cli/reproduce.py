"""``smartcl reproduce``: the paper's tables, run by run, with what is already there."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table as Grid

from smartcl.cli.usage import arguments_checked
from smartcl.experiments.metrics import METRICS
from smartcl.experiments.results import ResultFolder
from smartcl.experiments.spec import RunSpec
from smartcl.experiments.sweep import missing, sweep
from smartcl.experiments.table import Table
from smartcl.experiments.tables import TABLES
from smartcl.report.cells import beside, measured
from smartcl.streams.datasets import DATASETS


def reproduce(
    name: Annotated[str, typer.Argument(help=f"One of {', '.join(TABLES)}.")],
    seeds: Annotated[int | None, typer.Option(min=1, help="Seeds 0 to N-1; what is there is not run again.")] = None,
    rows: Annotated[
        list[str] | None, typer.Option("--row", help="Only these rows (a method's name); repeatable.")
    ] = None,
    columns: Annotated[list[str] | None, typer.Option("--column", help="Only these columns; repeatable.")] = None,
    results: Annotated[Path, typer.Option(help="Where the result files are.")] = Path("results"),
    workers: Annotated[int | None, typer.Option(min=1, help="Processes; all cores unless said.")] = None,
    show: Annotated[bool, typer.Option("--show", help="Print what is there, run nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print cells as JSON.")] = False,
    data: Annotated[Path | None, typer.Option(help="Where the data files are; else SMARTCL_DATA or the cache.")] = None,
) -> None:
    """Make the runs of a table that are missing, then print it with the published values."""
    with arguments_checked():
        if name not in TABLES:
            raise ValueError(f"unknown table {name!r}: known are {', '.join(TABLES)}")
        table = TABLES[name].part(rows or [], columns or [])
    folder, count = ResultFolder(results), seeds or table.seeds
    if not show:
        failures = _run(missing(table.specs(count), folder), folder, workers, data)
        if failures:
            first = next(iter(failures.items()))
            raise typer.TyperException(f"{len(failures)} runs failed; the first, {first[0].method}: {first[1]}")
    cells = table.cells(count, folder)
    if as_json:
        print(json.dumps({"table": name, "title": table.title, "cells": cells}))
    else:
        notes = (DATASETS[spec.dataset].note for spec in table.specs(1))
        for each in (*_grids(table, cells), *filter(None, dict.fromkeys(notes))):
            Console().print(each)


def _run(specs: list[RunSpec], results: ResultFolder, workers: int | None, data: Path | None) -> dict[RunSpec, str]:
    console = Console(stderr=True)
    columns = (
        TextColumn("runs"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        bar = bars.add_task("", total=len(specs))

        def finished(spec: RunSpec, reason: str | None) -> None:
            state = "failed" if reason else "done"
            bars.update(
                bar, advance=1, description=f"{spec.method} {spec.memory} {spec.noise} seed {spec.seed} {state}"
            )

        return sweep(specs, results, finished, workers, data)


def _grids(table: Table, cells: list[dict[str, Any]]) -> Iterator[Grid]:
    """One grid of the table's columns; where there is more than one metric, a grid of those for each column."""
    if len(table.metrics) == 1:
        yield _grid(table.title, table.columns, cells)
        return
    headings = [METRICS[metric] for metric in table.metrics]
    for column in table.columns:
        yield _grid(f"{table.title}: {column}", headings, [cell for cell in cells if cell["column"] == column])


def _grid(title: str, headings: Sequence[str], cells: list[dict[str, Any]]) -> Grid:
    below = {"published": "published below", "versus": "against the row below: ratio, or difference [95%]"}
    said = [words for kind, words in below.items() if any(cell[kind] is not None for cell in cells)]
    grid = Grid(title=", ".join([f"{title}; mean ± deviation (n)", *said]), title_justify="left")
    grid.add_column("")
    for heading in headings:
        grid.add_column(heading, justify="right")
    by_row: dict[str, list[dict[str, Any]]] = {}
    for cell in cells:
        by_row.setdefault(cell["row"], []).append(cell)
    for label, row in by_row.items():
        grid.add_row(label, *("\n".join([measured(cell), *(f"[dim]{x}[/dim]" for x in beside(cell))]) for cell in row))
    return grid
