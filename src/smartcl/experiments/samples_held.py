"""The figure of samples held along the stream: SMART against storing whole samples, in the same bytes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smartcl.experiments.results import ResultFolder
from smartcl.experiments.spec import RunSpec

MEMORY = "300 samples"
#: The methods of the figure, and how it calls them; the last stores samples whole.
METHODS = {"smart": "smart", "smart-paper": "smart-paper", "er": "whole samples"}
WHOLE = "er"
DATASETS = (
    "disjoint-mnist",
    "civil-brazil",
    "civil-colombia",
    "civil-mexico",
    "civil-paraguay",
    "civil-venezuela",
)


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


def samples_specs(datasets: tuple[str, ...] = DATASETS, seeds: int = 1, memory: str = MEMORY) -> list[RunSpec]:
    """Every run of the figure."""
    return [
        RunSpec(dataset, method, memory, seed=seed)
        for seed in range(seeds)
        for dataset in datasets
        for method in METHODS
    ]


def held_samples(dataset: str, method: str, seeds: int, memory: str, results: ResultFolder) -> HeldSamples | None:
    """From the result files; None where none is there."""
    found = [results.load(RunSpec(dataset, method, memory, seed=seed)) for seed in range(seeds)]
    made = [result for result in found if result is not None]
    if not made:
        return None

    def mean(name: str) -> NDArray[np.float64]:
        values: NDArray[np.float64] = np.mean([result["memory_history"][name] for result in made], axis=0)
        return values

    first = made[0]
    batches = np.array(first["memory_history"]["batches"], dtype=np.int64)
    return HeldSamples(
        dataset, first["stream"], method, len(made), first["budget_bytes"], batches, mean("samples"), mean("bytes")
    )
