"""``smartcl methods``: what there is."""

from __future__ import annotations

from rich.table import Table

from smartcl.cli.loading import loading
from smartcl.cli.screen import screen

#: The methods that are meant to be used, the usual one first.
OWN_DATA = ("adaptive", "smart", "smart-quick")


def methods() -> None:
    """List every method with one line and its citation."""
    with loading():
        from smartcl.learners.methods import METHODS
    known = dict(METHODS.items())
    groups = {
        "For data of your own": [name for name in known if name in OWN_DATA or name not in METHODS.ours],
        "To compare with: the paper's, and what others have proposed": [
            name for name in known if name not in OWN_DATA and name in METHODS.ours
        ],
    }
    console = screen()
    for title, names in groups.items():
        table = Table(box=None, pad_edge=False)
        for heading in ("method", "what it does", "proposed by"):
            table.add_column(heading, style="bold" if heading == "method" else None)
        for name in names:
            table.add_row(name, known[name].summary, known[name].citation)
        console.print(f"[italic]{title}[/italic]")
        console.print(table)
        console.print()
