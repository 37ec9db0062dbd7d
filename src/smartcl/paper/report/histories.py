"""Figures along the stream: the memory's samples, bytes and purity, accuracy by task, Eq. 2."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from smartcl.paper.experiments.catalogue import TABLES
from smartcl.paper.experiments.run_table import Row
from smartcl.paper.report.charts import Axis, Point, Series, heat_map, line_chart
from smartcl.paper.report.loaded_runs import REFERENCES, Result, Runs, mean_and_spread, numbers
from smartcl.paper.report.page_figure import PageFigure, key_of
from smartcl.paper.report.svg import Drawing

Found = list[tuple[Row, list[Result]]]
HistoryColumn = Callable[[Result], dict[int, float]]

#: Without a bounded memory there is nothing to follow.
UNBOUNDED = (*REFERENCES, "finetune")
#: What must have been looked at along a run to draw it.
LOOKED_AT = ("batches", "samples", "bytes", "purity")
#: Shown first where there is room for a few methods only.
PREFERRED = ("smart", "gss-greedy", "er", "smart-paper", "gss-iqp", "der++", "gss-clust", "fss-clust")


def few(found: Found, many: int) -> Found:
    """The rows to show where there is room for few: ours, the paper's policy, the plain one; then whatever there is.

    Of each method the first row.
    """
    order = {method: i for i, method in enumerate(PREFERRED)}
    firsts = {row.method: (row, each) for row, each in reversed(found)}
    return sorted(firsts.values(), key=lambda pair: order.get(pair[0].method, len(order)))[:many]


def matrices(runs: Runs) -> PageFigure:
    """The matrices of up to three methods at the bytes of 300 images, clean labels."""
    shown = few(with_runs(runs, "table1", "300"), 3)
    title = "What is remembered of each task"
    if not shown:
        return PageFigure("matrix", title, missing="smartcl reproduce table1 --column 300")
    caption = (
        "Accuracy (%) on each task's test set after each task of Disjoint MNIST, at the bytes of 300 images: mean of "
        f"{_counts(shown)}. Read a column downwards to see a task being forgotten; "
        "right of the diagonal are tasks not learned yet, and 50 is chance."
    )
    return PageFigure("matrix", title, caption, tuple((row.label, _matrix(row.label, each)) for row, each in shown))


def memory(runs: Runs) -> PageFigure:
    found = with_runs(runs, "table1", "300")
    title = "The memory over time"
    if not found:
        return PageFigure("memory", title, missing="smartcl reproduce table1 --column 300")
    panels = (
        ("samples", _drawing(found, lambda r: column(r, "memory_history", "samples"), "samples held", low=0)),
        ("bytes", _drawing(found, lambda r: column(r, "memory_history", "bytes", 1000), "kB held", low=0)),
    )
    caption = (
        f"How many samples and bytes each memory holds along the stream of Disjoint MNIST, at the bytes of 300 images: "
        f"mean of {_counts(found)}. Where lines coincide, the one in front hides the others."
    )
    return PageFigure("memory", title, caption, panels)


def purity(runs: Runs) -> PageFigure:
    found = with_runs(runs, "table2", "30%")
    title = "Purity of the memory at 30% wrong labels"
    if not found:
        return PageFigure("purity", title, missing="smartcl reproduce table2 --column 30%")
    drawing = _drawing(
        found, lambda r: column(r, "memory_history", "purity", 0.01), "stored labels that are true, %", spread=True
    )
    caption = (
        f"Share of the stored samples whose label is the true one, while three in ten arrive with a foreign digit's "
        f"label: mean of {_counts(found)}. A blind choice keeps 83%, not 70%: labels are 0 or 1, and four of the nine "
        "foreign digits carry the right one."
    )
    return PageFigure("purity", title, caption, (("", drawing),))


def constraint(runs: Runs) -> PageFigure:
    found = [(row, each) for row, each in with_runs(runs, "table1", "300") if any(map(cosines, each))]
    title = "Does a new batch agree with the memory? (Eq. 2)"
    if not found:
        return PageFigure("constraint", title, missing="smartcl reproduce table1 --column 300")
    shown = few(found, 3)
    drawing = _drawing(shown, cosines, "cosine of the two gradients", low=-1, high=1)
    shares = []
    for row, each in shown:
        values = [value for result in each for value in cosines(result).values()]
        shares.append(f"{sum(v >= 0 for v in values) / len(values):.0%} ({row.label})")
    caption = (
        f"Cosine between the gradient of the next batch and that of the memory, before the batch is learned: mean of "
        f"{_counts(shown)}. Eq. 2 asks for no less than zero; it holds in {', '.join(shares)} of the looks."
    )
    return PageFigure("constraint", title, caption, (("", drawing),))


def cosines(result: Result) -> dict[int, float]:
    return column(result, "constraint_history", "cosine")


def column(result: Result, history: str, name: str, divide: float = 1) -> dict[int, float]:
    """A quantity by the number of batches seen; what was not finite is left out."""
    columns = result.get(history) or {}
    pairs = zip(columns.get("batches", ()), columns.get(name, ()), strict=True)
    return {batches: value / divide for batches, value in pairs if value is not None}


def with_runs(runs: Runs, name: str, at: str) -> Found:
    """The rows of a table that have runs in a column, with the runs; those without a bounded memory left out."""
    table = TABLES[name]
    rows = [row for row in table.rows if row.method not in UNBOUNDED]
    found = [
        (row, [r for r in runs.of_cell(table, row, at) if all(map(r.get("memory_history", {}).get, LOOKED_AT))])
        for row in rows
    ]
    return [(row, each) for row, each in found if each]


def _drawing(
    found: Found,
    values: HistoryColumn,
    name: str,
    low: float | None = None,
    high: float | None = None,
    spread: bool = False,
) -> Drawing:
    series = []
    for row, results in found:
        each = [values(result) for result in results]
        common = sorted(set(each[0]).intersection(*each[1:]))
        averages = [(batches, *mean_and_spread([one[batches] for one in each])) for batches in common]
        points = [Point(batches, mean, deviation if spread else 0.0) for batches, mean, deviation in averages]
        series.append(Series(key_of(row), points, width=3.0 if row.method == "smart" else 1.8))
    flat = [point for each in series for point in each.points]
    return line_chart(
        series,
        Axis.around("batches seen", [point.x for point in flat], low=0, high=max(point.x for point in flat)),
        Axis.around(name, [point.y for point in flat], low, high),
        f"{name} along the stream: {', '.join(each.key.label for each in series)}",
    )


def _matrix(label: str, results: list[Result]) -> Drawing:
    mean = np.mean([result["accuracy_matrix"] for result in results], axis=0)
    names = [(i, str(i + 1)) for i in range(len(mean))]
    after = [(i, f"task {name}") for i, name in names]
    return heat_map(mean.tolist(), after, names, ("after", "tested on task"), f"Accuracy matrix of {label}")


def _counts(found: Found) -> str:
    return numbers([len(each) for _, each in found])
