"""``smartcl methods``: what there is."""

from __future__ import annotations

from rich.table import Table

from smartcl.cli.loading import loading
from smartcl.cli.screen import screen


def methods() -> None:
    """List every method with one line and its citation."""
    with loading():
        from smartcl.learners.methods import METHODS
    table = Table(box=None, pad_edge=False)
    for name in ("method", "what it does", "proposed by"):
        table.add_column(name, style="bold" if name == "method" else None)
    for name, method in METHODS.items():
        table.add_row(name, method.summary, method.citation)
    screen().print(table)
