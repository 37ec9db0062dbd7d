"""``smartcl reproduce``: the paper's tables, run by run, with what is already there."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table as Grid

from smartcl.cli.usage import arguments_checked
from smartcl.experiments.results import ResultFolder
from smartcl.experiments.spec import RunSpec
from smartcl.experiments.sweep import missing, sweep
from smartcl.experiments.tables import TABLES, Table


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
        table = part_of(TABLES[name], rows or [], columns or [])
    folder, count = ResultFolder(results), seeds or table.seeds
    if not show:
        failures = _run(missing(table.specs(count), folder), folder, workers, data)
        if failures:
            first = next(iter(failures.items()))
            raise typer.TyperException(f"{len(failures)} runs failed; the first, {first[0].method}: {first[1]}")
    cells = [table.cell(row, column, count, folder) for row in table.rows for column in table.columns]
    if as_json:
        print(json.dumps({"table": name, "title": table.title, "cells": cells}))
    else:
        Console().print(_grid(table, cells))


def part_of(table: Table, methods: list[str], columns: list[str]) -> Table:
    """The rows of these methods and these columns only; all where none is named."""
    for kind, names, known in (
        ("row of the method", methods, [row.method for row in table.rows]),
        ("column", columns, list(table.columns)),
    ):
        unknown = next((name for name in names if name not in known), None)
        if unknown is not None:
            raise ValueError(f"{table.name} has no {kind} {unknown!r}: it has {', '.join(known)}")
    rows = tuple(row for row in table.rows if not methods or row.method in methods)
    return replace(table, rows=rows, columns=tuple(c for c in table.columns if not columns or c in columns))


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


def _grid(table: Table, cells: list[dict[str, Any]]) -> Grid:
    grid = Grid(title=f"{table.title}; mean ± deviation (n), published below", title_justify="left")
    grid.add_column("")
    for column in table.columns:
        grid.add_column(column, justify="right")
    by_row: dict[str, list[dict[str, Any]]] = {}
    for cell in cells:
        by_row.setdefault(cell["row"], []).append(cell)
    for label, row in by_row.items():
        printed = [f"[dim]{cell['published']:.2f}[/dim]" if cell["published"] is not None else "" for cell in row]
        grid.add_row(label, *(f"{ours}\n{paper}" for ours, paper in zip(map(_ours, row), printed, strict=True)))
    return grid


def _ours(cell: dict[str, Any]) -> str:
    if cell["mean"] is None:
        return "-"
    spread = "" if cell["std"] is None else f" ± {cell['std']:.2f}"
    return f"{cell['mean']:.2f}{spread} ({cell['n']})"
