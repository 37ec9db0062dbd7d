"""What Eq. 2 and its bounds are worth: a table for people, a CSV file and a picture."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from rich.console import RenderableType
from rich.table import Table as Grid

from smartcl.paper.report.figures import save_figure

STEM = "theory"
BOUNDS = {"l2_bound": "l2 bound", "hoelder_bound": "Hölder bound"}


def theory_text(data: dict[str, Any]) -> list[RenderableType]:
    """The lines as a grid, and the counter-example in words and numbers."""
    grid = Grid(title="Eq. 2, and the rise of the loss on memory as a share of each bound where it holds")
    for heading in ("", "runs", "looks", "Eq. 2 holds", "mean cosine"):
        grid.add_column(heading, justify="right" if heading else "left")
    for name in BOUNDS.values():
        grid.add_column(f"of the {name}:\nmedian, largest, exceeded", justify="right")
    for line in data["lines"]:
        shares = (_shares(line[bound]) for bound in BOUNDS)
        counts = (str(line["n"]), str(line["looks"]), f"{line['holds']:.1f} %", f"{line['cosine']:+.3f}")
        grid.add_row(line["row"], *counts, *shares)
    return [grid, counter_example_text(data["counter_example"])]


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
    if not data["looks"]:
        return []
    folder.mkdir(parents=True, exist_ok=True)
    table = folder / f"{STEM}.csv"
    with table.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(data["looks"][0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(data["looks"])
    return [table, *save_figure(draw(data["looks"]), folder / STEM)]


def draw(looks: list[dict[str, Any]]) -> Figure:
    """The cosine of Eq. 2 along training, and the rise against the l2 bound where it holds."""
    figure = Figure(figsize=(11, 4), layout="constrained")
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
