"""Tables of the default on real streams, row by row and in fifties, beside peers made in the same way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean, geometric_mean
from typing import Any

from smartcl.learners.methods import USUAL_METHOD
from smartcl.paper.datasets.real_tasks import LABELS, RealTask, rows_of_stream
from smartcl.paper.experiments.measures import SCORES
from smartcl.paper.experiments.published import Cells
from smartcl.paper.experiments.results import ResultFolder
from smartcl.paper.experiments.run_table import Counted, Row, Table
from smartcl.paper.experiments.streams import places_of
from smartcl.paper.peers.names import REAL_PEERS
from smartcl.paper.scores.prequential import BATCH_ROWS

#: The estimator's own default.
MEMORY = "1MB"
STREAMS = ("elec", "weather", "flights-joined", "bank", "toxicity", "employment", "covtype", "flights-2001")
#: The stream that is a text, which no tree of River's takes, and those with names in their columns.
TEXTS = frozenset({"toxicity"})
#: On flights with aircraft, these keep counts of each tail number in each leaf: 0.2 and 0.6 GB after 1,500 rows.
LARGE = {name: frozenset({"flights-joined"}) for name in ("river-srp", "river-leveraging-bagging")}
TREES = ("river-arf", "river-srp", "river-hat", "river-leveraging-bagging")
METRICS = (*SCORES, "calibration_error", "rows_a_second", "pickled_bytes")
SEEDS = 2
ROWS = "elec and weather whole, the first 20,000 rows of toxicity and 10,000 of the others"

#: Accuracy on elec as published, row by row, with eight columns; here there are six, without the date and the period.
PUBLISHED_ON_ELEC: Cells = {"River ARF": ((87.7, 0.0),), "River leveraging bagging": ((89.3, 0.0),)}


def without_of(name: str) -> frozenset[str]:
    """The streams that a peer cannot take; pairs of words are among the words already."""
    texts = TEXTS if name in (*TREES, "vowpal-wabbit-pairs") else frozenset()
    return texts | LARGE.get(name, frozenset())


def peer_rows(without: Sequence[str] = ()) -> tuple[Row, ...]:
    """A row for each peer but those named."""
    return tuple(
        Row(
            peer.label,
            name,
            at={"memory": "none"},
            seeds=None if peer.seeded else 1,
            without=without_of(name),
            printed=peer.label if peer.label in PUBLISHED_ON_ELEC else None,
        )
        for name, peer in REAL_PEERS.items()
        if name not in without
    )


DEFAULT = Row("default", USUAL_METHOD)


def streams_table(name: str, step: int, words: str, peers: tuple[Row, ...]) -> Table:
    """All streams, with this number of rows at a time."""
    return Table(
        name,
        f"Real streams {words}: each row is answered, then learned; {ROWS}",
        None,
        (DEFAULT, *peers),
        STREAMS,
        lambda column: {"dataset": f"{column}-by-{step}", "memory": MEMORY},
        PUBLISHED_ON_ELEC if step == 1 else dict.fromkeys(PUBLISHED_ON_ELEC, ()),
        seeds=SEEDS,
        metrics=METRICS,
    )


ROW_BY_ROW = streams_table("real-rows", 1, "row by row", peer_rows())
#: The trees that learn slowest and row by row in any case have no row in fifties.
IN_FIFTIES = streams_table(
    "real-fifties", BATCH_ROWS, "in fifties", peer_rows(("river-srp", "river-leveraging-bagging"))
)

#: Whose labels are learned, by column.
LABELLED = {"majority": "", **{labels.replace("-", " "): labels for labels in LABELS}}

NOISE_TABLE = Table(
    "real-noise",
    "Toxic comments in the order they were written: learned from these labels, scored on the majority of about ten",
    None,
    (
        DEFAULT,
        *(
            row
            for row in peer_rows()
            if row.method in ("river-logistic", "vowpal-wabbit", "sklearn-sgd", "lightgbm-window")
        ),
    ),
    tuple(LABELLED),
    lambda column: {
        "dataset": RealTask("toxicity", BATCH_ROWS, rows_of_stream("toxicity"), LABELLED[column]).name,
        "memory": MEMORY,
    },
    {},
    seeds=SEEDS,
    metrics=("auc", "accuracy", "balanced_accuracy", "calibration_error"),
)


REAL_STREAM_TABLES = {table.name: table for table in (ROW_BY_ROW, IN_FIFTIES, NOISE_TABLE)}


def with_rows(table: Table, rows: int) -> Table:
    """The same on this number of rows of each stream."""

    def at(column: str) -> dict[str, str]:
        task = RealTask.parse(table.at(column)["dataset"])
        return {**table.at(column), "dataset": replace(task, rows=rows).name}

    return replace(table, at=at, title=f"{table.title.partition(';')[0]}; at most {rows:,} rows of each stream")


#: The streams that every row has: over them places and scores are averaged.
COMMON = tuple(name for name in STREAMS if not any(name in row.without for row in ROW_BY_ROW.rows))


def real_streams_data(tables: Counted, results: ResultFolder) -> dict[str, Any]:
    """Of both tables: the place of each row by accuracy, and its means over the streams that all rows have."""
    return {
        "ranks": {table.name: places(means_of(table, seeds, results, "accuracy")) for table, seeds in tables},
        "points": {table.name: common_means(table, seeds, results) for table, seeds in tables},
    }


def means_of(table: Table, seeds: int, results: ResultFolder, metric: str) -> dict[str, dict[str, float]]:
    """The mean over seeds by column and row, of the cells that have a run."""
    return {
        column: {
            row.label: cell["mean"]
            for row in table.rows
            if (cell := table.cell(row, column, seeds, results, metric))["mean"] is not None
        }
        for column in table.columns
    }


def places(means: Mapping[str, Mapping[str, float]]) -> list[dict[str, Any]]:
    """Of each row its place on every stream, how far it is behind the first, and the mean place on ``COMMON``."""
    found = {column: places_of(values) for column, values in means.items() if values}
    shared = [column for column in COMMON if column in found]
    lines = []
    for row in dict.fromkeys(row for values in means.values() for row in values):
        own = {column: values[row] for column, values in found.items() if row in values}
        behind = {column: max(means[column].values()) - means[column][row] for column in own}
        mean = fmean(own[column] for column in shared) if shared and own.keys() >= set(shared) else None
        lines.append({"row": row, "mean": mean, "places": own, "behind": behind})
    return lines


def common_means(table: Table, seeds: int, results: ResultFolder) -> list[dict[str, Any]]:
    """Of each row that has a run on all of ``COMMON``: mean accuracy, and geometric means of speed and state."""
    found = {
        metric: means_of(table, seeds, results, metric) for metric in ("accuracy", "rows_a_second", "pickled_bytes")
    }
    return [
        {
            "row": row.label,
            "accuracy": fmean(found["accuracy"][column][row.label] for column in COMMON),
            "rows_a_second": geometric_mean(found["rows_a_second"][column][row.label] for column in COMMON),
            "pickled_bytes": geometric_mean(found["pickled_bytes"][column][row.label] for column in COMMON),
        }
        for row in table.rows
        if all(row.label in values[column] for values in found.values() for column in COMMON)
    ]
