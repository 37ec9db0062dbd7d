"""Results on disk: one run is one JSON file, whole or not there."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from smartcl.paper.experiments.result_shape import is_result
from smartcl.paper.experiments.spec import RunSpec


class ResultFolder:
    """The results of runs, each under a name made from its spec."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, spec: RunSpec) -> Path:
        """Where the result of this run is, or will be."""
        return self.folder / spec.dataset / spec.method / f"{spec.key}.json"

    def load(self, spec: RunSpec) -> dict[str, Any] | None:
        """The result, if this run was made; a damaged file counts as a run not made."""
        return read_result(self.path(spec))

    def save(self, spec: RunSpec, result: dict[str, Any]) -> None:
        """Write the result in one stroke: whatever interrupts, no half file stays under its name."""
        path = self.path(spec)
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        try:
            part.write_text(_lines(result), encoding="utf-8")
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)


def read_result(path: Path) -> dict[str, Any] | None:
    """What a run wrote; None if there is no such file, or it is not what a run writes."""
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError, RecursionError):
        return None
    return result if is_result(result) else None


def _lines(result: dict[str, Any]) -> str:
    """JSON with one line per entry: short, and still a text that differences can be read in."""
    entries = (f" {json.dumps(name)}: {json.dumps(value, allow_nan=False)}" for name, value in result.items())
    return "{\n" + ",\n".join(entries) + "\n}\n"
