"""Runs that settings are chosen by: they see no test data and no seed of another table.

Table 3 on equal terms: each regulariser's strength, from one grid around its usual one, by validation accuracy. A fifth
of the training images is held out and nothing of the test set is seen; labels are clean, as for the usual strengths.
The choice is kept in ``strengths.json``, and Table 3 has a row for each; ``smartcl reproduce table3-tuning --out
src/smartcl/paper/experiments`` makes it.

How many steps a batch ``smart`` should take on event streams: each stream is cut off where its training days end and
split again (``panel.rehearsal``). One number for all streams: the best mean AUC.
"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

from smartcl.learners.methods import find_method
from smartcl.paper.experiments.measures import SCORES
from smartcl.paper.experiments.paper_tables import CIVIL, FLU, REGULARISERS, STRENGTHS, events, foreign
from smartcl.paper.experiments.results import ResultFolder
from smartcl.paper.experiments.run_spec import RunSpec
from smartcl.paper.experiments.run_table import EXACT_VALUES, Counted, Row, Table

#: Times the usual strength, the same for every method.
FACTORS = (0.01, 0.1, 1.0, 10.0, 100.0)
#: Steps a batch on event streams.
STEPS = (1, 2, 5, 10, 20)

#: Apart from the seeds 0, 1, ... of the tables.
FIRST_SEED = 1000


class ValidationTable(Table):
    """A table whose seeds begin elsewhere."""

    def spec(self, row: Row, column: str, seed: int) -> RunSpec:
        return super().spec(row, column, FIRST_SEED + seed)


def candidates() -> tuple[Row, ...]:
    """A row for each regulariser and factor."""
    return tuple(
        Row(f"{row.label}, {strength:g}", row.method, {"strength": strength})
        for row in REGULARISERS
        if "strength" in find_method(row.method).parameters
        for strength in (factor * find_method(row.method).parameters["strength"] for factor in FACTORS)
    )


STRENGTH_RUNS = ValidationTable(
    "table3-tuning",
    "Split MNIST without memory: accuracy on held-out training images by method and strength",
    "split-mnist-validation",
    candidates(),
    ("clean",),
    foreign,
    {},
    seeds=2,
)


STEP_RUNS = ValidationTable(
    "events-tuning",
    "Event streams cut off where training ends, 300 samples' bytes, values exact: scores of smart by steps a batch",
    None,
    tuple(Row(f"{steps}", "smart", {**EXACT_VALUES, "iterations": steps}) for steps in STEPS),
    tuple(f"{name}-validation" for name in (*CIVIL, *FLU)),
    partial(events, "none"),
    {},
    seeds=2,
    metrics=tuple(SCORES),
)


def strength_data(tables: Counted, results: ResultFolder) -> dict[str, Any]:
    """The strengths chosen, and those of them that lie at the edge of the grid."""
    found: dict[str, float] = {}
    for table, seeds in tables:
        found |= best_strengths(table, seeds, results)
    return {"chosen": found, "at_the_edge": at_the_edge(found)}


def best_strengths(table: Table, seeds: int, results: ResultFolder) -> dict[str, float]:
    """The strength with the best mean of each method whose runs are all there; of equals, the smallest."""
    means: dict[str, dict[float, float]] = {}
    for row in table.rows:
        cell = table.cell(row, table.columns[0], seeds, results)
        if cell["n"] == seeds:
            means.setdefault(row.method, {})[row.parameters["strength"]] = cell["mean"]
    whole = {method: found for method, found in means.items() if len(found) == len(FACTORS)}
    return {method: max(found, key=lambda strength: (found[strength], -strength)) for method, found in whole.items()}


def at_the_edge(strengths: dict[str, float]) -> list[str]:
    """The methods whose best strength is the smallest or largest tried: a better one may lie beyond."""
    return [
        method
        for method, strength in strengths.items()
        if strength / find_method(method).parameters["strength"] in (FACTORS[0], FACTORS[-1])
    ]


def write_strengths(data: dict[str, Any], folder: Path) -> list[Path]:
    """``strengths.json``, once every method has been tuned."""
    strengths = data["chosen"]
    if not strengths or strengths.keys() != {row.method for row in candidates()}:
        return []
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / STRENGTHS.name
    path.write_text(json.dumps(strengths, indent=1) + "\n", encoding="utf-8")
    return [path]


def step_data(tables: Counted, results: ResultFolder) -> dict[str, Any]:
    """The mean scores, and the steps they choose."""
    [(table, seeds)] = tables
    means = mean_scores(table, seeds, results)
    return {"means": means, "chosen": best_steps(means)}


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
