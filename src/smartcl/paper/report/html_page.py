"""The report: one HTML page that needs nothing but itself, every drawing as SVG, every grid as CSV."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from pathlib import Path

from smartcl.paper.experiments.catalogue import TABLES
from smartcl.paper.report import palette
from smartcl.paper.report.bytes_figure import against_bytes
from smartcl.paper.report.costs import cost, cost_grid
from smartcl.paper.report.curves import headline, noise
from smartcl.paper.report.explanations import explained
from smartcl.paper.report.glance import glance, users_glance
from smartcl.paper.report.grid import Grid
from smartcl.paper.report.highlights import highlights
from smartcl.paper.report.histories import constraint, matrices, memory, purity
from smartcl.paper.report.loaded_runs import Runs, count
from smartcl.paper.report.page_figure import PageFigure
from smartcl.paper.report.sensitivity_figure import sensitivity
from smartcl.paper.report.stream_grids import summary_grids
from smartcl.paper.report.streams_figure import streams
from smartcl.paper.report.svg import FONT, Drawing, marker, stroke_sample
from smartcl.paper.report.table_grids import metric_grids, missing_grid
from smartcl.paper.report.total_figure import against_total
from smartcl.saving.atomic import write_file

#: Where ``make bench`` writes.
BENCHMARKS = Path("benchmarks/results.json")


def write_report(results: Path, out: Path, benchmarks: Path = BENCHMARKS) -> Report:
    """Make the report of a result folder in ``out``: each file whole or not there, the page last."""
    report = Report(Runs(results), benchmarks)
    texts = {f"figures/{name}.svg": drawing.file() for name, drawing in report.drawings.items()}
    texts |= {f"tables/{grid.name}.csv": grid.csv() for grid in report.grids}
    for name, text in {**texts, "index.html": report.html()}.items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        write_file(out / name, text.encode())
    return report


class Report:
    """All figures and tables that the runs allow, and the page that shows them."""

    def __init__(self, runs: Runs, benchmarks: Path = BENCHMARKS) -> None:
        self.runs = runs
        self.figures = [
            users_glance(runs),
            glance(runs, benchmarks),
            against_bytes(runs),
            against_total(runs),
            headline(runs),
            noise(runs),
            noise(runs, "table3"),
            matrices(runs),
            memory(runs),
        ]
        self.figures += [purity(runs), constraint(runs), sensitivity(runs), streams(runs), cost(runs)]
        self.tables = {
            name: [*summary_grids(table, runs), *metric_grids(table, runs).values()] for name, table in TABLES.items()
        }
        self.lists = [cost_grid(runs), missing_grid(runs)]

    @property
    def drawings(self) -> dict[str, Drawing]:
        """Every drawing by the name of its file."""
        return {name: each for figure in self.figures for name, each in figure.files.items()}

    @property
    def grids(self) -> list[Grid]:
        return [*(grid for grids in self.tables.values() for grid in grids), *self.lists]

    def html(self) -> str:
        style = (files(__package__) / "page.css").read_text(encoding="utf-8").replace("FONT", FONT)
        script = (files(__package__) / "page.js").read_text(encoding="utf-8")
        body = "\n".join(
            [
                self._top(),
                '<div id="figures">',
                *(_figure(figure) for figure in self.figures),
                '</div><div id="tables">',
                *(_table(name, grids) for name, grids in self.tables.items()),
                '</div><div id="lists">',
                *(_list(grid) for grid in self.lists),
                "</div>",
                self._foot(),
            ]
        )
        return (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>smartcl: results</title>\n'
            '<link rel="icon" href="data:,">\n'
            f"<style>\n{palette.css()}{style}</style>\n</head>\n<body>\n<main>\n{body}\n"
            f"</main>\n<script>\n{script}</script>\n</body>\n</html>\n"
        )

    def _top(self) -> str:
        results = self.runs.all
        methods = {result["spec"]["method"] for result in results}
        hours = sum(result.get("cpu_seconds", 0.0) for result in results) / 3600
        tiles = "".join(
            f'<div class="tile"><h2>{escape(each.heading)}</h2><p class="value">{escape(each.value)}</p>'
            f"<p>{escape(each.whose)}</p>{''.join(f'<p class=muted>{escape(line)}</p>' for line in each.against)}</div>"
            for each in highlights(self.runs)
        )
        return (
            '<header><div><h1>Learning from a stream in a fixed number of bytes</h1><p class="muted">'
            f"{count(len(results))} of {len(methods)} method{'s' * (len(methods) != 1)}, {hours:.1f} hours of "
            "processor time. Every memory is charged to the byte; accuracy is the mean of the task test sets after the "
            "last batch, on the suite of streams that of each batch before it is learned."
            '</p></div><button type="button" id="theme">Dark or light</button></header>\n'
            '<nav><a href="#figures">Figures</a> <a href="#tables">Tables</a> <a href="#lists">Runs and gaps</a></nav>'
            f'<div class="tiles">{tiles}</div>'
        )

    def _foot(self) -> str:
        versions = sorted({f"{k} {v}" for r in self.runs.all for k, v in r.get("versions", {}).items()})
        return f'<footer class="muted">Made by smartcl report. {escape(", ".join(versions))}</footer>'


def _figure(figure: PageFigure) -> str:
    if figure.missing:
        return _absent(figure.name, figure.title, figure.missing)
    keys = {key.name: key for _, drawing in figure.panels for key in drawing.keys}
    hollow = next((drawing.hollow for _, drawing in figure.panels if drawing.hollow), "")
    legend = "".join(
        f'<button type="button" data-key="{key.name}" aria-pressed="false">'
        f'<svg viewBox="0 -6 24 12" aria-hidden="true">{stroke_sample(key)}</svg>{escape(key.label)}</button>'
        for key in keys.values()
    )
    if hollow:
        sample = f'<svg viewBox="0 -6 24 12" aria-hidden="true">{marker(12, 0, "muted", hollow=True)}</svg>'
        legend += f"<span>{sample}{escape(hollow)}</span>"
    panels = "".join(
        f'<div class="panel">{f"<h3>{escape(title)}</h3>" if title else ""}{drawing.inline()}</div>'
        for title, drawing in figure.panels
    )
    links = [(f"{name}.svg", "image/svg+xml", drawing.file()) for name, drawing in figure.files.items()]
    shape = "wide" if len(figure.panels) > 1 or not legend else "beside"
    return (
        f'<section class="card"><h2>{escape(figure.title)}</h2><figure id="{figure.name}" class="{shape}">'
        f'<div class="panels">{panels}</div>{f"<div class=legend>{legend}</div>" if legend else ""}'
        f"<figcaption>{escape(figure.caption)} {_links(links)}</figcaption></figure></section>"
    )


def _table(name: str, grids: list[Grid]) -> str:
    """A table of the paper, metric by metric."""
    title = TABLES[name].title
    if not grids:
        return _absent(name, title, f"smartcl reproduce {name}")
    number = re.fullmatch(r"table(\d+)", name)
    heading = f"Table {number[1]}. {title}" if number else title
    parts = (f"{f'<h3>{escape(grid.title)}</h3>' if len(grids) > 1 else ''}{grid.html()}" for grid in grids)
    return _card(heading, "".join(parts), explained(TABLES[name]), grids)


def _list(grid: Grid) -> str:
    table = grid.html()
    if grid.name == "runs":
        table = f"<details><summary>{len(grid.lines)} settings</summary>{table}</details>"
    return _card(grid.title, table, grid.note, [grid])


def _card(heading: str, content: str, note: str, grids: list[Grid]) -> str:
    links = _links([(f"{grid.name}.csv", "text/csv", grid.csv()) for grid in grids])
    below = f'<p class="note">{_marked(note)} {links}</p>'
    return f'<section class="card"><h2>{escape(heading)}</h2>{content}{below}</section>'


def _marked(note: str) -> str:
    """The few marks of Markdown that notes use, as HTML, also where a line ends between them.

    >>> _marked("**so** *called* `smart`")
    '<strong>so</strong> <em>called</em> <code>smart</code>'
    >>> _marked("*so\\ncalled*")
    '<em>so\\ncalled</em>'
    """
    note = escape(note, quote=False)
    for mark, tag in (("`", "code"), (r"\*\*", "strong"), (r"\*", "em")):
        note = re.sub(f"{mark}(.+?){mark}", rf"<{tag}>\1</{tag}>", note, flags=re.DOTALL)
    return note


def _absent(name: str, title: str, command: str) -> str:
    return (
        f'<section class="card absent" id="{name}"><h2>{escape(title)}</h2>'
        f"<p>No runs yet: <code>{escape(command)}</code> makes them.</p></section>"
    )


def _links(downloads: Sequence[tuple[str, str, str]]) -> str:
    """Links that carry the file inside them: the page can be sent alone."""
    return " ".join(
        f'<a download="{name}" href="data:{kind};base64,{base64.b64encode(content.encode()).decode()}">{name}</a>'
        for name, kind, content in downloads
    )
