"""Samples of a saved model that must go: out of the memory, and out of every file of the folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from smartcl.atomic import write_file
from smartcl.files.byte_streams import check_input
from smartcl.files.live import LIVE
from smartcl.files.table_model import TableModel
from smartcl.files.training import SCHEMA
from smartcl.persistence import only_trainer, path_of


def ids_in_file(path: Path) -> list[str]:
    """The ids in a file, one a line."""
    check_input(str(path))
    try:
        ids = [line.strip() for line in path.read_text(encoding="utf-8-sig").splitlines()]
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a text in UTF-8") from None
    return [known for known in ids if known]


def forget_in_folder(folder: Path, ids: list[str], retrain: bool, trust: Sequence[str] = ()) -> dict[str, Any]:
    """Forget samples of the model in a folder; neither its state nor the one before it holds them any more."""
    if not path_of(folder, "model").is_dir():
        raise ValueError(f"there is no folder {folder}")
    with only_trainer(folder):
        model = TableModel.load(folder, trust)
        forgotten = model.forget(ids, retrain_from_memory=retrain)
        if retrain:  # what lies beside the model tells of the rows too
            if (folder / SCHEMA).is_file():
                write_file(folder / SCHEMA, model.schema.as_text().encode())
            (folder / LIVE).unlink(missing_ok=True)
        model.save(folder, only=True)
        return {"asked": len(ids), "forgotten": forgotten, "held": len(model.classifier.memory_)}
