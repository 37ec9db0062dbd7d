"""A classifier of tables: what learns, what the columns are, and how far it has read. One folder holds it all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from smartcl.data.batch import Rows
from smartcl.estimator import SmartClassifier
from smartcl.files.ages import Ages
from smartcl.files.columns import ColumnSchema
from smartcl.files.encoder import Encoder, Odd
from smartcl.files.plain_table import PlainTable
from smartcl.files.progress import Progress
from smartcl.files.records import Block, Records
from smartcl.files.renewal import Renewal
from smartcl.files.sources import Source, source_of
from smartcl.files.steps import Step
from smartcl.memory.export import Names, export, stored_rows
from smartcl.memory.store import SampleStore
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


@dataclass(frozen=True)
class Foretold:
    """Probabilities of rows, columns as in ``classes``."""

    probabilities: NDArray[np.float64]
    classes: NDArray[Any]

    @property
    def best(self) -> NDArray[Any]:
        found: NDArray[Any] = self.classes[self.probabilities.argmax(axis=1)]
        return found


@dataclass
class TableModel:
    """Learns rows of a table and predicts the label of others; ``smartcl.train_stream`` makes one.

    ``classifier`` is the ``SmartClassifier`` that learns features, ``encoder`` makes them of columns.
    """

    classifier: SmartClassifier
    encoder: Encoder
    progress: Progress = field(default_factory=Progress)
    ages: Ages = field(default_factory=Ages)

    @property
    def schema(self) -> ColumnSchema:
        return self.encoder.schema

    @property
    def classes(self) -> list[str]:
        return [str(name) for name in self.classifier.classes_]

    def learn(self, step: Step) -> Foretold | None:
        """Predict the rows of a step, then learn them; what was predicted, None before there was anything to go by."""
        progress, rows, odd = self.progress, step.rows, Odd()
        if not len(rows):
            progress.pass_over(step)
            return None
        x = as_given(self.encoder.encode(rows, odd))
        labels = np.array(rows.labels, dtype=str)
        begun = self.classifier.__sklearn_is_fitted__()
        before = Foretold(*self.classifier._probabilities(x)) if begun else None
        right = 0 if before is None else int((before.best == labels).sum())
        late = np.setdiff1d(labels, self.classifier.classes_).tolist() if begun else []
        learner = self.classifier.learner_ if begun else None
        waited, batches = (learner.waiting, learner.batches) if learner is not None else (0, 0)
        self.classifier.partial_fit(x, labels, ids=rows.ids)
        progress.late_classes.update(dict.fromkeys(late, progress.rows))
        progress.odd.add(odd)
        progress.pass_over(step)
        if self.classifier.learner_.batches > batches:
            self._note_ages(progress.rows - waited)
        progress.count(len(rows), len(rows) * begun, right)
        return before

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

    def forget(self, ids: list[str], retrain_from_memory: bool = False) -> int:
        """Forget samples by their ids, as ``SmartClassifier.forget``; how old the others are is not known any more.

        Words and names that no sample left has are forgotten too. With ``retrain_from_memory`` so are fill values and
        categories, and the counts of rows and of right predictions begin anew.
        """
        renewal: Renewal | None = None

        def renewed(store: SampleStore) -> Callable[[Rows], Rows]:
            nonlocal renewal
            renewal = Renewal.of(self.encoder, stored_rows(store, np.arange(len(store))))
            return renewal.rows

        count = self.classifier._forget(ids, retrain_from_memory, renewed)
        if count or retrain_from_memory:
            self.ages = Ages(held=None)
        if renewal is not None:
            self.encoder, self.progress = renewal.after, self.progress.begun_anew(len(self.classifier.memory_))
        elif count and self.schema.sparse:
            store, waiting = self.classifier.memory_.store, self.classifier.memory_.waiting
            held = [store.gather(np.arange(len(store)), missing=False).x, *([] if waiting is None else [waiting.x])]
            used = [rows.indices for rows in held if not isinstance(rows, torch.Tensor)]
            self.encoder.book.keep(np.unique(np.concatenate(used)).tolist() if used else [])
        return count

    def export(self, path: str | os.PathLike[str] | None = None) -> Any:
        """What is remembered, as ``memory_.export``, with features by the names of their columns and words."""
        names = EncodedNames(self.classifier.classes_, encoder=self.encoder)
        return export(self.classifier.memory_.store, names, path)

    def answers(self, source: Source | Any, odd: Odd | None = None) -> Iterator[Answered]:
        """The model's answers to all rows of a source, block by block; it learns nothing."""
        given = source if hasattr(source, "blocks") else source_of(source, self.schema.label, PREDICT_ROWS)
        checked: set[str] = set()
        for block in given.blocks({}):
            answered = self.answer(block, Odd() if odd is None else odd, block.input not in checked)
            checked.add(block.input)
            yield answered

    def answer(self, block: Block, odd: Odd, first: bool) -> Answered:
        """The model's answers to the rows of one block, perhaps the first of its input."""
        records = block.parse(self.schema.wanted)
        if first:
            self.encoder.check_columns(block.input, records)
        rows = self.encoder.parse(records)
        found = [np.zeros((0, len(self.classes)))]
        for begin in range(0, len(rows), PREDICT_ROWS):
            x = self.encoder.encode(rows.take(slice(begin, begin + PREDICT_ROWS)), odd)
            found.append(self.classifier.predict_proba(as_given(x)))
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
        return PlainTable(self.schema, self.classifier.to_torch())

    def to_onnx(self, path: str | os.PathLike[str]) -> None:
        """The same as an ONNX file; classes and columns stand in its metadata."""
        self.to_torch().save_onnx(path, self.classes)

    def save(self, folder: str | os.PathLike[str], only: bool = False, beside: Mapping[str, Any] | None = None) -> None:
        """Write all that the future depends on, atomically; the state before is kept beside it unless ``only``.

        ``beside`` are what others keep in the same folder, by name; what they kept there before stays otherwise.
        """
        state = {
            "schema": self.schema.as_dict(),
            "encoder": self.encoder.state_dict(),
            "progress": self.progress.state_dict(),
            "ages": self.ages.state_dict(),
        }
        companions = {**self.classifier._companions, **(beside or {}), PART: state}
        self.classifier._save_with(folder, companions, only)

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
            encoder = Encoder(ColumnSchema.from_state(saved.part("schema")))
            encoder.load_state_dict(saved.part("encoder"))
            if encoder.schema.n_features != classifier.n_features_in_:
                saved.refuse("schema", f"must make {classifier.n_features_in_} features")
            progress = Progress.from_state(saved.part("progress"))
            return cls(classifier, encoder, progress, Ages.from_state(saved.part("ages"), len(classifier.memory_)))
        except ValueError as error:
            raise ValueError(f"{folder}: {error}") from None


@dataclass(frozen=True)
class EncodedNames(Names):
    """What the features of an encoder are called."""

    encoder: Encoder = field(kw_only=True)

    def feature(self, number: int) -> str:
        return self.encoder.name(number)


def as_given(x: Rows) -> Any:
    """Rows as an estimator takes them."""
    return x.numpy() if hasattr(x, "numpy") else x
