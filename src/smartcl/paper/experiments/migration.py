"""Result files of older releases: moved to their present names and written anew, instead of being made again.

The key used to leave out the protocol and the source of the data, and took the noise as it was written; later, methods
got settings that change nothing where they are as if they were not; and a setting may have got another default, which
the file of a run at the former one then names. A file is moved if its name is an old one of its
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

#: What was a method's own once, and is not any more: a file that is silent about it may mean this.
FORMER: dict[str, dict[str, Any]] = {"smart": {"precision": "plain"}}


@dataclass(frozen=True)
class Migration:
    """Result files by what became of them.

    ``moved`` have their present name now, ``current`` had it already; those of them that said more than a file keeps,
    or did not say what is no default any more, are ``rewritten``, by the name they have now. Left alone are those whose
    name is ``taken`` by another file, and the ``others``: of other settings, protocols or data than today's, damaged,
    or none of ours.
    """

    moved: tuple[Path, ...]
    current: tuple[Path, ...]
    taken: tuple[Path, ...]
    others: tuple[Path, ...]
    rewritten: tuple[Path, ...]

    def __str__(self) -> str:
        return (
            f"{len(self.moved)} result files moved to their present names, {len(self.current)} had them; "
            f"{len(self.rewritten)} written anew; left alone: {len(self.taken)} whose name is taken, "
            f"{len(self.others)} that are no run of today's settings and data"
        )


def migrate(folder: Path) -> Migration:
    """Move what can be moved, and make it compact. To do it again, or after an interruption, does no harm."""
    results = ResultFolder(folder)
    found: dict[str, list[Path]] = {"moved": [], "current": [], "taken": [], "others": [], "rewritten": []}
    for path in sorted(folder.rglob("*.json")):
        kind, spec = _migrate(path, results)
        found[kind].append(path)
        target = None if spec is None else results.path(spec)
        if spec is not None and target is not None and _rewrite(target, spec, results):
            found["rewritten"].append(target)
    return Migration(**{kind: tuple(paths) for kind, paths in found.items()})


def _migrate(path: Path, results: ResultFolder) -> tuple[str, RunSpec | None]:
    """What became of the file, and the spec whose name it has now."""
    result = results.read(path)
    try:
        names = (result or {})["spec"]
        for spec in dict.fromkeys([RunSpec.from_dict(names), as_it_was(names)]):
            target = results.path(spec)
            if path == target:
                return "current", spec
            renamed = path.stem == key_before_settings(spec) and path.parent == target.parent
            if renamed or (path == target.with_stem(old_key(spec, names["noise"])) and _same_stream(spec, result)):
                return ("moved", spec) if _move(path, target, results) else ("taken", None)
    except (IndexError, KeyError, TypeError, ValueError):
        pass
    return "others", None


def as_it_was(names: Mapping[str, Any]) -> RunSpec:
    """The run that these names meant while the former settings were the method's own."""
    return RunSpec.from_dict({**names, "parameters": {**FORMER.get(names["method"], {}), **names["parameters"]}})


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


def _rewrite(path: Path, spec: RunSpec, results: ResultFolder) -> bool:
    """Write the file as results are written today; False where it is so already."""
    result = results.read(path) or {}
    text = file_text({**result, "spec": {**result["spec"], "parameters": dict(spec.parameters)}})
    if text == path.read_bytes():
        return False
    write_file(path, text)
    return True
