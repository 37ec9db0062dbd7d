"""The rows whose labels are probably wrong, written as they pass: by what was answered before they were learned."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TextIO

import numpy as np

from smartcl.account.doubted import Doubts, contradictions
from smartcl.estimator.fitted import widened
from smartcl.files.answered_rows import AnsweredRows
from smartcl.files.sources import Source
from smartcl.files.table_model import TableModel
from smartcl.learners.ids import id_of

#: The columns, after the id's if there is one. ``row`` counts the rows that were learned, from 1 on.
COLUMNS = ("row", "given", "suggested", "probability", "given_probability")


class DoubtsFile:
    """A CSV file; the file of a training that goes on keeps the lines of the rows that its model has learned."""

    def __init__(self, path: Path, goes_on_after: int | None = None) -> None:
        self._path, self._kept = path, goes_on_after
        self._file: TextIO | None = None
        self._begun = False
        #: Rows that were written in this training.
        self.rows = 0

    def __enter__(self) -> Self:
        kept = [] if self._kept is None or not self._path.exists() else list(_lines_up_to(self._path, self._kept))
        part = self._path.with_name(f".{self._path.name}.{os.getpid()}.tmp")
        with part.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(kept)
        part.replace(self._path)
        self._file, self._begun = self._path.open("a", encoding="utf-8", newline=""), bool(kept)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._file is not None:
            self._file.close()

    def hear(self, model: TableModel, batches: Iterable[AnsweredRows]) -> None:
        """Write what is doubtful of rows that were just learned."""
        assert self._file is not None
        writer = csv.writer(self._file, lineterminator="\n")
        known = [] if model.schema.id is None else [model.schema.id]
        if not self._begun:
            writer.writerow([*known, *COLUMNS])
            self._begun = True
        account, classes = model.scores_.account, model.classes
        place = {name: number for number, name in enumerate(classes)}
        for batch in batches:
            if batch.probabilities is None:
                continue
            shares = widened(batch.probabilities, len(classes))
            y = np.array([place[label] for label in batch.labels], dtype=np.int64)
            said = contradictions(shares, y, account.total.confidence)
            for row in np.flatnonzero(said.doubted).tolist():
                own: list[Any] = [] if not known else ["" if batch.ids is None else batch.ids[row]]
                best, given = shares[row, said.suggested[row]], shares[row, y[row]]
                suggested = classes[said.suggested[row]]
                writer.writerow(
                    [*own, batch.first + row + 1, batch.labels[row], suggested, f"{best:.6g}", f"{given:.6g}"]
                )
                self.rows += 1
        self._file.flush()


def named_rows(model: TableModel, doubts: Doubts, source: Source | None) -> tuple[list[Any], int]:
    """The ids of doubted rows, texts looked up in the files that have them; and how many texts were not found.

    Without an id column they are the places of the samples in what ``export`` writes.
    """
    ids, rows = model.schema.id, doubts.rows.tolist()
    if ids is None:
        return rows, 0
    wanted, found = set(rows), dict[int, Any]()
    for block in () if source is None else source.blocks({}):
        for value in block.parse({ids: False}).columns.get(ids, ()):
            if value is not None and value != "" and (key := id_of(value)) in wanted:
                found[key] = value
    return [found.get(row, row) for row in rows], sum(row < 0 and row not in found for row in rows)


def _lines_up_to(path: Path, row: int) -> Iterable[list[str]]:
    """The header of such a file, and the lines of rows up to this one."""
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.reader(file)
        names = next(reader, None)
        if names is None:
            return
        if "row" not in names:
            raise ValueError(f"{path} is no file of doubts that could be gone on with: it has no column 'row'")
        yield names
        at = names.index("row")
        for line in reader:
            if len(line) == len(names) and line[at].isdecimal() and int(line[at]) <= row:
                yield line
