"""Predictions as text: CSV or JSON lines, one for each record of the input, in its order."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from smartcl.columns.column_schema import ColumnSchema
from smartcl.files.table_model import AnsweredRecords, Threshold

PREDICTION = "prediction"
#: The number of a record, from 1 on over all inputs, where the model has no column of ids.
ROW = "row"


class Output(Protocol):
    """What predictions are written to."""

    def write(self, text: str, /) -> object: ...


class AnsweringModel(Protocol):
    """A model of a table, or a fleet of them."""

    @property
    def classes(self) -> list[str]: ...

    @property
    def schema(self) -> ColumnSchema: ...


@dataclass(frozen=True)
class Beside:
    """What is written beside the prediction: probabilities, columns of the input; and from which probability on."""

    proba: bool = False
    keep: Sequence[str] = ()
    threshold: Threshold | None = None


class PredictionWriter:
    """Writes the answers to block after block; a record that could not be read gets an empty prediction.

    Each line begins with the id of the row, or with its number where there is no column of ids.
    """

    def __init__(self, file: Output, model: AnsweringModel, wanted: Beside, jsonl: bool) -> None:
        self._file, self._classes, self._id = file, model.classes, model.schema.id
        self._wanted, self._jsonl = wanted, jsonl
        self._keep = [name for name in wanted.keep if name != self._id]
        self._csv = csv.writer(file, lineterminator="\n")
        self._begun = jsonl
        self._passed = 0

    def end(self) -> None:
        """There is nothing more: without any row, a table of names only."""
        self._begin()

    def _begin(self) -> None:
        if not self._begun:
            names = [f"p({name})" for name in self._classes] if self._wanted.proba else []
            self._csv.writerow([self._id or ROW, *self._keep, PREDICTION, *names])
        self._begun = True

    def write(self, answered: AnsweredRecords) -> None:
        self._begin()
        best = answered.best(self._wanted.threshold)
        rows = {int(record): row for row, record in enumerate(answered.records.at)}
        for record in range(answered.records.count):
            row = rows.get(record)
            known: Any = self._passed + record + 1
            if self._id is not None:
                known = None if row is None or answered.ids is None else answered.ids[row]
            kept = [None if row is None else answered.kept[name][row] for name in self._keep]
            prediction = None if row is None else best[row]
            chances = [] if row is None or not self._wanted.proba else answered.probabilities[row].tolist()
            if self._jsonl:
                self._write_json(known, kept, prediction, chances)
            else:
                filled = [f"{chance:.6g}" for chance in chances] or [""] * (len(self._classes) * self._wanted.proba)
                self._csv.writerow([known, *kept, prediction or "", *filled])
        self._passed += answered.records.count

    def _write_json(self, known: object, kept: list[Any], prediction: str | None, chances: list[float]) -> None:
        line: dict[str, object] = {self._id or ROW: known, **dict(zip(self._keep, kept, strict=True))}
        line[PREDICTION] = prediction
        if self._wanted.proba:
            line["probabilities"] = dict(zip(self._classes, chances, strict=True)) if chances else None
        self._file.write(json.dumps(line, ensure_ascii=False, default=str) + "\n")
