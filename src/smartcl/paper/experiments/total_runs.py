"""Runs in totals of bytes: accuracy against the bytes of the whole state, with and without samples."""

from __future__ import annotations

from typing import Any

from smartcl.data.spec import InputSpec
from smartcl.learners.methods import find_method
from smartcl.learners.total import divided, samples_nbytes, total_nbytes
from smartcl.paper.experiments.results import ResultFolder
from smartcl.paper.experiments.run_spec import RunSpec
from smartcl.paper.experiments.run_table import Counted, Row, Table

#: The signature of Disjoint MNIST.
IMAGES = InputSpec(n_features=784, n_classes=10, dtype="uint8", scale=1 / 255)


class TotalTable(Table):
    """A table whose columns are totals: each run has the settings and the memory that ``divided`` finds for its own."""

    def spec(self, row: Row, column: str, seed: int) -> RunSpec:
        """The run in the bytes of this total, whatever is left of it for samples."""
        method, most = find_method(row.method), total_nbytes(column)
        _, found = divided(method.build, method.settings.changed(row.parameters), IMAGES, most)
        usual = method.settings.as_dict()
        changed = {name: value for name, value in found.as_dict().items() if value != usual.get(name)}
        memory = f"{samples_nbytes(found, IMAGES, most)} B"
        return RunSpec.of(changed, method=row.method, seed=seed, memory=memory, dataset=self.dataset)


TOTAL_RUNS = TotalTable(
    "total-bytes",
    "Disjoint MNIST: accuracy by the bytes of the whole state",
    "disjoint-mnist",
    (
        Row("smart", "smart"),
        Row("RanDumb", "randumb"),
        Row("ER", "er"),
        Row("DER++", "der++"),
    ),
    ("50kB", "200kB", "500kB", "1MB", "3MB", "10MB"),
    lambda column: {},
    {},
    seeds=2,
    metrics=("accuracy", "total_bytes"),
)


def total_data(tables: Counted, results: ResultFolder) -> dict[str, Any]:
    """Accuracy against the bytes that the whole state took, row by row; runs of before bytes were counted have none."""
    [(table, seeds)] = tables
    points = []
    for row in table.rows:
        for column in table.columns:
            accuracy, size = (table.cell(row, column, seeds, results, metric) for metric in ("accuracy", "total_bytes"))
            if size["n"]:
                point = {name: accuracy[name] for name in ("mean", "std", "n")}
                points.append({"row": row.label, "method": row.method, "bytes": size["mean"], **point})
    return {"points": points}
