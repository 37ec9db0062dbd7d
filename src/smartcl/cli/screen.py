"""Where tables are printed: as wide as the terminal; in a pipe or a file, as wide as they are."""

from __future__ import annotations

import os
import sys

from rich.console import Console

#: Wider than any table.
UNBOUNDED = 10_000


def screen() -> Console:
    """Standard output. Nothing is cut for a terminal that is not there; ``COLUMNS`` still says what is wanted."""
    told = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(width=None if told else UNBOUNDED)
