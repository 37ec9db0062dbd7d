"""Answers to raw rows by the last finished state of a model, while it learns; asking changes nothing of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smartcl.columns.nested import columns_of
from smartcl.columns.records import Records
from smartcl.files.blocks import Step
from smartcl.files.table_model import TableModel
from smartcl.serve.refusals import RefusedError

#: Names that were asked about are forgotten beyond this many: they are no part of the model.
MOST_NAMES = 100_000


@dataclass(frozen=True)
class Answers:
    """Probabilities of rows, columns as in ``classes``, by the model of ``version`` learned rows."""

    classes: list[str]
    probabilities: NDArray[np.float64]
    version: int

    def best(self, row: int) -> str:
        return self.classes[int(self.probabilities[row].argmax())]

    def of(self, row: int) -> dict[str, float]:
        return dict(zip(self.classes, self.probabilities[row].tolist(), strict=True))


class Answering:
    """Answers by a model as it was after ``version`` rows.

    It reads a copy of what is known of names and words, which learning does not move.
    """

    def __init__(self, model: TableModel) -> None:
        self.model, self.version = model, model.progress.rows
        self._used = frozenset(column.name for column in model.schema.used)
        self._encoder = model.encoder.copy()
        self._book = self._encoder.book.copy()

    def check(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Refuse rows that have none of the columns that were learned."""
        for place, row in enumerate(rows):
            if self._used.isdisjoint(row):
                wanted = ", ".join(map(repr, sorted(self._used)[:20]))
                raise RefusedError(422, f"row {place} has none of the columns that were learned: {wanted}")

    def answers(self, rows: Sequence[Mapping[str, Any]]) -> Answers:
        """The model's answers to checked rows."""
        if len(rows) == 1:
            x = self._encoder.row(rows[0]).x  # the same features, in a third of the time
        else:
            records = Records.of(columns_of([dict(row) for row in rows], self.model.schema.wanted))
            x = self._encoder.encode(self._encoder.parse(records))
        if len(self._encoder.book) > MOST_NAMES:
            self._encoder.book = self._book.copy()
        probabilities, names = self.model.classifier._answers(x)
        return Answers([str(name) for name in names], probabilities, self.version)


def step_of(model: TableModel, rows: Sequence[tuple[Mapping[str, Any], str]]) -> Step:
    """Rows and their labels as a model learns them."""
    schema = model.schema
    wanted = schema.wanted
    flat = [{**row, schema.label: label} for row, label in rows]
    strangers = dict.fromkeys(
        name for row in flat if not row.keys() <= wanted.keys() for name in row if name not in wanted
    )
    return Step(model.encoder.parse(Records.of(columns_of(flat, wanted))), strangers=strangers)
