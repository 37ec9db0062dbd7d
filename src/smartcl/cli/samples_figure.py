"""``smartcl figure-samples``: samples held along the stream, SMART against whole-sample storage in the same bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from smartcl.cli.usage import arguments_checked
from smartcl.experiments.samples_held import DATASETS, MEMORY
from smartcl.experiments.spec import RunSpec
from smartcl.memory import Budget
from smartcl.report.samples_figure import STEM, make_samples_figure
from smartcl.streams.datasets import DATASETS as KNOWN


def figure_samples(
    datasets: Annotated[
        list[str] | None, typer.Option("--dataset", help=f"Repeatable; {', '.join(DATASETS)} unless said.")
    ] = None,
    memory: Annotated[str, typer.Option(help="'300 samples', '1MB' or a number of bytes.")] = MEMORY,
    seeds: Annotated[int, typer.Option(min=1, help="Seeds 0 to N-1; what is there is not run again.")] = 1,
    results: Annotated[Path, typer.Option(help="Where the result files are.")] = Path("results"),
    out: Annotated[Path, typer.Option(help="The folder for the CSV file and the picture.")] = Path("figures"),
    workers: Annotated[int | None, typer.Option(min=1, help="Processes; all cores unless said.")] = None,
    data: Annotated[Path | None, typer.Option(help="Where the data files are; else SMARTCL_DATA or the cache.")] = None,
) -> None:
    """Make the missing runs, then draw the samples held and the bytes they take."""
    with arguments_checked():
        Budget.parse(memory, 1)
        unknown = next((name for name in datasets or () if name not in KNOWN), None)
        if unknown is not None:
            raise ValueError(f"there is no data set {unknown!r}: there are {', '.join(KNOWN)}")
    console = Console(stderr=True)

    def finished(spec: RunSpec, reason: str | None) -> None:
        console.print(f"{spec.dataset} {spec.method} seed {spec.seed}: {reason or 'done'}")

    failures = make_samples_figure(results, out, datasets or DATASETS, seeds, memory, data, workers, finished)
    if failures:
        spec, reason = next(iter(failures.items()))
        raise typer.TyperException(f"{len(failures)} runs failed; the first, {spec.method} on {spec.dataset}: {reason}")
    print(f"CSV and picture: {out / STEM}.*")
