"""The keyword table for the terminal, as CSV and as a picture: a column per task, its strongest features first."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table as TerminalTable

from smartcl.paper.experiments.feature_ranking import FATES, NEW, PERSISTS, RETURNS, VANISHES
from smartcl.paper.experiments.keywords import KeywordStudy
from smartcl.paper.report.pictures import new_picture, save_numbers, save_picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = {PERSISTS: "#b3263b", RETURNS: "#1f6f9f", NEW: "#2f7d4f", VANISHES: "#8a939c"}
STYLES = {PERSISTS: "bold red", RETURNS: "bold blue", NEW: "bold green", VANISHES: "dim"}
#: What the picture and the table call the features of each fate.
KEY = {PERSISTS: "persist", RETURNS: "left and returned", NEW: "new at the end", VANISHES: "vanished"}
#: A name longer than this is cut in the picture.
LONGEST = 18
#: The width of a letter as a share of a column, about: where a line may start beside a name.
LETTER = 0.045


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
    """``<stem>.csv``, ``.svg`` and ``.png``."""
    return [save_numbers(stem, keyword_lines(study)), *save_picture(draw_keywords(study), stem)]


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


def draw_keywords(study: KeywordStudy) -> Figure:
    """Names in the colour of their fate, a line wherever a name stays from one task to the next."""
    ranks = max(map(len, study.tops), default=0)
    figure = new_picture(max(6.0, 1.0 + 1.45 * len(study.tasks)), 1.6 + 0.27 * ranks)
    axes = figure.subplots()
    axes.set(xlim=(-0.5, len(study.tasks) - 0.5), ylim=(ranks + 0.5, 0.5))
    axes.set_yticks(range(1, ranks + 1))
    axes.set_xticks(range(len(study.tasks)), [_lines(name) for name in study.tasks])
    axes.tick_params(length=0, labeltop=True, labelbottom=False, labelsize=8)
    axes.spines[:].set_visible(False)
    _link(axes, study)
    for task, top in enumerate(study.tops):
        for rank, feature in enumerate(top, start=1):
            axes.text(task, rank, _cut(study.names[feature]), va="center", **_style(study.fates[feature]))
    _title(figure, axes, study, ranks)
    return figure


def _link(axes: Axes, study: KeywordStudy) -> None:
    places = [{feature: rank for rank, feature in enumerate(top, start=1)} for top in study.tops]
    for task, (here, there) in enumerate(pairwise(places)):
        for feature in here.keys() & there.keys():
            edge = 0.06 + LETTER * len(_cut(study.names[feature])) / 2
            xs = [task + edge, task + 1 - edge]
            fate = study.fates[feature]
            width = 0.8 if fate == VANISHES else 1.6
            axes.plot(xs, [here[feature], there[feature]], color=COLOURS[fate], lw=width, alpha=0.6)


def _title(figure: Figure, axes: Axes, study: KeywordStudy, ranks: int) -> None:
    what = f"the {ranks} features of the largest first-layer norm after each task"
    figure.suptitle(f"{study.title}\n{what}", x=0.01, ha="left", fontsize=10.5)
    counts = Counter(study.fates.values())
    for position, fate in enumerate(FATES):
        place = ((position + 0.5) / len(FATES), -0.03)
        axes.text(*place, f"{counts[fate]} {KEY[fate]}", transform=axes.transAxes, va="top", **_style(fate))


def _style(fate: str) -> dict[str, Any]:
    weight = "normal" if fate == VANISHES else "bold"
    return {"ha": "center", "fontsize": 8.5, "weight": weight, "color": COLOURS[fate]}


def _lines(task: str) -> str:
    """Two groups, or a city and its state, one below the other."""
    return task.replace(" / ", "\n/ ").replace("_", "\n")


def _cut(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
