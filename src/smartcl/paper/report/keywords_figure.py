"""The keyword table for the terminal, as CSV and as a picture: a column per task, its strongest features first."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path

from rich.table import Table as TerminalTable

from smartcl.paper.experiments.feature_ranking import FATES, NEW, PERSISTS, RETURNS, VANISHES
from smartcl.paper.experiments.keywords import KeywordStudy
from smartcl.paper.report.pictures import save_drawings, save_numbers
from smartcl.paper.report.svg import Drawing, polyline, text

COLOURS = {PERSISTS: "red", RETURNS: "blue", NEW: "green", VANISHES: "slate"}
STYLES = {PERSISTS: "bold red", RETURNS: "bold blue", NEW: "bold green", VANISHES: "dim"}
#: What the picture and the table call the features of each fate.
KEY = {PERSISTS: "persist", RETURNS: "left and returned", NEW: "new at the end", VANISHES: "vanished"}
#: A name longer than this is cut in the picture.
LONGEST = 18
#: The width of a column and of a letter, and the height of a line, in units of the drawing.
COLUMN, LETTER, LINE = 150.0, 7.2, 24.0


def keyword_grid(study: KeywordStudy) -> TerminalTable:
    """A column per task, the strongest feature first, each in the style of its fate."""
    key = ", ".join(f"[{STYLES[fate]}]{word}[/]" for fate, word in KEY.items())
    grid = TerminalTable(title=f"{study.title}\n{key}", title_justify="left", title_style="")
    grid.add_column("", justify="right")
    for task in study.tasks:
        grid.add_column(task, overflow="fold", min_width=6)
    for rank in range(max(map(len, study.tops), default=0)):
        grid.add_row(str(rank + 1), *(_styled(study, top, rank) for top in study.tops))
    return grid


def _styled(study: KeywordStudy, top: tuple[int, ...], rank: int) -> str:
    if rank >= len(top):
        return ""
    return f"[{STYLES[study.fates[top[rank]]]}]{study.names[top[rank]]}[/]"


def write_keywords(study: KeywordStudy, stem: Path) -> list[Path]:
    """``<stem>.csv`` and ``<stem>.svg``."""
    drawings = {stem.name: draw_keywords(study)}
    return [save_numbers(stem, keyword_lines(study)), *save_drawings(drawings, stem.parent)]


def keyword_lines(study: KeywordStudy) -> list[tuple[object, ...]]:
    """One line per task and rank; tasks and ranks count from 1."""
    careers = {career.feature: career for career in study.careers}
    lines: list[tuple[object, ...]] = [
        ("task", "task_name", "rank", "feature", "name", "norm", "fate", "first_task", "last_task")
    ]
    for task, (name, top, norms) in enumerate(zip(study.tasks, study.tops, study.norms, strict=True), start=1):
        for rank, (feature, norm) in enumerate(zip(top, norms, strict=True), start=1):
            career = careers[feature]
            times = (career.fate, career.first + 1, career.last + 1)
            lines.append((task, name, rank, feature, study.names[feature], norm, *times))
    return lines


def draw_keywords(study: KeywordStudy) -> Drawing:
    """Names in the colour of their fate, a line wherever a name stays from one task to the next."""
    ranks = max(map(len, study.tops), default=0)
    says = f"{study.title}: the {ranks} features of the largest first-layer norm after each task"
    parts = [text(0, 14, says, anchor="start")]
    for task, name in enumerate(study.tasks):
        for line, words in enumerate(_lines(name)):
            parts.append(text(_across(task), 40 + 16 * line, words, colour="muted"))
    top = 40 + 16 * max((len(_lines(name)) for name in study.tasks), default=0)
    parts += _links(study, top)
    for task, features in enumerate(study.tops):
        for rank, feature in enumerate(features, start=1):
            parts.append(
                text(_across(task), top + LINE * rank, _cut(study.names[feature]), colour=COLOURS[study.fates[feature]])
            )
    bottom, counts = top + LINE * (ranks + 1.5), Counter(study.fates.values())
    width = COLUMN * max(len(study.tasks), 4)
    for position, fate in enumerate(FATES):
        words = f"{counts[fate]} {KEY[fate]}"
        parts.append(text(width * (position + 0.5) / len(FATES), bottom, words, colour=COLOURS[fate]))
    return Drawing(width, bottom + 10, "".join(parts), says)


def _across(task: int) -> float:
    return COLUMN * (task + 0.5)


def _links(study: KeywordStudy, top: float) -> list[str]:
    places = [{feature: rank for rank, feature in enumerate(features, start=1)} for features in study.tops]
    return [
        polyline(
            [
                (_across(task) + edge, top + LINE * here[feature] - 4),
                (_across(task + 1) - edge, top + LINE * there[feature] - 4),
            ],
            COLOURS[study.fates[feature]],
            0.8 if study.fates[feature] == VANISHES else 1.6,
        )
        for task, (here, there) in enumerate(pairwise(places))
        for feature in sorted(here.keys() & there.keys())
        for edge in [6 + LETTER * len(_cut(study.names[feature])) / 2]
    ]


def _lines(task: str) -> list[str]:
    """Two groups, or a city and its state, one below the other."""
    return task.replace(" / ", "\n/ ").replace("_", "\n").split("\n")


def _cut(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
