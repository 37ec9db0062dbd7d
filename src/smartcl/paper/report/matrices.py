"""The accuracy matrix as a heat map: what is known of each task after each task."""

from __future__ import annotations

import numpy as np

from smartcl.paper.report.charts import heat_map
from smartcl.paper.report.figure import Figure
from smartcl.paper.report.histories import few, with_runs
from smartcl.paper.report.runs import Result, Runs, numbers
from smartcl.paper.report.svg import Drawing


def matrices(runs: Runs) -> Figure:
    """The matrices of up to three methods at the bytes of 300 images, clean labels."""
    shown = few(with_runs(runs, "table1", "300"), 3)
    title = "What is remembered of each task"
    if not shown:
        return Figure("matrix", title, missing="smartcl reproduce table1 --column 300")
    caption = (
        "Accuracy (%) on each task's test set after each task of Disjoint MNIST, at the bytes of 300 images: mean of "
        f"{numbers([len(each) for _, each in shown])}. Read a column downwards to see a task being forgotten; "
        "right of the diagonal are tasks not learned yet, and 50 is chance."
    )
    return Figure("matrix", title, caption, tuple((row.label, _drawing(row.label, each)) for row, each in shown))


def _drawing(label: str, results: list[Result]) -> Drawing:
    mean = np.mean([result["accuracy_matrix"] for result in results], axis=0)
    names = [(i, str(i + 1)) for i in range(len(mean))]
    after = [(i, f"task {name}") for i, name in names]
    return heat_map(mean.tolist(), after, names, ("after", "tested on task"), f"Accuracy matrix of {label}")
