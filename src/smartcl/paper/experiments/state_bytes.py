"""Bytes of the whole state of runs whose lines do not say them: those of the memory, and what is beside it.

A run's line says ``total_bytes``. Of earlier runs the memory's bytes are known, and the rest is the same for every seed
and every memory of a method: ``python -m smartcl.paper.experiments.state_bytes results`` measures it in short runs, one
step a batch, and writes ``results/state-bytes.json``. What the default's ensemble takes depends on the rows, and is not
measured so.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smartcl.errors import UnavailableError
from smartcl.learners.methods import METHODS
from smartcl.paper.datasets.dataset_registry import DATASETS, load_stream
from smartcl.paper.experiments.results import ResultFolder
from smartcl.saving.atomic import write_file

if TYPE_CHECKING:
    from smartcl.paper.datasets.task_stream import TaskStream

NAME = "state-bytes.json"
#: The method whose state depends on the rows.
BY_ROWS = "adaptive"


def cell_of(spec: Mapping[str, Any]) -> str:
    """The name of a method with its parameters on a data set, which all seeds and memories share.

    >>> cell_of({"dataset": "led", "method": "er", "parameters": {"whole": False}, "seed": 3})
    'led er {"whole": false}'
    """
    return f"{spec['dataset']} {spec['method']} {json.dumps(dict(spec['parameters']), sort_keys=True)}"


def read_beside(folder: Path) -> dict[str, int]:
    """By cell the bytes beside the memory, as they were measured; nothing where they were not."""
    try:
        found = json.loads((folder / NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(cell): size for cell, size in found.items() if type(size) is int} if isinstance(found, dict) else {}


def total_of(result: Mapping[str, Any], beside: Mapping[str, int]) -> int | None:
    """The bytes of the whole state after a run, if they are known.

    >>> total_of({"memory_bytes": 10, "spec": {"dataset": "led", "method": "er", "parameters": {}}}, {"led er {}": 5})
    15
    """
    if "total_bytes" in result:
        return int(result["total_bytes"])
    rest, held = beside.get(cell_of(result["spec"])), result.get("memory_bytes")
    return None if rest is None or held is None else int(held) + rest


def missing_cells(folder: Path, known: Mapping[str, int]) -> Iterator[dict[str, Any]]:
    """A spec of each cell that has runs without ``total_bytes``, data set by data set."""
    seen = set(known)
    for file in ResultFolder(folder).files():
        for line in file.read().values():
            spec, cell = line["spec"], cell_of(line["spec"])
            ours = spec["method"] in METHODS and spec["method"] != BY_ROWS and spec["dataset"] in DATASETS
            if ours and cell not in seen and "total_bytes" not in line:
                seen.add(cell)
                yield spec


def measured_beside(spec: Mapping[str, Any], stream: TaskStream) -> int:
    """The bytes beside the memory after a short run: of images a batch a task, of sparse rows all of them."""
    method = METHODS[spec["method"]]
    short = {name: 1 for name in ("iterations", "epochs") if name in method.parameters}
    learner = method.learner(stream.spec, "1MB", 0, **{**spec["parameters"], **short})
    for number in range(len(stream.tasks)):
        batches = list(stream.batches_of(number))
        for batch in batches if stream.spec.sparse else batches[:1]:
            learner.observe(batch)
        learner.end_task(batches[0])
    return learner.total_nbytes - learner.memory.store.nbytes


def measure(folder: Path) -> None:
    """Measure what is missing, and write it after each data set."""
    known = read_beside(folder)
    loaded: tuple[str, TaskStream | None] = "", None
    for spec in missing_cells(folder, known):
        if loaded[0] != spec["dataset"]:
            loaded = spec["dataset"], _stream(spec["dataset"])
        if loaded[1] is None:
            continue
        known[cell_of(spec)] = measured_beside(spec, loaded[1])
        text = json.dumps(dict(sorted(known.items())), indent=0)
        write_file(folder / NAME, f"{text}\n".encode())
        print(cell_of(spec), known[cell_of(spec)], flush=True)


def _stream(name: str) -> TaskStream | None:
    """The stream, if its data can be had here."""
    try:
        return load_stream(name)
    except UnavailableError as error:
        print(f"{name}: {error}", flush=True)
        return None


if __name__ == "__main__":
    measure(Path(sys.argv[1]))
