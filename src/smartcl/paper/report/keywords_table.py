"""The keyword table for the terminal."""

from __future__ import annotations

from rich.table import Table

from smartcl.paper.experiments.feature_ranking import NEW, PERSISTS, RETURNS, VANISHES
from smartcl.paper.experiments.keywords import KeywordStudy
from smartcl.paper.report.keywords_figure import KEY

STYLES = {PERSISTS: "bold red", RETURNS: "bold blue", NEW: "bold green", VANISHES: "dim"}


def keyword_grid(study: KeywordStudy) -> Table:
    """A column per task, the strongest feature first, each in the style of its fate."""
    key = ", ".join(f"[{STYLES[fate]}]{word}[/]" for fate, word in KEY.items())
    grid = Table(title=f"{study.title}\n{key}", title_justify="left", title_style="")
    grid.add_column("", justify="right")
    for task in study.tasks:
        grid.add_column(task, overflow="fold", min_width=6)
    for rank in range(max(map(len, study.tops), default=0)):
        grid.add_row(str(rank + 1), *(_cell(study, top, rank) for top in study.tops))
    return grid


def _cell(study: KeywordStudy, top: tuple[int, ...], rank: int) -> str:
    if rank >= len(top):
        return ""
    return f"[{STYLES[study.fates[top[rank]]]}]{study.names[top[rank]]}[/]"
