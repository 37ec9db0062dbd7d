"""The sensitivity figure: accuracy along α and along β, as a CSV file and a picture."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from smartcl.paper.report.figures import save_figure

STEM = "sensitivity"
SYMBOLS = {"alpha": "α", "beta": "β"}
FIELDS = ("parameter", "value", "method", "noise", "mean", "std", "n")


def write_sensitivity(data: dict[str, Any], folder: Path) -> list[Path]:
    """The files made of what is there: nothing where no run is."""
    lines = points(data)
    if not lines:
        return []
    folder.mkdir(parents=True, exist_ok=True)
    table = folder / f"{STEM}.csv"
    with table.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
    return [table, *save_figure(draw(lines), folder / STEM)]


def points(data: dict[str, Any]) -> list[dict[str, Any]]:
    """A line per point with a run: which parameter at which value, of whom, at which noise, and the accuracy."""
    lines = []
    for table in data["tables"]:
        parameter = table["table"].rpartition("-")[2]
        for cell in table["cells"]:
            method, _, value = cell["row"].rpartition(", ")
            if cell["n"]:
                point = {"parameter": parameter, "value": float(value), "method": method, "noise": cell["column"]}
                lines.append({**point, **{name: cell[name] for name in ("mean", "std", "n")}})
    return lines


def draw(lines: list[dict[str, Any]]) -> Figure:
    """A panel per parameter, a curve per method and noise."""
    parameters = list(dict.fromkeys(line["parameter"] for line in lines))
    figure = Figure(figsize=(5.5 * len(parameters), 4), layout="constrained")
    panels = figure.subplots(1, len(parameters), squeeze=False)[0]
    for axes, parameter in zip(panels, parameters, strict=True):
        _panel(axes, parameter, [line for line in lines if line["parameter"] == parameter])
    return figure


def _panel(axes: Axes, parameter: str, lines: list[dict[str, Any]]) -> None:
    values = sorted({line["value"] for line in lines})
    curves = defaultdict(list)
    for line in lines:
        curves[line["method"], line["noise"]].append(line)
    noises = list(dict.fromkeys(noise for _, noise in curves))
    for (method, noise), curve in curves.items():
        axes.errorbar(
            [values.index(line["value"]) for line in curve],
            [line["mean"] for line in curve],
            [line["std"] or 0.0 for line in curve],
            color=f"C{noises.index(noise)}",
            linestyle="-" if method == "smart" else "--",
            marker="o",
            markersize=4,
            capsize=2,
            label=f"{method}, {noise}",
        )
    axes.set_xticks(range(len(values)), [f"{value:g}" for value in values])
    axes.set(xlabel=SYMBOLS[parameter], ylabel="accuracy, %")
    axes.legend(frameon=False, fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)
