"""``smartcl run``: one method on one stream."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from smartcl.cli.loading import done_by
from smartcl.cli.options import AsJson, DataOption, Memory, MethodName, Seed, SettingsOption


@done_by("smartcl.paper.commands.run_command:run")
def run(
    method: MethodName = "smart",
    dataset: Annotated[str, typer.Option(help="A data set, such as disjoint-mnist or split-mnist.")] = "disjoint-mnist",
    memory: Memory = "300 samples",
    noise: Annotated[str, typer.Option(help="none, foreign:0.3, uniform:0.3 or flip:0.3.")] = "none",
    seed: Seed = 0,
    settings: SettingsOption = None,
    data: DataOption = None,
    as_json: AsJson = False,
    keywords: Annotated[
        Path | None, typer.Option(help="A folder for the strongest keywords after each task: a CSV file and a picture.")
    ] = None,
) -> None:
    """Learn one stream with one method and show the result."""
