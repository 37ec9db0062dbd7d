"""The suite of streams as a table: ``adaptive``, ``smart`` without guards, and the peers, all in one run order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smartcl.paper.datasets.stream_suite import SEEDS, SUITE
from smartcl.paper.experiments.measures import STREAM_SCORES
from smartcl.paper.experiments.results import ResultFolder
from smartcl.paper.experiments.run_table import EXACT_VALUES, Counted, Row, Table
from smartcl.paper.peers.names import PEERS
from smartcl.paper.scores.prequential import BATCH_ROWS

#: The estimator's own default; every row of ours has it. Peers take what they take.
MEMORY = "1MB"

#: Nothing that guards against wrong labels or forgetting: what ``adaptive`` must not fall behind on any stream.
GUARDS_OFF: dict[str, Any] = {
    **EXACT_VALUES,
    **{"dropout": 0.0, "robust": 0.0, "distill": 0.0, "trust": False, "smoothing": 0.0},
    **{"lr": 1e-3, "average": 0.98},
}

SMART = Row("adaptive", "adaptive")
UNGUARDED = Row("smart, guards off, values exact", "smart", GUARDS_OFF)
ROWS = (SMART, UNGUARDED, *(Row(peer.label, name, at={"memory": "none"}) for name, peer in PEERS.items()))

STREAM_RUNS = Table(
    "streams",
    "Streams of tables, in drift, out of scale, out of balance: predict each batch of 50, then learn it",
    None,
    ROWS,
    tuple(SUITE),
    lambda column: {"dataset": column, "memory": MEMORY},
    {},
    seeds=SEEDS,
    metrics=("accuracy", "auc", *STREAM_SCORES, "cpu_seconds", "pickled_bytes"),
)

#: About the number of points of a curve of accuracy over time.
POINTS = 25
#: The stream that is reversed and comes back. The first number of rows after the start, and after each change, says how
#: fast it is learned; the later of them, from the second number on, how well. The first batch after a change cannot be
#: foreseen.
RETURNING, FIRST_ROWS, LATER_ROWS = "sine-return", 1000, 500


def streams_data(tables: Counted, results: ResultFolder) -> dict[str, Any]:
    """Who is where on each stream, how far from the best peer, how fast after a change, and accuracy over time."""
    [(table, seeds)] = tables
    means = {
        column: {
            row.label: cell["mean"]
            for row in table.rows
            if (cell := table.cell(row, column, seeds, results, SUITE[column].ranked_by))["n"]
        }
        for column in table.columns
    }
    curves = [
        curve for column in table.columns for row in table.rows if (curve := _curve(table, row, column, seeds, results))
    ]
    return {
        "ranks": _ranks(table, means),
        "margins": [_margin(column, found) for column, found in means.items() if found],
        "curves": curves,
    }


def _ranks(table: Table, means: Mapping[str, Mapping[str, float]]) -> list[dict[str, Any]]:
    """Of each row its place on every stream, and their mean if it has a place on all that any row has run."""
    places = {column: places_of(found) for column, found in means.items() if found}
    lines = []
    for row in table.rows:
        own = {column: found[row.label] for column, found in places.items() if row.label in found}
        if own:
            mean = fmean(own.values()) if own.keys() == places.keys() else None
            lines.append({"row": row.label, "mean": mean, "places": own})
    return lines


def places_of(means: Mapping[str, float]) -> dict[str, float]:
    """The largest first; those that are equal share the mean of their places.

    >>> places_of({"a": 90.0, "b": 92.0, "c": 90.0})
    {'a': 2.5, 'b': 1.0, 'c': 2.5}
    """
    values = list(means.values())
    return {name: sum(value > own for value in values) + (values.count(own) + 1) / 2 for name, own in means.items()}


def _margin(column: str, means: Mapping[str, float]) -> dict[str, Any]:
    """``adaptive`` against the best peer and against ``smart`` without guards, in what the stream is ranked by."""
    peers = {peer.label: means[peer.label] for peer in PEERS.values() if peer.label in means}
    best = max(peers, key=peers.__getitem__, default=None)
    ours, bare = means.get(SMART.label), means.get(UNGUARDED.label)
    theirs = None if best is None else peers[best]
    return {
        "column": column,
        "metric": SUITE[column].ranked_by,
        "smart": ours,
        "guards_off": bare,
        "best_peer": best,
        "peer": theirs,
        "to_peer": None if ours is None or theirs is None else ours - theirs,
        "to_guards_off": None if ours is None or bare is None else ours - bare,
    }


def _curve(table: Table, row: Row, column: str, seeds: int, results: ResultFolder) -> dict[str, Any] | None:
    """Accuracy by window in the mean over seeds, and how it is in the first rows after the start and each change."""
    found = [results.load(table.spec(row, column, seed)) for seed in range(seeds)]
    made = [result for result in found if result is not None and result.keys() >= {"correct", "rows", "drifts"}]
    if not made:
        return None
    first = made[0]
    right = np.mean([result["correct"] for result in made], axis=0)
    ends, accuracy = over_time(right, first["rows"], first["drifts"])
    starts = [0, *first["drifts"]]
    return {
        "column": column,
        "row": row.label,
        "n": len(made),
        "drifts": first["drifts"],
        "gradual": first["gradual"],
        "rows": ends,
        "accuracy": accuracy,
        "after": [accuracy_between(right, start, start + FIRST_ROWS, first["rows"]) for start in starts],
        "later": [accuracy_between(right, start + LATER_ROWS, start + FIRST_ROWS, first["rows"]) for start in starts],
    }


def over_time(correct: NDArray[np.float64], rows: int, drifts: Sequence[int]) -> tuple[list[int], list[float]]:
    """Where each window ends, and the accuracy in it, from the right predictions of every batch after the first.

    No window is of two concepts: what lies between two drifts is cut into windows of about the same length.
    """
    length = rows / POINTS
    seams = [BATCH_ROWS, *drifts, rows]
    ends = [
        int(last if cut == cuts else first + (last - first) * cut // cuts // BATCH_ROWS * BATCH_ROWS)
        for first, last in pairwise(seams)
        for cuts in [max(1, round((last - first) / max(length, BATCH_ROWS)))]
        for cut in range(1, cuts + 1)
    ]
    windows = list(pairwise([BATCH_ROWS, *ends]))
    return ends, [accuracy_between(correct, start, end, rows) for start, end in windows]


def accuracy_between(correct: NDArray[np.float64], start: int, end: int, rows: int) -> float:
    """In percent, of the batches that begin in these rows; the first is not predicted."""
    batches = range(max(start, BATCH_ROWS) // BATCH_ROWS, -(-min(end, rows) // BATCH_ROWS))
    seen = sum(min(BATCH_ROWS, rows - batch * BATCH_ROWS) for batch in batches)
    return float(100.0 * sum(correct[batch - 1] for batch in batches) / seen)
