"""``smartcl train --workers``: the same files, learned by several processes or Ray actors."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

from smartcl.cli.one_line import counted, note
from smartcl.cli.status_line import StatusLine
from smartcl.cli.usage import Interrupted
from smartcl.files.table_model import TableModel
from smartcl.persistence import INDEX
from smartcl.scale.shards import PARTS, PLAN, train_shards


def train_by_workers(inputs: list[str], label: str | None, out: Path, overwrite: bool, **settings: Any) -> TableModel:
    """Train, and tell after each merge how far it is; an interrupt ends the workers at their last checkpoints."""
    workers = settings["workers"]
    if overwrite and not settings["resume"] and (out / INDEX).is_file():
        for gone in (out / PARTS, out / "generations"):
            shutil.rmtree(gone, ignore_errors=True)
        for name in (INDEX, PLAN):
            (out / name).unlink(missing_ok=True)
    if len(inputs) < workers:
        note(f"{counted(len(inputs), 'file')} for {workers} workers: each file is read by one, so there are no more")
    began, first = time.monotonic(), 0
    with StatusLine() as shown:

        def watch(model: TableModel) -> bool:
            nonlocal first
            rows, seconds = model.progress.rows, time.monotonic() - began
            shown.show(f"{rows:,} rows merged, {max(0, rows - first) / max(seconds, 1e-9):,.0f} a second")
            return False

        try:
            return train_shards(inputs, label, out=out, watch=watch, **settings)
        except KeyboardInterrupt:
            raise Interrupted(f"interrupted: --resume goes on from what is saved in {out}") from None
