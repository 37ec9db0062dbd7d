"""The work of ``smartcl reproduce``: the paper's evaluation, run by run, with what is already there.

What makes runs is loaded when there are runs to make, and the report when there is something to show: results that are
there are shown without torch.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from smartcl.cli.one_line import say
from smartcl.cli.screen import screen, side_screen
from smartcl.cli.usage import arguments_checked, json_text
from smartcl.errors import extra
from smartcl.paper.datasets.dataset_registry import sources_here
from smartcl.paper.experiments.catalogue import Artefact, artefact_data, find_artefacts, quick
from smartcl.paper.experiments.real_stream_tables import REAL_STREAM_TABLES, with_rows
from smartcl.paper.experiments.results import ResultFolder
from smartcl.paper.experiments.run_spec import RunSpec
from smartcl.paper.experiments.sweep import missing
from smartcl.paper.experiments.unseen_tables import FRESH_SEED
from smartcl.saving.atomic import check_writable

if TYPE_CHECKING:
    from smartcl.paper.experiments.engines.engine import Engine


def reproduce(
    name: str,
    seeds: int | None,
    rows: list[str] | None,
    columns: list[str] | None,
    stream_rows: int | None,
    small: bool,
    results: Path,
    out: Path,
    engine: str,
    address: str | None,
    workers: int | None,
    show: bool,
    paired: bool,
    as_json: bool,
    data: Path | None,
) -> None:
    """Make the runs that are missing, then print the table or figure, and write its files."""
    with arguments_checked():
        if seeds is not None and seeds > FRESH_SEED:
            raise ValueError(f"--seeds must be at most {FRESH_SEED}: later seeds are kept for the table of fresh ones")
        if address is not None and engine != "ray":
            raise ValueError("--address is a Ray cluster's: it goes with --engine ray")
        if address is not None and workers is not None:
            raise ValueError("--workers is for this machine; a cluster makes as many runs at a time as it has CPUs")
        if name == "all" and (rows or columns):
            raise ValueError("--row and --column go with one table or figure, not with all")
        artefacts = {
            each: _part(artefact, small, rows or [], columns or []) for each, artefact in find_artefacts(name).items()
        }
        if stream_rows is not None:
            artefacts = {each: _with_rows(each, artefact, stream_rows) for each, artefact in artefacts.items()}
        ablation = artefacts[name].ablation if name in artefacts and not show else None
        if ablation is not None and engine != "local":
            raise ValueError(f"{name} runs on this machine only: leave --engine out")
        if ablation is not None and data is not None:
            raise ValueError(f"{name} reads its data from the cache: set SMARTCL_DATA instead of --data")
    folder = ResultFolder(results)
    specs = _specs(artefacts, seeds)
    wanted = [] if show else missing(specs, folder)
    written = [] if show else [each for each, artefact in artefacts.items() if artefact.files]
    with arguments_checked():
        for target in (results, *([out] if written else [])):
            if wanted or ablation is not None:
                check_writable(target)
        _check_extras(wanted)
        if wanted:
            from smartcl.paper.experiments.prequential_run import check_there

            check_there(wanted, data)
    sources = sources_here({spec.dataset for spec in wanted}, data)
    if any(spec.source != sources.get(spec.dataset, spec.source) for spec in wanted):
        artefacts = {each: _learned_from(sources, artefact) for each, artefact in artefacts.items()}
        specs = _specs(artefacts, seeds)
        wanted = missing(specs, folder)
    wanted, short = _there(wanted)
    failed = _run(wanted, folder, _engine(engine, address, workers), data) if wanted else {}
    if ablation is not None:
        from smartcl.paper.commands.ablation_runs import make_runs

        failed |= make_runs(ablation(), results, seeds, workers)
    said = {each: artefact_data(each, artefact, seeds, folder) for each, artefact in artefacts.items()}
    if as_json:
        print(json_text(list(said.values()) if name == "all" else said[name]))
    for each, artefact in artefacts.items():
        if not as_json:
            _print(each, artefact, said[each], paired)
        if each in written:
            _write(each, said[each], out)
    for each in short:
        say(each)
    for made, reason in failed.items():
        say(f"failed: {made}: {reason}")
    if failed:
        raise typer.Exit(1)


def _specs(artefacts: dict[str, Artefact], seeds: int | None) -> list[RunSpec]:
    return [spec for artefact in artefacts.values() for table in artefact.tables for spec in table.specs(seeds)]


def _learned_from(sources: dict[str, str], artefact: Artefact) -> Artefact:
    """The same runs on the data there are here, so that a table never mixes MNIST and its stand-in."""
    return replace(artefact, tables=tuple(replace(table, sources=sources) for table in artefact.tables))


def _with_rows(name: str, artefact: Artefact, rows: int) -> Artefact:
    if any(table.name not in REAL_STREAM_TABLES for table in artefact.tables) or not artefact.tables:
        raise ValueError(f"--rows is for tables of real streams, {', '.join(REAL_STREAM_TABLES)}, not for {name}")
    return replace(artefact, tables=tuple(with_rows(table, rows) for table in artefact.tables))


def _part(artefact: Artefact, small: bool, rows: list[str], columns: list[str]) -> Artefact:
    tables = ((quick(table) if small else table).part(rows, columns) for table in artefact.tables)
    if artefact.ablation is None:
        return replace(artefact, tables=tuple(tables))
    ablation = artefact.ablation().part(rows, columns, small)
    return replace(artefact, tables=tuple(tables), ablation=lambda: ablation)


def _there(wanted: list[RunSpec]) -> tuple[list[RunSpec], list[str]]:
    """The runs that can be made here, and a sentence for each package that is not."""
    if not wanted:
        return [], []
    from smartcl.paper.experiments.real_stream_run import without_missing_peers

    return without_missing_peers(wanted)


def _engine(kind: str, address: str | None, workers: int | None) -> Engine:
    from smartcl.paper.experiments.engines.local import LocalEngine
    from smartcl.paper.experiments.engines.ray import RayEngine

    if kind == "local":
        return LocalEngine(workers)
    try:
        return RayEngine(address, workers)
    except ModuleNotFoundError as error:
        raise typer.TyperException(str(error)) from None


def _run(specs: list[RunSpec], results: ResultFolder, engine: Engine, data: Path | None) -> dict[str, str]:
    """Make the runs. Returns those that failed, with their reasons."""
    from smartcl.paper.commands.sweep_progress import describe, sweep_progress
    from smartcl.paper.experiments.sweep import sweep
    from smartcl.paper.experiments.task_run import run

    with sweep_progress(len(specs), side_screen()) as finished:
        failures = sweep(specs, results, engine, finished, partial(run, data_dir=data))
    return {describe(spec): reason for spec, reason in failures.items()}


def _check_extras(wanted: list[RunSpec]) -> None:
    """Before the first run: what its method needs is installed."""
    if any(spec.method == "gss-iqp" for spec in wanted):
        extra("piqp", "paper")


def _print(name: str, artefact: Artefact, data: dict[str, Any], paired: bool) -> None:
    from smartcl.paper.report.renderings import shown

    console = screen()
    for each in shown(name, artefact, data, paired):
        console.print(each)


def _write(name: str, data: dict[str, Any], out: Path) -> None:
    from smartcl.paper.report.renderings import RENDERINGS

    for path in RENDERINGS[name].write(data, out):
        print(f"written: {path}", file=sys.stderr)
