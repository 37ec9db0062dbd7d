"""What Eq. 2 and its bounds are worth: a table for people, a CSV file and a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType

from smartcl.paper.report.grid import Cell, Grid
from smartcl.paper.report.pictures import new_picture, save_numbers, save_picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STEM = "theory"
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
    """Every look as a line of CSV, and the picture; nothing where no run is."""
    looks = data["looks"]
    if not looks:
        return []
    names = list(looks[0])
    lines = [names, *([look[name] for name in names] for look in looks)]
    return [save_numbers(folder / STEM, lines), *save_picture(draw_theory(looks), folder / STEM)]


def draw_theory(looks: list[dict[str, Any]]) -> Figure:
    """The cosine of Eq. 2 along training, and the rise against the l2 bound where it holds."""
    figure = new_picture(11, 4)
    along, bound = figure.subplots(1, 2)
    for position, row in enumerate(dict.fromkeys(look["row"] for look in looks)):
        mine = [look for look in looks if look["row"] == row]
        holds = [look for look in mine if look["cosine"] >= 0]
        style = {"s": 8, "color": f"C{position}", "label": row, "alpha": 0.6, "linewidths": 0}
        along.scatter([look["batches"] for look in mine], [look["cosine"] for look in mine], **style)
        bound.scatter([look["l2_bound"] for look in holds], [look["rise"] for look in holds], **style)
    along.axhline(0, color="black", linewidth=0.8)
    along.set(title="Eq. 2 holds above the line", xlabel="batches learned", ylabel="cosine of the two gradients")
    far = max((look["l2_bound"] for look in looks), default=1.0)
    bound.plot([0, far], [0, far], color="black", linewidth=0.8)
    bound.set(title="where it holds, no look may lie above the line", xlabel="l2 bound", ylabel="rise, Σ b")
    for axes in (along, bound):
        axes.legend(frameon=False, fontsize=8)
        axes.spines[["top", "right"]].set_visible(False)
    return figure
