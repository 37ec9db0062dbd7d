"""Results made by hand, with numbers a test can add up: no training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from smartcl.paper.experiments.catalogue import TABLES
from smartcl.paper.experiments.results import ResultFolder
from smartcl.paper.experiments.run_spec import RunSpec
from smartcl.paper.experiments.run_table import EXACT_VALUES, Row

MATRIX = [[99.0, 40.0], [81.0, 97.0]]


def row_of(table: str, label: str) -> Row:
    return next(row for row in TABLES[table].rows if row.label == label)


def made(spec: RunSpec, accuracy: float, **other: Any) -> dict[str, Any]:
    """A result of a run of four batches and two tasks."""
    return {
        "accuracy": accuracy,
        "accuracy_matrix": MATRIX,
        "accuracy_per_task": MATRIX[-1],
        "samples_held": 30,
        "memory_bytes": 900,
        "budget_bytes": 784 * int(spec.memory.split()[0]),
        "memory_history": {
            "batches": [1, 2, 3, 4],
            "samples": [10, 20, 30, 30],
            "bytes": [300, 600, 900, 900],
            "purity": [1.0, 0.9, 0.8, 0.8],
        },
        "constraint_history": {"batches": [2, 3, 4], "cosine": [0.5, -0.25, None]},
        "seconds": 2.0,
        "cpu_seconds": 1.5,
        "spec": spec.as_dict(),
        "settings": spec.settings,
        "versions": {"smartcl": "0.1.0"},
        **other,
    }


def save(folder: Path, table: str, label: str, column: str, accuracies: list[float], **other: Any) -> None:
    """One result for each accuracy, seeds from 0."""
    for seed, accuracy in enumerate(accuracies):
        spec = TABLES[table].spec(row_of(table, label), column, seed)
        ResultFolder(folder).save(spec, made(spec, accuracy, **other))


def fill(folder: Path) -> None:
    """A few cells of every table, and a strength that varies."""
    for column, smart, er in (("100", 88.0, 80.0), ("300", 94.0, 90.0), ("500", 96.0, 91.0)):
        save(folder, "table1", "smart", column, [smart - 1, smart + 1])
        save(folder, "table1", "ER", column, [er])
        save(folder, "table1", "GSS-Greedy", column, [er - 4, er - 2])
    save(folder, "table2", "smart", "30%", [85.0, 87.0])
    save(folder, "table2", "ER", "30%", [74.0])
    save(folder, "table3", "L2", "clean", [66.0])
    save(folder, "table5", "GEM", "300", [89.0, 91.0])
    for alpha, accuracy in ((1e-2, 80.0), (1e-3, 92.0)):
        spec = RunSpec.of({**EXACT_VALUES, "alpha": alpha}, dataset="disjoint-mnist", method="smart")
        ResultFolder(folder).save(spec, made(spec, accuracy))
