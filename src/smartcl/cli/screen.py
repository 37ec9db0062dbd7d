"""Consoles for tables: as wide as the terminal; in a pipe or a file, as wide as the tables are."""

from __future__ import annotations

import os
import sys
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from smartcl.cli.visible import visible

#: Wider than any table.
UNBOUNDED = 10_000


class Screen(Console):
    """A console that shows control characters in text and never passes them to the terminal."""

    def render_str(self, text: str, **how: Any) -> Text:
        return super().render_str(visible(text, keep="\n"), **how)


def shown(name: str) -> str:
    """A name from data as it stands in a cell of a table or in a line: on one line, and no markup."""
    return escape(visible(name))


def screen() -> Screen:
    """Standard output. Nothing is cut for a terminal that is not there; ``COLUMNS`` still says what is wanted."""
    told = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Screen(width=None if told else UNBOUNDED)


def side_screen() -> Screen:
    """Standard error."""
    return Screen(stderr=True)
