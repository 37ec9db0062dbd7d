"""The paper's tables as grids of runs, with the published cells beside ours."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from smartcl.experiments.published import TABLE_1, TABLE_2, TABLE_3, TABLE_5, Cells
from smartcl.experiments.results import ResultFolder
from smartcl.experiments.spec import RunSpec


@dataclass(frozen=True)
class Row:
    """A method with its parameters; ``printed`` is the row of the paper's table to set beside it."""

    label: str
    method: str
    parameters: dict[str, Any] = field(default_factory=dict)
    printed: str | None = None


@dataclass(frozen=True)
class Table:
    """``at(column)`` says what of a run the column decides (memory, noise)."""

    name: str
    title: str
    dataset: str
    rows: tuple[Row, ...]
    columns: tuple[str, ...]
    at: Callable[[str], dict[str, str]]
    published: Cells
    seeds: int = 5

    def specs(self, seeds: int) -> list[RunSpec]:
        """Every run of the table, all cells of a seed before the next seed."""
        return [self.spec(row, column, seed) for seed in range(seeds) for row in self.rows for column in self.columns]

    def spec(self, row: Row, column: str, seed: int) -> RunSpec:
        return RunSpec.of(row.parameters, dataset=self.dataset, method=row.method, seed=seed, **self.at(column))

    def cell(self, row: Row, column: str, seeds: int, results: ResultFolder) -> dict[str, Any]:
        """Mean, standard deviation and number of the runs that are there, and the published value."""
        found = [results.load(self.spec(row, column, seed)) for seed in range(seeds)]
        values = [result["accuracy"] for result in found if result is not None]
        printed = None if row.printed is None else self.published[row.printed]
        return {
            "row": row.label,
            "column": column,
            "mean": fmean(values) if values else None,
            "std": stdev(values) if len(values) > 1 else None,
            "n": len(values),
            "published": None if printed is None else printed[TABLES[self.name].columns.index(column)][0],
        }


def memory(column: str) -> dict[str, str]:
    return {"memory": f"{column} samples"}


def foreign(column: str) -> dict[str, str]:
    return {"memory": "300 samples", "noise": "none" if column == "clean" else f"foreign:0.{column[0]}"}


PAPER_SELECTORS = (
    *(Row(name, name.lower(), printed=name) for name in ("GSS-Clust", "FSS-Clust", "GSS-IQP", "GSS-Greedy")),
    Row("FSS-Clust on logits", "fss-clust", {"layer": "logits"}, printed="FSS-Clust"),
)
SMART_ROWS = (Row("SMART, paper's settings", "smart-paper", printed="SMART"), Row("smart", "smart"))
BEYOND = (
    Row("ER", "er"),
    Row("GDumb", "gdumb"),
    Row("DER++", "der++"),
    Row("ER-ACE", "er-ace"),
    Row("joint training", "joint"),
)

#: Table 3 repeats each task four times: one step a batch, with the coefficients of Hsu et al. 2018.
REGULARISERS = (
    Row("Vanilla", "finetune", {"iterations": 1, "lr": 1e-3, "init": "fan-in"}, printed="Vanilla"),
    *(Row(name, name.lower(), printed=name) for name in ("EWC", "SI", "L2", "MAS", "NCC")),
    Row("online EWC", "ewc-online"),
)

#: The strengths that ``tuning.py`` chose.
STRENGTHS = Path(__file__).with_name("strengths.json")


def tuned_rows(path: Path) -> tuple[Row, ...]:
    """The regularisers again, with the strengths of this file; none while there is no such file."""
    strengths = json.loads(path.read_text()) if path.exists() else {}
    return tuple(
        Row(f"{row.label}, tuned", row.method, {"strength": strengths[row.method]}, row.printed)
        for row in REGULARISERS
        if row.method in strengths
    )


TABLES = {
    table.name: table
    for table in (
        Table(
            "table1",
            "Disjoint MNIST: accuracy by memory (in whole images' bytes)",
            "disjoint-mnist",
            (*PAPER_SELECTORS, *SMART_ROWS, *BEYOND),
            ("100", "200", "300", "400", "500"),
            memory,
            TABLE_1,
        ),
        Table(
            "table2",
            "Disjoint MNIST, 300 images' bytes: accuracy by share of foreign labels",
            "disjoint-mnist",
            (*PAPER_SELECTORS, *SMART_ROWS, *BEYOND),
            ("clean", "10%", "20%", "30%", "40%", "50%"),
            foreign,
            TABLE_2,
        ),
        Table(
            "table3",
            "Split MNIST without memory: accuracy by share of foreign labels",
            "split-mnist",
            (*REGULARISERS, *tuned_rows(STRENGTHS)),
            ("clean", "10%", "30%", "50%", "70%"),
            foreign,
            TABLE_3,
        ),
        Table(
            "table5",
            "Task-aware methods: Disjoint MNIST, 300 images' bytes",
            "disjoint-mnist",
            (
                Row("iCaRL", "icarl", printed="iCaRL"),
                Row("iCaRL on raw outputs", "icarl", {"layer": "logits"}, printed="iCaRL"),
                Row("GEM", "gem", printed="GEM"),
                Row("A-GEM", "a-gem"),
                *SMART_ROWS,
            ),
            ("300",),
            memory,
            TABLE_5,
        ),
    )
}
