"""Results on disk: one file of lines for each data set, one line for each run, under the key of its spec."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from smartcl.paper.experiments.compact_results import compacted
from smartcl.paper.experiments.result_shape import is_result
from smartcl.paper.experiments.run_lines import Line, RunLines
from smartcl.paper.experiments.run_spec import RunSpec

#: How the name of a file of runs ends.
ENDING = ".jsonl"


class ResultFolder:
    """The results of runs, each under the key of its spec, in one file for each data set."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._files: dict[str, RunLines[str]] = {}

    def file(self, dataset: str) -> RunLines[str]:
        """The runs on this data set."""
        if dataset not in self._files:
            self._files[dataset] = RunLines(self.folder / f"{dataset}{ENDING}", key_of, place_of)
        return self._files[dataset]

    def files(self) -> list[RunLines[str]]:
        """All files of runs that are there."""
        return [self.file(path.name.removesuffix(ENDING)) for path in sorted(self.folder.glob(f"*{ENDING}"))]

    def load(self, spec: RunSpec) -> dict[str, Any] | None:
        """The result, if this run was made; a damaged line counts as a run not made."""
        return self.file(spec.dataset).read().get(spec.key)

    def save(self, spec: RunSpec, result: dict[str, Any]) -> None:
        """Add the result to its file: whatever interrupts, the file is as before or has it whole."""
        self.file(spec.dataset).add({"key": spec.key, **compacted({"spec": spec.as_dict(), **result})})


def key_of(line: Line) -> str | None:
    """The key of the run, if the line is one."""
    key = line.get("key")
    return key if isinstance(key, str) and isinstance(line.get("spec"), dict) and is_result(line) else None


def place_of(line: Line) -> tuple[Any, ...]:
    """Runs of one method stand together, the seeds of one setting below each other."""
    spec = line["spec"]
    parts = (spec.get("method"), spec.get("memory"), spec.get("noise"), json.dumps(spec.get("parameters")))
    return (*map(str, parts), str(spec.get("seed")).zfill(6), line["key"])
