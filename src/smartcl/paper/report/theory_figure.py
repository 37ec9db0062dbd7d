"""Figure of Eq. 2 and its bounds: a table for people, a CSV file and two drawings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import RenderableType

from smartcl.paper.report.charts import Axis, Point, Series, line_chart
from smartcl.paper.report.grid import Cell, Grid
from smartcl.paper.report.page_figure import PageFigure, slug
from smartcl.paper.report.pictures import save_drawings, save_numbers
from smartcl.paper.report.svg import Key

STEM = "theory"
COLOURS = ("blue", "red", "green", "orange", "violet", "teal")
BOUNDS = {"l2_bound": "l2 bound", "hoelder_bound": "Hölder bound"}


def theory_text(data: dict[str, Any]) -> list[RenderableType]:
    """The lines as a grid, and the counter-example in words and numbers."""
    heads = ("", "runs", "looks", "Eq. 2 holds", "mean cosine")
    lines = []
    for line in data["lines"]:
        counts = (str(line["n"]), str(line["looks"]), f"{line['holds']:.1f} %", f"{line['cosine']:+.3f}")
        lines.append((line["row"], *counts, *(_shares(line[bound]) for bound in BOUNDS)))
    grid = Grid(
        STEM,
        "Eq. 2, and the rise of the loss on memory as a share of each bound where it holds",
        (*heads, *(f"of the {name}:\nmedian, largest, exceeded" for name in BOUNDS.values())),
        tuple(tuple(map(Cell.of, line)) for line in lines),
    )
    return [grid.terminal(), counter_example_text(data["counter_example"])]


def _shares(found: dict[str, Any]) -> str:
    if not found["looks"]:
        return "–"
    return f"{found['median']:+.3f}, {found['largest']:+.3f}, {found['exceeded']} of {found['looks']}"


def counter_example_text(found: dict[str, Any]) -> str:
    """The theorem as printed, refuted with four parameters."""
    return (
        f"The theorem as printed is false. With the new gradient {found['new']} and the memory's {found['memory']}, "
        f"their product is {found['product']:.1e}, so Eq. 2 holds; the rise is {found['rise']:.4f} "
        f"and the printed bound {found['printed_bound']:.4f}. The valid bounds: l2 {found['l2_bound']:.4f}, "
        f"Hölder {found['hoelder_bound']:.4f}."
    )


def write_theory(data: dict[str, Any], folder: Path) -> list[Path]:
    """Every look as a line of CSV, and the drawings; nothing where no run is."""
    looks = data["looks"]
    if not looks:
        return []
    names = list(looks[0])
    lines = [names, *([look[name] for name in names] for look in looks)]
    return [save_numbers(folder / STEM, lines), *save_drawings(draw_theory(looks).files, folder)]


def draw_theory(looks: list[dict[str, Any]]) -> PageFigure:
    """The cosine of Eq. 2 along training, and the rise against the l2 bound where it holds."""
    along, bound = [], []
    for row, colour in zip(dict.fromkeys(look["row"] for look in looks), COLOURS, strict=False):
        mine, key = [look for look in looks if look["row"] == row], Key(slug(row), row, colour)
        along.append(Series(key, [Point(look["batches"], look["cosine"]) for look in mine], joined=False))
        holds = [Point(look["l2_bound"], look["rise"]) for look in mine if look["cosine"] >= 0]
        if holds:
            bound.append(Series(key, holds, joined=False))
    last, far = (max((look[name] for look in looks), default=1.0) for name in ("batches", "l2_bound"))
    rises = [point.y for each in bound for point in each.points]
    diagonal = Series(Key("bound", "the bound", "ink", dashed=True), [Point(0, 0), Point(far, far)], width=1)
    panels = (
        (
            "Eq. 2 holds above zero",
            line_chart(
                along,
                Axis.around("batches learned", [last], low=0),
                Axis.around("cosine of the two gradients", [look["cosine"] for look in looks]),
                "The cosine of Eq. 2 along training",
            ),
        ),
        (
            "where it holds, no look may lie above the line",
            line_chart(
                [*bound, diagonal],
                Axis.around("l2 bound", [far], low=0),
                Axis.around("rise, Σ b", [*rises, 0.0, far]),
                "The rise of the loss on memory against the l2 bound",
            ),
        ),
    )
    return PageFigure(STEM, "Eq. 2 and its bounds", panels=panels)
