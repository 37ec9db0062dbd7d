"""The work of ``smartcl demo``: SMART against plain replay, at the same bytes."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from rich.table import Table

from smartcl.cli.screen import live_bars, screen, tell
from smartcl.cli.usage import arguments_checked, failure_of
from smartcl.memory import format_bytes
from smartcl.paper.experiments.engines.local import LocalEngine, RunStep
from smartcl.paper.experiments.run_spec import RunSpec
from smartcl.paper.experiments.sweep import results_of
from smartcl.paper.experiments.task_run import prepare_run, run
from smartcl.paper.report.demo_figure import draw_comparison
from smartcl.saving.atomic import check_file, write_file

DATASET = "disjoint-mnist"
METHODS = {"er": "plain replay", "smart": "SMART"}
PARAMETERS: tuple[tuple[str, Any], ...] = ()


def demo(memory: str, seed: int, out: Path, data: Path | None) -> None:
    """Run both, print a table and draw a picture."""
    with arguments_checked():
        if out.suffix.lower() != ".svg":
            raise ValueError(f"--out must end in .svg, got {out}")
        check_file(out)
        specs = [RunSpec(DATASET, method, memory, seed=seed, parameters=PARAMETERS) for method in METHODS]
        for spec in specs:
            prepare_run(spec, data)
    with live_bars() as bars:
        tasks = {spec: bars.add_task(METHODS[spec.method], total=None, memory="") for spec in specs}

        def watch(spec: RunSpec, step: RunStep) -> None:
            bars.update(tasks[spec], completed=step.done, total=step.total, memory=step.memory)

        made = results_of(specs, LocalEngine(len(specs), watch), partial(run, data_dir=data))
        results = dict(zip(METHODS.values(), made, strict=True))
    failure = failure_of(lambda: write_file(out, draw_comparison(results).file().encode()))
    screen().print(_table(results))
    if failure is not None:
        raise failure
    tell(f"picture: {out}")


def _table(results: dict[str, dict[str, Any]]) -> Table:
    first = next(iter(results.values()))
    table = Table(
        title=f"{first['stream']}: five tasks learned one after the other, "
        f"memory {format_bytes(first['budget_bytes'])}",
        title_justify="left",
    )
    table.add_column("accuracy, %")
    for name in results:
        table.add_column(name, justify="right")
    rows = {f"task {i + 1}": [f"{r['accuracy_per_task'][i]:.1f}" for r in results.values()] for i in range(5)}
    rows["mean"] = [f"[bold]{r['accuracy']:.1f}[/bold]" for r in results.values()]
    for label, cells in rows.items():
        table.add_row(label, *cells)
    table.add_section()
    table.add_row("samples held", *(f"{r['samples_held']:,}" for r in results.values()))
    table.add_row("bytes", *(f"{r['memory_bytes']:,}" for r in results.values()))
    table.add_row("features kept", *(f"{r['features_kept']:,}" for r in results.values()))
    table.add_row("seconds", *(f"{r['seconds']:.1f}" for r in results.values()))
    return table
