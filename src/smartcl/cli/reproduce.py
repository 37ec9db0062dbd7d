"""``smartcl reproduce``: the paper's evaluation, run by run, with what is already there."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from smartcl.cli.loading import done_by
from smartcl.cli.options import AsJson, DataOption


@done_by("smartcl.paper.commands.reproduce_command:reproduce")
def reproduce(
    name: Annotated[
        str, typer.Argument(help="A table or figure, such as table1, or all; an unknown name lists the known ones.")
    ],
    seeds: Annotated[int | None, typer.Option(min=1, help="Seeds 0 to N-1; what is there is not run again.")] = None,
    rows: Annotated[
        list[str] | None, typer.Option("--row", help="Only these rows (a method's name); repeatable.")
    ] = None,
    columns: Annotated[list[str] | None, typer.Option("--column", help="Only these columns; repeatable.")] = None,
    stream_rows: Annotated[
        int | None,
        typer.Option("--rows", min=100, help="Of real streams learn this number of rows, not the table's."),
    ] = None,
    small: Annotated[bool, typer.Option("--quick", help="Only two rows, two columns and one seed.")] = False,
    results: Annotated[Path, typer.Option(help="The folder of results.")] = Path("results"),
    out: Annotated[Path, typer.Option(help="The folder for figures and other files.")] = Path("figures"),
    engine: Annotated[
        Literal["local", "ray"], typer.Option(help="Run in processes on this machine, or on Ray.")
    ] = "local",
    address: Annotated[
        str | None, typer.Option(help="A Ray cluster's host:port, or auto; else Ray starts one here.")
    ] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Runs at a time on this machine; else all cores.")] = None,
    show: Annotated[bool, typer.Option("--show", help="Print what is there; run and write nothing.")] = False,
    paired: Annotated[
        bool, typer.Option("--paired", help="Also print paired differences with their 95% intervals.")
    ] = False,
    as_json: AsJson = False,
    data: DataOption = None,
) -> None:
    """Make the runs of a table or figure that are missing, then print it with the published values."""
