"""``smartcl demo``: SMART against plain replay, at the same bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from smartcl.cli.loading import done_by
from smartcl.cli.options import DataOption, Memory, Seed


@done_by("smartcl.paper.commands.demo_command:demo")
def demo(
    memory: Memory = "100 samples",
    seed: Seed = 0,
    out: Annotated[Path, typer.Option(help="The SVG file to write.")] = Path("smartcl-demo.svg"),
    data: DataOption = None,
) -> None:
    """SMART against plain replay of whole images on Disjoint MNIST, in the same number of bytes."""
