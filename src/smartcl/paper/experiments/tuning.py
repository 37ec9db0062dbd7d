"""Table 3 on equal terms: each regulariser's strength, from one grid around its usual one, by validation accuracy.

A fifth of the training images is held out and nothing of the test set is seen; labels are clean, as for the usual
strengths; seeds are none of those the tables use. The choice is kept in ``strengths.json``, made by
``smartcl reproduce table3-tuning --out src/smartcl/experiments``, and Table 3 has a row for each.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from smartcl.learners.methods import find_method
from smartcl.paper.experiments.results import ResultFolder
from smartcl.paper.experiments.spec import RunSpec
from smartcl.paper.experiments.table import Row, Table
from smartcl.paper.experiments.tables import REGULARISERS, STRENGTHS, foreign

#: Times the usual strength, the same for every method.
FACTORS = (0.01, 0.1, 1.0, 10.0, 100.0)

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


TUNING = ValidationTable(
    "table3-tuning",
    "Split MNIST without memory: accuracy on held-out training images by method and strength",
    "split-mnist-validation",
    candidates(),
    ("clean",),
    foreign,
    {},
    seeds=2,
)


def chosen(table: Table, seeds: int, results: ResultFolder) -> dict[str, float]:
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
