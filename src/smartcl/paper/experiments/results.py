"""Results on disk: one run is one JSON file, whole or not there, and parsed once however often it is asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from smartcl.paper.experiments.compact_results import compacted
from smartcl.paper.experiments.result_shape import is_result
from smartcl.paper.experiments.spec import RunSpec
from smartcl.persistence import write_file

#: What tells a file from the one that was there before under its name.
Stamp = tuple[int, int, int]


class ResultFolder:
    """The results of runs, each under a name made from its spec.

    What was read is kept and shared by all who ask: nobody may change it. A file that has changed is read again.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._kept: dict[Path, tuple[Stamp, dict[str, Any] | None]] = {}

    def path(self, spec: RunSpec) -> Path:
        """Where the result of this run is, or will be."""
        return self.folder / spec.dataset / spec.method / f"{spec.key}.json"

    def load(self, spec: RunSpec) -> dict[str, Any] | None:
        """The result, if this run was made; a damaged file counts as a run not made."""
        return self.read(self.path(spec))

    def read(self, path: Path) -> dict[str, Any] | None:
        """What a run wrote there; None if there is no such file, or it is not what a run writes."""
        try:
            stamp = _stamp(path)
            if path not in self._kept or self._kept[path][0] != stamp:
                self._kept[path] = stamp, _parse(path.read_bytes())
        except FileNotFoundError:
            return None
        return self._kept[path][1]

    def save(self, spec: RunSpec, result: dict[str, Any]) -> None:
        """Write the result in one stroke: whatever interrupts, no half file stays under its name."""
        path = self.path(spec)
        text = file_text(result)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, text)


def _stamp(path: Path) -> Stamp:
    state = path.stat()
    return state.st_ino, state.st_size, state.st_mtime_ns


def _parse(text: bytes) -> dict[str, Any] | None:
    try:
        result = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return result if is_result(result) else None


def file_text(result: dict[str, Any]) -> bytes:
    """What is kept of a result as JSON with one line per entry: short, and differences can be read in it."""
    entries = (
        f" {json.dumps(name)}: {json.dumps(value, allow_nan=False, separators=(',', ':'))}"
        for name, value in compacted(result).items()
    )
    return ("{\n" + ",\n".join(entries) + "\n}\n").encode()
