"""A classifier of tables: what learns, what the columns are, and how far it has read. One folder holds it all."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smartcl.columns.column_schema import ColumnSchema
from smartcl.columns.records import Records
from smartcl.columns.row_encoder import Odd, Parsed, RowEncoder, TableRows
from smartcl.columns.values import name_of
from smartcl.estimator import SmartClassifier
from smartcl.files.ages import Ages
from smartcl.files.blocks import Block
from smartcl.files.plain_table import PlainTable
from smartcl.files.progress import Progress
from smartcl.files.sources import Source, source_of
from smartcl.files.steps import Step
from smartcl.saved import Saved

#: Under this name the folder holds what a table's model has beside a classifier.
PART = "table"
#: Rows that are predicted together.
PREDICT_ROWS = 1000


@dataclass
class Answered:
    """The probabilities of rows, columns as in ``classes``, and which records of a block they are."""

    records: Records
    labels: list[str | None]
    ids: list[Any] | None
    classes: list[str]
    probabilities: NDArray[np.float64]

    @property
    def best(self) -> list[str]:
        return [self.classes[column] for column in self.probabilities.argmax(axis=1)]


@dataclass
class TableModel:
    """Learns rows of a table and predicts the label of others; ``smartcl.train_stream`` makes one.

    ``classifier`` is the ``SmartClassifier`` that learns rows, and encodes them too; ``start`` is the encoder to begin
    with. Beside it stands how far files were read, and how good the answers were on the way.
    """

    classifier: SmartClassifier
    start: RowEncoder
    progress: Progress = field(default_factory=Progress)
    ages: Ages = field(default_factory=Ages)

    @property
    def encoder(self) -> RowEncoder:
        """What makes rows of numbers, with all that was learned of names and words."""
        begun = self.classifier.__sklearn_is_fitted__()
        found = self.classifier.columns_ if begun else None
        return self.start if found is None else found

    @property
    def schema(self) -> ColumnSchema:
        return self.encoder.schema

    @property
    def classes(self) -> list[str]:
        return [str(name) for name in self.classifier.classes_]

    def learn(self, step: Step) -> None:
        """Predict the rows of a step, then learn them."""
        progress, rows, odd = self.progress, step.rows, Odd()
        if not len(rows):
            progress.pass_over(step)
            return
        labels = np.array(rows.labels, dtype=str)
        begun = self.classifier.__sklearn_is_fitted__()
        table = self.rows(rows, odd)
        right = int((self.classifier.predict(table) == labels).sum()) if begun else 0
        late = np.setdiff1d(labels, self.classifier.classes_).tolist() if begun else []
        learner = self.classifier.learner_ if begun else None
        waited, batches = (learner.waiting, learner.batches) if learner is not None else (0, 0)
        self.classifier.partial_fit(table, labels, ids=rows.ids)
        progress.late_classes.update(dict.fromkeys(late, progress.rows))
        progress.odd.add(odd)
        progress.pass_over(step)
        if self.classifier.learner_.batches > batches:
            self._note_ages(progress.rows - waited)
        progress.count(len(rows), len(rows) * begun, right)

    def flush(self) -> None:
        """Learn the rows that wait: the source has ended."""
        waited = self.classifier.learner_.waiting if self.classifier.__sklearn_is_fitted__() else 0
        if waited:
            self.classifier.flush()
            self._note_ages(self.progress.rows - waited)

    def _note_ages(self, before: int) -> None:
        """After a batch was learned that came after so many rows."""
        seen = self.classifier.learner_.observed
        self.ages = Ages(held=None) if seen is None else self.ages.after(seen, before)

    def rows(self, parsed: Parsed, odd: Odd | None = None, after: int = 0) -> TableRows:
        """Rows as the classifier takes them, encoded by what is known today; what was odd about them is counted.

        ``after`` is the number of rows before them whose labels are not known.
        """
        encoder = self.encoder
        return TableRows(parsed, encoder, encoder.encoded(parsed, odd, after))

    def learn_one(self, x: Mapping[Any, Any], y: Any) -> None:
        """Learn one row, a dict of raw columns; labels of a table are texts."""
        label = name_of(y)
        if label is None:
            raise ValueError(f"a row to learn must have a label, got {y!r}")
        begun = self.classifier.__sklearn_is_fitted__()
        learner = self.classifier.learner_ if begun else None
        waited, batches = (learner.waiting, learner.batches) if learner is not None else (0, 0)
        if begun:
            self.classifier.learn_one(x, label)
        else:
            self.classifier.partial_fit(TableRows(None, self.start, self.start.row(x)), [label])
        if self.classifier.learner_.batches > batches:
            self._note_ages(self.progress.rows - waited)
        self.progress.count(1, 0, 0)

    def predict_proba_one(self, x: Mapping[Any, Any]) -> dict[str, float]:
        """The probability of each class for one row, a dict of raw columns; none before the first row was learned."""
        return self.classifier.predict_proba_one(x)

    def predict_one(self, x: Mapping[Any, Any]) -> str | None:
        """The most likely label of one row; None before the first row was learned."""
        found: str | None = self.classifier.predict_one(x)
        return found

    def forget(self, ids: list[str], retrain_from_memory: bool = False) -> int:
        """Forget samples by their ids, as ``SmartClassifier.forget``; how old the others are is not known any more.

        With ``retrain_from_memory`` the counts of rows and of right predictions begin anew.
        """
        count = self.classifier.forget(ids, retrain_from_memory)
        if count or retrain_from_memory:
            self.ages = Ages(held=None)
        if retrain_from_memory:
            left = len(self.classifier.memory_) + self.classifier.learner_.waiting
            self.progress = self.progress.begun_anew(left)
        return count

    def export(self, path: str | os.PathLike[str] | None = None) -> Any:
        """What is remembered, as ``memory_.export``, with features by the names of their columns."""
        return self.classifier.memory_.export(path)

    def answers(self, source: Source | Any, odd: Odd | None = None) -> Iterator[Answered]:
        """The model's answers to all rows of a source, block by block; it learns nothing."""
        given = source if hasattr(source, "blocks") else source_of(source, self.schema.label, PREDICT_ROWS)
        checked: set[str] = set()
        after = 0
        for block in given.blocks({}):
            answered = self.answer(block, Odd() if odd is None else odd, block.input not in checked, after)
            checked.add(block.input)
            after += len(answered.labels)
            yield answered

    def answer(self, block: Block, odd: Odd, first: bool, after: int = 0) -> Answered:
        """The model's answers to the rows of one block, perhaps the first of its input, ``after`` others."""
        records = block.parse(self.schema.wanted)
        if first:
            self.encoder.check_columns(block.input, records)
        rows = self.encoder.parse(records)
        found = [np.zeros((0, len(self.classes)))]
        for begin in range(0, len(rows), PREDICT_ROWS):
            table = self.rows(rows.take(slice(begin, begin + PREDICT_ROWS)), odd, after + begin)
            found.append(self.classifier.predict_proba(table))
        ids = None if self.schema.id is None else list(records.columns.get(self.schema.id, [None] * len(rows)))
        return Answered(records, list(rows.labels), ids, self.classes, np.concatenate(found))

    def predict_proba(self, source: Any) -> NDArray[np.float64]:
        """The probability of each class for each row that could be read, columns as in ``classes``."""
        return np.concatenate([answered.probabilities for answered in self.answers(source)])

    def predict(self, source: Any) -> NDArray[Any]:
        """The most likely label of each row that could be read."""
        return np.array([name for answered in self.answers(source) for name in answered.best])

    def to_torch(self) -> PlainTable:
        """A plain PyTorch module from numbers, NaN where missing, to probabilities; for tables of numbers."""
        return PlainTable(self.encoder, self.classifier.network_alone())

    def to_onnx(self, path: str | os.PathLike[str]) -> None:
        """The same as an ONNX file; classes and columns stand in its metadata."""
        self.to_torch().save_onnx(path, self.classes)

    def save(self, folder: str | os.PathLike[str], only: bool = False) -> None:
        """Write all that the future depends on, atomically; the state before is kept beside it unless ``only``."""
        state = {
            "progress": self.progress.state_dict(),
            "ages": self.ages.state_dict(),
        }
        self.classifier._save_with(folder, {PART: state}, only)

    @classmethod
    def load(cls, folder: str | os.PathLike[str], trust: Sequence[str] | str = ()) -> TableModel:
        """The saved model, or a ``ValueError`` or ``FileNotFoundError`` of one line.

        ``trust`` names the modules that may be imported for it, as of ``SmartClassifier.load``.
        """
        classifier = SmartClassifier.load(folder, trust)
        companions = classifier._companions
        if PART not in companions:
            raise ValueError(f"the model in {folder} was not trained on the columns of a table")
        try:
            saved = Saved(companions, "state.companions").part(PART)
            columns = classifier.columns_
            if columns is None:
                saved.refuse("progress", "must stand beside what is known of columns")
            progress = Progress.from_state(saved.part("progress"))
            return cls(classifier, columns, progress, Ages.from_state(saved.part("ages"), len(classifier.memory_)))
        except ValueError as error:
            raise ValueError(f"{folder}: {error}") from None
