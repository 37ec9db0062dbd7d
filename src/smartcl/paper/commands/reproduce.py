"""``smartcl reproduce``: the paper's evaluation, run by run, with what is already there."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table as Grid

from smartcl.cli.say import say
from smartcl.cli.usage import arguments_checked, json_text
from smartcl.files.outputs import check_writable
from smartcl.paper.commands.sweep_progress import describe, sweep_progress
from smartcl.paper.datasets.registry import DATASETS, sources_here
from smartcl.paper.experiments.engines.engine import Engine
from smartcl.paper.experiments.engines.local import LocalEngine
from smartcl.paper.experiments.engines.ray import RayEngine
from smartcl.paper.experiments.metrics import METRICS
from smartcl.paper.experiments.results import ResultFolder
from smartcl.paper.experiments.run import run
from smartcl.paper.experiments.spec import RunSpec
from smartcl.paper.experiments.sweep import missing, sweep
from smartcl.paper.experiments.table import Table
from smartcl.paper.experiments.tensorboard import prepare_tensorboard, write_events
from smartcl.paper.experiments.tuning import FIRST_SEED
from smartcl.paper.report.artefacts import Artefact, artefact_data, find_artefacts, known_names, nothing, quick
from smartcl.paper.report.cells import beside, measured, paired_rows
from smartcl.paper.report.runs import count


def reproduce(
    name: Annotated[str, typer.Argument(help=f"One of {', '.join(known_names())}.")],
    seeds: Annotated[
        int | None, typer.Option(min=1, max=FIRST_SEED, help="Seeds 0 to N-1; what is there is not run again.")
    ] = None,
    rows: Annotated[
        list[str] | None, typer.Option("--row", help="Only these rows (a method's name); repeatable.")
    ] = None,
    columns: Annotated[list[str] | None, typer.Option("--column", help="Only these columns; repeatable.")] = None,
    small: Annotated[
        bool, typer.Option("--quick", help="Two rows, two columns, one seed: everything else as it is.")
    ] = False,
    results: Annotated[Path, typer.Option(help="Where the result files are.")] = Path("results"),
    out: Annotated[Path, typer.Option(help="The folder for pictures and what else is written.")] = Path("figures"),
    engine: Annotated[Literal["local", "ray"], typer.Option(help="Processes here, or Ray.")] = "local",
    address: Annotated[
        str | None, typer.Option(help="A Ray cluster's host:port, or auto; else Ray starts one here.")
    ] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Runs at a time on this machine; else all cores.")] = None,
    show: Annotated[bool, typer.Option("--show", help="Print what is there; run and write nothing.")] = False,
    paired: Annotated[
        bool, typer.Option("--paired", help="Also print paired differences with their 95% intervals.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    data: Annotated[Path | None, typer.Option(help="Where the data files are; else SMARTCL_DATA or the cache.")] = None,
    tensorboard: Annotated[
        Path | None, typer.Option(help="A folder for TensorBoard event files, one for each run that is there.")
    ] = None,
) -> None:
    """Make the runs of a table or figure that are missing, then print it with the published values."""
    with arguments_checked():
        if address is not None and engine != "ray":
            raise ValueError("--address is a Ray cluster's: it goes with --engine ray")
        if address is not None and workers is not None:
            raise ValueError("--workers is for this machine; a cluster makes as many runs at a time as it has CPUs")
        if show and tensorboard is not None:
            raise ValueError(
                "--show writes nothing: 'smartcl report --tensorboard' writes the event files of what is there"
            )
        if name == "all" and (rows or columns):
            raise ValueError("--row and --column go with one table or figure, not with all")
        artefacts = {
            each: replace(artefact, tables=tuple(_part(table, small, rows, columns) for table in artefact.tables))
            for each, artefact in find_artefacts(name).items()
        }
        if tensorboard is not None:
            prepare_tensorboard(tensorboard)
    folder = ResultFolder(results)
    specs = _specs(artefacts, seeds)
    wanted = [] if show else missing(specs, folder)
    with arguments_checked():
        for target in (results, *(out for artefact in artefacts.values() if artefact.write is not nothing)):
            if wanted:
                check_writable(target)
    sources = sources_here({spec.dataset for spec in wanted}, data)
    if any(spec.source != sources.get(spec.dataset, spec.source) for spec in wanted):
        artefacts = {each: _learned_from(sources, artefact) for each, artefact in artefacts.items()}
        specs = _specs(artefacts, seeds)
        wanted = missing(specs, folder)
    failures = _run(wanted, folder, _engine(engine, address, workers), data) if wanted else {}
    said = {each: artefact_data(each, artefact, seeds, folder) for each, artefact in artefacts.items()}
    if as_json:
        print(json_text(list(said.values()) if name == "all" else said[name]))
    for each, artefact in artefacts.items():
        if not as_json:
            _print(artefact, said[each], paired)
        for path in [] if show else artefact.write(said[each], out):
            print(f"written: {path}", file=sys.stderr)
    if tensorboard is not None:
        found = {spec: folder.load(spec) for spec in dict.fromkeys(specs)}
        there = {spec: result for spec, result in found.items() if result is not None and "accuracy_matrix" in result}
        for spec, result in there.items():
            write_events({**result, "spec": spec.as_dict()}, tensorboard)
        print(f"written: event files of {count(len(there))} below {tensorboard}", file=sys.stderr)
    for spec, reason in failures.items():
        say(f"failed: {describe(spec)}: {reason}")
    if failures:
        raise typer.Exit(1)


def _specs(artefacts: dict[str, Artefact], seeds: int | None) -> list[RunSpec]:
    return [spec for artefact in artefacts.values() for table in artefact.tables for spec in table.specs(seeds)]


def _learned_from(sources: dict[str, str], artefact: Artefact) -> Artefact:
    """The same runs on the data there are here, so that a table never mixes MNIST and its stand-in."""
    return replace(artefact, tables=tuple(replace(table, sources=sources) for table in artefact.tables))


def _part(table: Table, small: bool, rows: list[str] | None, columns: list[str] | None) -> Table:
    return (quick(table) if small else table).part(rows or [], columns or [])


def _engine(kind: str, address: str | None, workers: int | None) -> Engine:
    if kind == "local":
        return LocalEngine(workers)
    try:
        return RayEngine(address, workers)
    except ModuleNotFoundError as error:
        raise typer.TyperException(str(error)) from None


def _run(specs: list[RunSpec], results: ResultFolder, engine: Engine, data: Path | None) -> dict[RunSpec, str]:
    with sweep_progress(len(specs), Console(stderr=True)) as finished:
        return sweep(specs, results, engine, finished, partial(run, data_dir=data))


def _print(artefact: Artefact, data: dict[str, Any], paired: bool) -> None:
    console = Console()
    for table, said in zip(artefact.tables, data.get("tables", [data]), strict=True):
        for grid in _grids(table, said["cells"]):
            console.print(grid)
        for note in dict.fromkeys(DATASETS[spec.dataset].note for spec in table.specs(1)):
            if note is not None:
                console.print(note)
        for stream in said["streams"]:
            if "could not be had" in stream:
                console.print(f"These runs are on {stream}.")
        if paired and said.get("paired"):
            console.print(_paired_grid(table, said["paired"]))
    for each in artefact.text(data):
        console.print(each)


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


def _paired_grid(table: Table, lines: list[dict[str, Any]]) -> Grid:
    grid = Grid(title=f"{table.title}; paired difference [95% interval] (n)", title_justify="left")
    grid.add_column("")
    for column in table.columns:
        grid.add_column(column, justify="right")
    for label, *cells in paired_rows(lines, table.columns):
        grid.add_row(label, *map(escape, cells))
    return grid
