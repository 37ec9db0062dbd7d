"""Table for people of what the columns were taken for, and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.table import Table

from smartcl.cli.screen import shown

#: More columns fill the screen; the schema in the model's folder has them all.
SHOWN_COLUMNS = 40


def columns_table(taken: Sequence[dict[str, Any]]) -> Table:
    """A line for each column; the option that says otherwise is written as it would be given."""
    table = Table(box=None, pad_edge=False)
    for heading in ("column", "taken for", "because", "if not"):
        table.add_column(heading, overflow="fold")
    for line in taken[:SHOWN_COLUMNS]:
        name = shown(line["column"])
        because = shown(line["because"])
        table.add_row(name, line["taken_for"], because, f"{line['otherwise']} {name}")
    if len(taken) > SHOWN_COLUMNS:
        table.add_row(f"and {len(taken) - SHOWN_COLUMNS:,} more", "", "in schema.json", "")
    return table
