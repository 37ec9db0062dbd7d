"""The figure of samples held along the stream: SMART against storing whole samples, in the same bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smartcl.paper.experiments.paper_tables import CIVIL, SMART_EXACT
from smartcl.paper.experiments.results import ResultFolder
from smartcl.paper.experiments.run_table import Counted, Row, Table

MEMORY = "300 samples"
WHOLE = "whole samples"
#: The rows of the figure, by the names it gives them.
ROWS = (Row("smart", "smart"), SMART_EXACT, Row("smart-paper", "smart-paper"), Row(WHOLE, "er"))


def on(dataset: str) -> dict[str, str]:
    return {"dataset": dataset, "memory": MEMORY}


HELD_RUNS = Table(
    "samples-held",
    f"Samples held at the end, in the bytes of {MEMORY}",
    None,
    ROWS,
    ("disjoint-mnist", *CIVIL),
    on,
    {},
    seeds=1,
    metrics=("samples_held",),
)

#: What a curve is made of; a run that was stopped before it noted all of it has none.
NEEDED = {"memory_history", "stream", "budget_bytes"}


@dataclass(frozen=True)
class HeldSamples:
    """What a method held along one stream, in the mean over its seeds."""

    dataset: str
    stream: str
    method: str
    seeds: int
    budget: int
    batches: NDArray[np.int64]
    samples: NDArray[np.float64]
    bytes: NDArray[np.float64]

    def as_dict(self) -> dict[str, Any]:
        """Plain values, as JSON has them."""
        return {name: np.asarray(value).tolist() for name, value in vars(self).items()}

    @classmethod
    def of(cls, values: dict[str, Any]) -> HeldSamples:
        """Back from plain values."""
        columns = {name: np.array(values[name]) for name in ("batches", "samples", "bytes")}
        return cls(**{**values, **columns})


def samples_data(tables: Counted, results: ResultFolder) -> dict[str, Any]:
    """The curves as plain values."""
    return {"curves": [curve.as_dict() for table, seeds in tables for curve in held_curves(table, seeds, results)]}


def held_curves(table: Table, seeds: int, results: ResultFolder) -> Iterator[HeldSamples]:
    """A curve for each data set and row of which any run is there."""
    for column in table.columns:
        for row in table.rows:
            found = [results.load(table.spec(row, column, seed)) for seed in range(seeds)]
            made = [result for result in found if result is not None and result.keys() >= NEEDED]
            made = [result for result in made if _batches(result) == _batches(made[0])]
            if made and _batches(made[0]):
                histories = [result["memory_history"] for result in made]
                samples, sizes = (
                    np.mean([history[name] for history in histories], axis=0) for name in ("samples", "bytes")
                )
                batches = np.array(histories[0]["batches"], dtype=np.int64)
                first = made[0]
                yield HeldSamples(
                    column, first["stream"], row.label, len(made), first["budget_bytes"], batches, samples, sizes
                )


def _batches(result: dict[str, Any]) -> list[int]:
    """When the memory was looked at; never, where it was not looked at for all that a curve needs."""
    history = result["memory_history"]
    whole = history.keys() >= {"batches", "samples", "bytes"} and None not in (*history["samples"], *history["bytes"])
    return list(history["batches"]) if whole else []
