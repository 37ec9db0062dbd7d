"""Predictions as text: CSV or JSON lines, one for each record of the input, in its order."""

from __future__ import annotations

import csv
import json
from typing import Protocol

from smartcl.files.columns import ColumnSchema
from smartcl.files.table_model import Answered

PREDICTION = "prediction"


class Output(Protocol):
    """What predictions are written to."""

    def write(self, text: str, /) -> object: ...


class Answering(Protocol):
    """A model of a table, or a fleet of them."""

    @property
    def classes(self) -> list[str]: ...

    @property
    def schema(self) -> ColumnSchema: ...


class PredictionWriter:
    """Writes the answers to block after block; a record that could not be read gets an empty prediction."""

    def __init__(self, file: Output, model: Answering, proba: bool, jsonl: bool) -> None:
        self._file, self._classes, self._id = file, model.classes, model.schema.id
        self._proba, self._jsonl = proba, jsonl
        self._csv = csv.writer(file, lineterminator="\n")
        self._begun = jsonl

    def end(self) -> None:
        """There is nothing more: without any row, a table of names only."""
        self._begin()

    def _begin(self) -> None:
        if not self._begun:
            names = [f"p({name})" for name in self._classes] if self._proba else []
            self._csv.writerow([*([self._id] if self._id is not None else []), PREDICTION, *names])
        self._begun = True

    def write(self, answered: Answered) -> None:
        self._begin()
        best = answered.best
        rows = {int(record): row for row, record in enumerate(answered.records.at)}
        for record in range(answered.records.count):
            row = rows.get(record)
            known = None if row is None or answered.ids is None else answered.ids[row]
            prediction = None if row is None else best[row]
            chances = [] if row is None or not self._proba else answered.probabilities[row].tolist()
            if self._jsonl:
                self._write_json(known, prediction, chances)
            else:
                filled = [f"{chance:.6g}" for chance in chances] or [""] * (len(self._classes) * self._proba)
                self._csv.writerow([*([known] if self._id is not None else []), prediction or "", *filled])

    def _write_json(self, known: object, prediction: str | None, chances: list[float]) -> None:
        line: dict[str, object] = {} if self._id is None else {self._id: known}
        line[PREDICTION] = prediction
        if self._proba:
            line["probabilities"] = dict(zip(self._classes, chances, strict=True)) if chances else None
        self._file.write(json.dumps(line, ensure_ascii=False, default=str) + "\n")
