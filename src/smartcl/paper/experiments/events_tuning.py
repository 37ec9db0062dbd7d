"""How many steps a batch ``smart`` should take on event streams: chosen on training days alone.

Each stream is cut off where its training days end and split again (``panel.rehearsal``), so no test day is seen; seeds
are none of those the tables use. One number for all streams: the best mean AUC.
"""

from __future__ import annotations

from functools import partial
from statistics import fmean

from smartcl.paper.experiments.metrics import SCORES
from smartcl.paper.experiments.results import ResultFolder
from smartcl.paper.experiments.table import Row, Table
from smartcl.paper.experiments.tables import CIVIL, FLU, events
from smartcl.paper.experiments.tuning import ValidationTable

STEPS = (1, 2, 5, 10, 20)

TUNING = ValidationTable(
    "events-tuning",
    "Event streams cut off where training ends, 300 samples' bytes: scores of smart by steps a batch",
    None,
    tuple(Row(f"{steps}", "smart", {"iterations": steps}) for steps in STEPS),
    tuple(f"{name}-validation" for name in (*CIVIL, *FLU)),
    partial(events, "none"),
    {},
    seeds=2,
    metrics=tuple(SCORES),
)


def mean_scores(table: Table, seeds: int, results: ResultFolder) -> dict[str, dict[int, float]]:
    """For each score its mean over the streams, by steps a batch; only of steps whose runs are all there."""
    found: dict[str, dict[int, float]] = {metric: {} for metric in table.metrics}
    for metric in table.metrics:
        for row in table.rows:
            cells = [table.cell(row, column, seeds, results, metric) for column in table.columns]
            if all(cell["n"] == seeds for cell in cells):
                found[metric][row.parameters["iterations"]] = fmean(cell["mean"] for cell in cells)
    return found


def best_steps(means: dict[str, dict[int, float]]) -> int | None:
    """The steps with the best mean AUC; of equals, the fewest.

    >>> best_steps({"auc": {1: 0.6, 5: 0.7, 20: 0.7}})
    5
    """
    auc: dict[int, float] = means["auc"]
    return max(auc, key=lambda steps: (auc[steps], -steps)) if auc else None
