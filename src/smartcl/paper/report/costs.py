"""Costs of runs: processor seconds by method, and every run in a list."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from smartcl.paper.experiments.catalogue import TABLES
from smartcl.paper.report.charts import Bar, bar_chart
from smartcl.paper.report.grid import Cell, Grid
from smartcl.paper.report.loaded_runs import Result, Runs, mean_and_spread, numbers
from smartcl.paper.report.page_figure import PageFigure, key_of

#: Trains when a prediction is asked for; what is counted is learning, not testing.
LEARNS_WHEN_ASKED = "GDumb trains when it is asked, which is in testing: its seconds are those of storing alone."


def cost(runs: Runs) -> PageFigure:
    """The processor seconds of learning Disjoint MNIST once, by method."""
    title = "What a run costs"
    bars: list[Bar] = []
    counts = []
    for name, column in (("table1", "300"), ("table5", "300")):
        table = TABLES[name]
        for row in table.rows:
            seconds = [each["cpu_seconds"] for each in runs.of_cell(table, row, column) if "cpu_seconds" in each]
            if seconds and row.label not in [bar.key.label for bar in bars]:
                mean, spread = mean_and_spread(seconds)
                bars.append(Bar(key_of(row), mean, f"{row.label}: {mean:.1f} ± {spread:.1f} s (n = {len(seconds)})"))
                counts.append(len(seconds))
    if not bars:
        return PageFigure("cost", title, missing="smartcl reproduce table1 --column 300")
    bars.sort(key=lambda bar: bar.value)
    caption = (
        "Processor seconds spent learning Disjoint MNIST once, at the bytes of 300 images, one thread: mean of "
        f"{numbers(counts)}, loading and testing not counted. Runs shared the machine with others: take small "
        "differences as none."
    )
    if any(bar.key.name == "gdumb" for bar in bars):
        caption = f"{caption} {LEARNS_WHEN_ASKED}"
    drawing = bar_chart(bars, "CPU seconds", "Processor seconds by method")
    return PageFigure("cost", title, caption, (("", drawing),))


def cost_grid(runs: Runs) -> Grid:
    """One line for the seeds of a setting."""
    groups: dict[tuple[str, ...], list[Result]] = defaultdict(list)
    for result in runs.all:
        spec = result["spec"]
        groups[(spec["dataset"], spec["method"], _settings(spec), spec["memory"], spec["noise"])].append(result)
    lines = []
    for names, each in sorted(groups.items()):
        means = [_mean(each, name) for name in ("accuracy", "samples_held", "memory_bytes", "cpu_seconds", "seconds")]
        lines.append((*map(Cell.of, names), Cell.of(len(each), 0), *map(Cell.of, means, (2, 0, 0, 1, 1))))
    heads = ("data set", "method", "parameters", "memory", "noise", "runs", "accuracy, %", "samples held", "bytes held")
    note = LEARNS_WHEN_ASKED if any(result["spec"]["method"] == "gdumb" for result in runs.all) else ""
    return Grid(
        "runs", "Every setting that was run, mean of its seeds", (*heads, "CPU s", "wall s"), tuple(lines), note
    )


def _settings(spec: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in sorted(spec["parameters"].items()))


def _mean(results: list[Result], name: str) -> float | None:
    values = [result[name] for result in results if result.get(name) is not None]
    return sum(values) / len(values) if values else None
