"""Result files of older releases: moved to their present names and made compact, instead of being made again.

The key used to leave out the protocol and the source of the data, and took the noise as it was written; later, methods
got settings that change nothing where they are as if they were not. A file is moved if its name is an old one of its
spec, and what it says of its stream is what today's protocol and source give; any other is left as it is.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from smartcl.paper.datasets.civil_unrest import SIBLING
from smartcl.paper.experiments.compact_results import compacted
from smartcl.paper.experiments.results import ResultFolder, file_text
from smartcl.paper.experiments.spec import RunSpec, digest
from smartcl.persistence import write_file

#: What the old key was made of.
OLD_NAMES = ("dataset", "method", "memory", "noise", "seed")

#: Settings that methods did not have, and what they were as if they had.
ADDED = {"precision": "plain", "memory_first": False}


@dataclass(frozen=True)
class Migration:
    """Result files by what became of them.

    ``moved`` have their present name now, ``current`` had it already; those of them that said more than a file keeps
    are ``shortened``, by the name they have now. Left alone are those whose name is ``taken`` by another file, and the
    ``others``: of other settings, protocols or data than today's, damaged, or none of ours.
    """

    moved: tuple[Path, ...]
    current: tuple[Path, ...]
    taken: tuple[Path, ...]
    others: tuple[Path, ...]
    shortened: tuple[Path, ...]

    def __str__(self) -> str:
        return (
            f"{len(self.moved)} result files moved to their present names, {len(self.current)} had them; "
            f"{len(self.shortened)} made compact; left alone: {len(self.taken)} whose name is taken, "
            f"{len(self.others)} that are no run of today's settings and data"
        )


def migrate(folder: Path) -> Migration:
    """Move what can be moved, and make it compact. To do it again, or after an interruption, does no harm."""
    results = ResultFolder(folder)
    found: dict[str, list[Path]] = {"moved": [], "current": [], "taken": [], "others": [], "shortened": []}
    for path in sorted(folder.rglob("*.json")):
        kind, target = _migrate(path, results)
        found[kind].append(path)
        if target is not None and _shorten(target, results):
            found["shortened"].append(target)
    return Migration(**{kind: tuple(paths) for kind, paths in found.items()})


def _migrate(path: Path, results: ResultFolder) -> tuple[str, Path | None]:
    """What became of the file, and its present name if it has it now."""
    result = results.read(path)
    try:
        names = (result or {})["spec"]
        spec = RunSpec.from_dict(names)
        target = results.path(spec)
        if path == target:
            return "current", target
        renamed = path.stem == key_before_settings(spec) and path.parent == target.parent
        if not renamed and not (path == target.with_stem(old_key(spec, names["noise"])) and _same_stream(spec, result)):
            return "others", None
    except (IndexError, KeyError, TypeError, ValueError):
        return "others", None
    return ("moved", target) if _move(path, target, results) else ("taken", None)


def key_before_settings(spec: RunSpec) -> str | None:
    """The key as it was before methods got the settings that leave things as they were; None where one does not."""
    settings = spec.settings
    if any(settings.get(name, value) != value for name, value in ADDED.items()):
        return None
    before = {name: value for name, value in settings.items() if name not in ADDED}
    return digest({**spec.as_dict(), "parameters": before, "protocol": spec.protocol})


def old_key(spec: RunSpec, noise: str) -> str:
    """The key as it was: no protocol, no source, and the noise as it was written."""
    names = {name: value for name, value in spec.as_dict().items() if name in OLD_NAMES}
    return digest({**names, "noise": noise, "parameters": spec.settings})


def _same_stream(spec: RunSpec, result: Mapping[str, Any] | None) -> bool:
    """Whether the run names the data set's own source, and saw as many batches as the protocol makes."""
    if result is None:
        return False
    name = spec.dataset.removesuffix("-validation")
    if result["stream"] != (f"{name} ({SIBLING})" if name.startswith("civil-") else name):
        return False
    protocol = spec.protocol.get("panel", spec.protocol)
    samples = protocol.get("samples_per_task", protocol.get("samples"))
    if samples is None:  # all there are: how many, only the data say
        return True
    a_task = protocol["epochs"] * -(-samples // protocol["batch_size"])
    return bool(result["memory_history"]["batches"][-1] == a_task * len(result["accuracy_matrix"]))


def _move(path: Path, target: Path, results: ResultFolder) -> bool:
    """Give the file its other name, unless a file that says something else has it."""
    try:
        os.link(path, target)  # unlike a renaming, this replaces nothing
    except FileExistsError:
        ours, theirs = results.read(path), results.read(target)
        if ours is None or theirs is None or compacted(ours) != compacted(theirs):
            return False
    path.unlink()
    return True


def _shorten(path: Path, results: ResultFolder) -> bool:
    """Write the file as results are written today; False where it is so already."""
    text = file_text(results.read(path) or {})
    if text == path.read_bytes():
        return False
    write_file(path, text)
    return True
