"""``smartcl train --workers`` and ``--per``: files learned by several workers, and a model for each value."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

from smartcl.cli.one_line import counted, note
from smartcl.cli.screen import StatusLine, tell
from smartcl.cli.usage import Interrupted, json_text
from smartcl.files.file_source import FileSource
from smartcl.files.summary import summary
from smartcl.files.table_model import TableModel
from smartcl.files.training import check_out
from smartcl.memory import format_bytes
from smartcl.scale.fleet import PAGE, train_fleet
from smartcl.scale.shards import PARTS, PLAN, train_shards


def train_by_workers(
    inputs: list[str], per: str | None, out: Path, overwrite: bool, as_json: bool, **settings: Any
) -> None:
    """Train, and tell what came of it."""
    check_out(out, settings["resume"], overwrite)
    if overwrite and not settings["resume"]:
        _clear(out)
    try:
        told, result = _by_key(inputs, per, out, settings) if per is not None else _merged(inputs, out, settings)
    except KeyboardInterrupt:
        raise Interrupted(f"interrupted: --resume goes on from what is saved in {out}") from None
    tell(json_text(result) if as_json else f"{told}\nsaved: {out}")


def _clear(out: Path) -> None:
    """Remove what training by workers left in the folder; a model is replaced when there is another."""
    for gone in (out / PARTS, *out.glob("saved-*")):
        shutil.rmtree(gone, ignore_errors=True)
    for name in (PLAN, PAGE):
        (out / name).unlink(missing_ok=True)


def _merged(inputs: list[str], out: Path, settings: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    workers, began = settings["workers"], time.monotonic()
    if len(inputs) < workers:
        note(f"{counted(len(inputs), 'file')} for {workers} workers: each file is read by one, so there are no more")
    with StatusLine() as shown:

        def watch(model: TableModel) -> bool:
            rows = model.progress.rows
            shown.show(f"{rows:,} rows merged, {rows / max(time.monotonic() - began, 1e-9):,.0f} a second")
            return False

        given = {name: value for name, value in settings.items() if name != "label"}
        model = train_shards(inputs, settings["label"], out=out, watch=watch, replace=True, **given)
    found, memory = summary(model), model.classifier.memory_
    held = f"{len(memory):,} samples in {format_bytes(memory.nbytes)} of {format_bytes(memory.budget.nbytes)}"
    return f"{counted(model.progress.rows, 'row')} learned by {counted(workers, 'worker')}; memory: {held}", found


def _by_key(inputs: list[str], per: str, out: Path, settings: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    own = {name: value for name, value in settings.items() if name not in ("merge_rows", "input_format", "trust_code")}
    source = FileSource(tuple(inputs), settings["input_format"])
    fleet = train_fleet(source, per, own.pop("label"), out=out, **own)
    fleet.close()
    rows = fleet.base.progress.rows + sum(fleet.keys.values())
    told = f"{counted(rows, 'row')}, {counted(len(fleet.keys), 'model')} beside the base"
    return told, {"rows": rows, "keys": fleet.keys, "classes": fleet.classes}
