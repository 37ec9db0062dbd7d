"""A table for readers: sortable HTML, and CSV with the bare values."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class Cell:
    """What is shown, what it sorts by, a second line in small print, and whether it stands out."""

    shown: str
    value: float | str | None = None
    below: str = ""
    strong: bool = False

    @classmethod
    def of(cls, value: float | str | None, digits: int = 2) -> Cell:
        """A plain cell; numbers rounded, nothing as a dash.

        >>> Cell.of(1234.5, 1).shown, Cell.of(None).shown
        ('1,234.5', '–')
        """
        if value is None:
            return cls("–")
        return cls(value if isinstance(value, str) else f"{value:,.{digits}f}", value)

    def html(self) -> str:
        number = not isinstance(self.value, str)
        names = " ".join(name for name, on in (("number", number), ("strong", self.strong)) if on)
        sort = "" if self.value is None else f' data-value="{escape(str(self.value))}"'
        below = f"<small>{escape(self.below)}</small>" if self.below else ""
        return f'<td class="{names}"{sort}>{escape(self.shown)}{below}</td>'


@dataclass(frozen=True)
class Sheet:
    """Heads and lines; ``tidy`` are the lines of the CSV file where it is not the table itself."""

    name: str
    title: str
    heads: tuple[str, ...]
    lines: tuple[tuple[Cell, ...], ...]
    note: str = ""
    tidy: tuple[tuple[object, ...], ...] = ()

    def html(self) -> str:
        """The table in a box of its own that scrolls; its heads are buttons that sort."""
        heads = "".join(
            f'<th scope="col" aria-sort="none"><button type="button">{escape(head)}</button></th>'
            for head in self.heads
        )
        body = "".join(f"<tr>{_row_head(line[0])}{''.join(c.html() for c in line[1:])}</tr>" for line in self.lines)
        return (
            f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(self.title)}">'
            f'<table class="sortable" id="{self.name}"><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>'
            "</div>"
        )

    def csv(self) -> str:
        lines: Sequence[Sequence[object]] = self.tidy or [
            self.heads,
            *([cell.value for cell in line] for line in self.lines),
        ]
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(lines)
        return text.getvalue()


def _row_head(cell: Cell) -> str:
    return f'<th scope="row" data-value="{escape(str(cell.value))}">{escape(cell.shown)}</th>'
