"""A grid of cells, and its four outputs: for the terminal, for Markdown, for the page, and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from rich import markup
from rich.table import Table as TerminalTable

#: What a terminal leaves to the names of rows, however many columns there are.
NAME_WIDTH = 10


@dataclass(frozen=True)
class Cell:
    """What is shown, what it sorts by, of how many runs it is the mean, and what it is to be read beside.

    ``published`` is what the paper prints, ``compared`` how far it is from the row it is set against; a ``strong`` cell
    stands out on the page.
    """

    shown: str
    value: float | str | None = None
    runs: int = 0
    published: str = ""
    compared: str = ""
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

    @property
    def first(self) -> str:
        """The first line of it.

        >>> Cell("90.00 ± 1.41", 90.0, runs=2).first
        '90.00 ± 1.41 (2)'
        """
        return f"{self.shown} ({self.runs})" if self.runs else self.shown

    @property
    def below(self) -> list[str]:
        """Further lines."""
        return [line for line in (self.published, self.compared) if line]

    def terminal(self) -> str:
        return "\n".join([markup.escape(self.first), *(f"[dim]{markup.escape(line)}[/dim]" for line in self.below)])

    def markdown(self) -> str:
        """
        >>> Cell("90.00 ± 1.41", 90.0, runs=2, published="88.93").markdown()
        '90.00 ± 1.41 (2)<br>*88.93*'
        """
        return "<br>".join([self.first, *(f"*{line}*" for line in self.below)])

    def html(self) -> str:
        """
        >>> Cell("90.00 ± 1.41", 90.0, runs=2, published="88.93").html()
        '<td class="number" data-value="90.0">90.00 ± 1.41<small>paper 88.93 · n 2</small></td>'
        """
        number = not isinstance(self.value, str)
        names = " ".join(name for name, on in (("number", number), ("strong", self.strong)) if on)
        sort = "" if self.value is None else f' data-value="{escape(str(self.value))}"'
        paper, runs = self.published and f"paper {self.published}", f"n {self.runs}" if self.runs else ""
        below = " · ".join(filter(None, (paper, self.compared, runs)))
        small = f"<small>{escape(below)}</small>" if below else ""
        return f'<td class="{names}"{sort}>{escape(self.shown)}{small}</td>'


@dataclass(frozen=True)
class Grid:
    """Heads and lines, each with its name first; ``tidy`` are the lines of the CSV file where it is not the grid."""

    name: str
    title: str
    heads: tuple[str, ...]
    lines: tuple[tuple[Cell, ...], ...]
    note: str = ""
    tidy: tuple[tuple[object, ...], ...] = ()

    def terminal(self) -> TerminalTable:
        table = TerminalTable(title=markup.escape(self.title), title_justify="left")
        first, *others = self.heads
        table.add_column(first, overflow="fold", min_width=NAME_WIDTH)
        for head in others:
            table.add_column(head, justify="right", overflow="fold")
        for line in self.lines:
            table.add_row(*(cell.terminal() for cell in line))
        return table

    def markdown(self, corner: str = "") -> str:
        """The grid under another first head.

        >>> print(Grid("small", "", ("method", "100"), ((Cell("ER"), Cell("90.00", 90.0, runs=1)),)).markdown())
        | | 100 |
        |---|---|
        | ER | 90.00 (1) |
        """
        head = f"|{f' {corner}' if corner else ''} | {' | '.join(self.heads[1:])} |"
        lines = (f"| {' | '.join(cell.markdown() for cell in line)} |" for line in self.lines)
        return "\n".join([head, f"|{'---|' * len(self.heads)}", *lines])

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
        own = [self.heads, *([cell.value for cell in line] for line in self.lines)]
        return csv_text(self.tidy or own)


def csv_text(lines: Sequence[Sequence[object]]) -> str:
    """Comma-separated values.

    >>> csv_text([("name", "mean"), ("ER, tuned", 90.5)])
    'name,mean\\n"ER, tuned",90.5\\n'
    """
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    return text.getvalue()


def _row_head(cell: Cell) -> str:
    return f'<th scope="row" data-value="{escape(str(cell.value))}">{escape(cell.shown)}</th>'
