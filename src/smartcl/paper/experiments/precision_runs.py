"""Runs at several precisions: accuracy against bytes, on images, words and dense floats."""

from __future__ import annotations

from typing import Any

from smartcl.paper.experiments.paper_tables import SMART_EXACT
from smartcl.paper.experiments.published import TABLE_1
from smartcl.paper.experiments.results import ResultFolder
from smartcl.paper.experiments.run_table import Counted, Row, Table

AUTO = Row("smart", "smart")
IN_CODE = Row("smart, values exact, in code", "smart", {"precision": "exact"})

#: A whole MNIST image, in bytes, and the numbers of images whose bytes the paper's memory had.
IMAGE_NBYTES = 784
PUBLISHED_IMAGES = (100, 200, 300, 400, 500)

BYTES_RUNS = Table(
    "figure-bytes",
    "Disjoint MNIST: accuracy by the images whose bytes the memory may take",
    "disjoint-mnist",
    (AUTO, IN_CODE, SMART_EXACT),
    ("5", "10", "30", "100", "300", "500"),
    lambda column: {"memory": f"{column} samples"},
    {},
)

ELSEWHERE = {
    "100 images, 30% foreign": {"dataset": "disjoint-mnist", "memory": "100 samples", "noise": "foreign:0.3"},
    "100 images, 50% foreign": {"dataset": "disjoint-mnist", "memory": "100 samples", "noise": "foreign:0.5"},
    "newsgroups, 256 kB": {"dataset": "newsgroups", "memory": "256kB"},
    "newsgroups, 1 MB": {"dataset": "newsgroups", "memory": "1MB"},
    "64 floats, 100 rows": {"dataset": "projected-mnist", "memory": "100 samples"},
    "64 floats, 400 rows": {"dataset": "projected-mnist", "memory": "400 samples"},
}

PRECISION_TABLE = Table(
    "precision",
    "The same bytes at several precisions: wrong labels, words, dense floats",
    None,
    (AUTO, IN_CODE, SMART_EXACT),
    tuple(ELSEWHERE),
    ELSEWHERE.__getitem__,
    {},
    metrics=("accuracy", "samples_held"),
)


def bytes_data(tables: Counted, results: ResultFolder) -> dict[str, Any]:
    """Accuracy against bytes, row by row, and the paper's own points for SMART."""
    [(table, seeds)] = tables
    points = [
        {"row": cell["row"], "bytes": int(cell["column"]) * IMAGE_NBYTES, **{n: cell[n] for n in ("mean", "std", "n")}}
        for cell in table.cells(seeds, results)
        if cell["n"]
    ]
    published = [
        {"row": "SMART, published", "bytes": images * IMAGE_NBYTES, "mean": mean, "std": deviation, "n": 10}
        for images, (mean, deviation) in zip(PUBLISHED_IMAGES, TABLE_1["SMART"], strict=True)
    ]
    return {"points": points, "published": published}
