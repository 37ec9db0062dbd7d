"""``smartcl keywords``: the features a run listens to most after each task, as a table, a CSV file and a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from smartcl.cli.progress import bar_for, live_bars
from smartcl.cli.usage import arguments_checked, assignments
from smartcl.experiments.feature_ranking import NEW, PERSISTS, RETURNS, VANISHES
from smartcl.experiments.keywords import BRAZIL, NEWSGROUPS, TOP, KeywordStudy
from smartcl.experiments.spec import RunSpec
from smartcl.report.keywords_figure import KEY, make_keywords

STYLES = {PERSISTS: "bold red", RETURNS: "bold blue", NEW: "bold green", VANISHES: "dim"}


def keywords(
    dataset: Annotated[
        str | None, typer.Option(help=f"A data set; {NEWSGROUPS.dataset} and {BRAZIL.dataset} unless said.")
    ] = None,
    method: Annotated[str, typer.Option(help="A method; 'smartcl methods' lists them.")] = "smart",
    memory: Annotated[str, typer.Option(help="'300 samples', '1MB' or a number of bytes.")] = "1MB",
    seed: Annotated[int, typer.Option(min=0)] = 0,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the method; repeatable.")
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="Features shown per task.")] = TOP,
    results: Annotated[Path, typer.Option(help="Where the result files are.")] = Path("results"),
    out: Annotated[Path, typer.Option(help="The folder for the CSV file and the picture.")] = Path("figures"),
    data: Annotated[Path | None, typer.Option(help="Where the data files are; else SMARTCL_DATA or the cache.")] = None,
) -> None:
    """Which features persist and which vanish: the top by first-layer norm after each task."""
    with arguments_checked():
        specs = [NEWSGROUPS, BRAZIL]
        if dataset is not None:
            names = {"dataset": dataset, "method": method, "memory": memory, "seed": seed}
            specs = [RunSpec.of(assignments(settings or []), **names)]
        with live_bars() as bars:
            studies = make_keywords(results, out, specs, top, data, bar_for(bars, "keywords"))
    for study in studies:
        Console().print(keyword_grid(study))
    print(f"CSV and pictures: {out}")


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
