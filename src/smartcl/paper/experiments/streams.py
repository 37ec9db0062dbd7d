"""The suite of streams as a table: ``smart``, the same with every guard off, and the peers, all in one run order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from statistics import fmean
from typing import Any

import numpy as np

from smartcl.paper.datasets.stream_suite import SEEDS, SUITE
from smartcl.paper.experiments.measures import COSTS, STREAM_SCORES
from smartcl.paper.experiments.results import ResultFolder
from smartcl.paper.experiments.table import Counted, Row, Table
from smartcl.paper.peers.names import PEERS
from smartcl.paper.scores.prequential import BATCH_ROWS

#: The estimator's own default; every row of ours has it. Peers take what they take.
MEMORY = "1MB"

#: Nothing that guards against wrong labels or forgetting: what ``smart`` must not fall behind on any stream.
GUARDS_OFF: dict[str, Any] = {
    **{"dropout": 0.0, "robust": 0.0, "distill": 0.0, "trust": False, "smoothing": 0.0},
    **{"lr": 1e-3, "average": 0.98},
}

SMART = Row("smart", "smart")
UNGUARDED = Row("smart, guards off", "smart", GUARDS_OFF)
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
    metrics=("accuracy", "auc", *STREAM_SCORES, *COSTS),
)

#: About so many points has a curve of accuracy over time.
POINTS = 20


def streams_data(tables: Counted, results: ResultFolder) -> dict[str, Any]:
    """Ranks, margins to the best peer, and accuracy over time."""
    return {}
