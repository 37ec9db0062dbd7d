"""A classifier of tables: what learns, what the columns are, and how far it has read. One folder holds it all."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from smartcl.account.doubted import Doubts
from smartcl.account.named_scores import NamedScores
from smartcl.columns.column_schema import TEXT, ColumnSchema
from smartcl.columns.hashing import words_of
from smartcl.columns.recognise import listed
from smartcl.columns.records import Records
from smartcl.columns.row_encoder import EncodedRows, Odd, Parsed, RowEncoder, TableRows
from smartcl.columns.values import name_of
from smartcl.data.batch import Rows
from smartcl.estimator import SmartClassifier
from smartcl.estimator.fitted import check_labels
from smartcl.estimator.input_checks import Given, Said
from smartcl.files.answered_rows import AnsweredRows
from smartcl.files.blocks import Block, Step
from smartcl.files.moved import what_moved
from smartcl.files.plain_table import PlainTable
from smartcl.files.progress import Ages, Progress
from smartcl.files.row_explanations import Explanation, each_row, explained, usual_values
from smartcl.files.sources import Source, source_of
from smartcl.learners.ensemble.ensemble import Ensemble
from smartcl.learners.ids import ids_of
from smartcl.saving.saved import Saved
from smartcl.settings import shown

#: Under this name the folder holds what a table's model has beside a classifier.
PART = "table"
#: Rows that are predicted together.
PREDICT_ROWS = 1000


@dataclass(frozen=True)
class Threshold:
    """A class, and the probability from which on it is said; below it, the most likely of the others is.

    >>> Threshold.of("spam=0.2", ["ham", "spam"]).places(np.array([[0.7, 0.3], [0.9, 0.1]]), ["ham", "spam"]).tolist()
    [1, 0]
    """

    name: str
    probability: float

    @classmethod
    def of(cls, text: str, classes: Sequence[str]) -> Threshold:
        """From ``class=probability``, or a ``ValueError`` that says what is wrong."""
        name, equals, number = text.rpartition("=")
        try:
            probability = float(number)
        except ValueError:
            probability = -1.0
        if not equals or not 0 <= probability <= 1:
            raise ValueError(f"--threshold must be CLASS=PROBABILITY, such as {classes[-1]}=0.3, got {text!r}")
        if name not in classes:
            raise ValueError(f"--threshold names the class {name!r}, which the model does not know: it knows {classes}")
        if len(classes) < 2:
            raise ValueError(f"--threshold wants another class beside {name!r}, and the model knows no other")
        return cls(name, probability)

    def places(self, probabilities: NDArray[np.float64], classes: Sequence[str]) -> NDArray[np.int64]:
        """The place of the predicted class of each row."""
        own, others = classes.index(self.name), probabilities.copy()
        others[:, own] = -1.0
        said: NDArray[np.int64] = np.where(probabilities[:, own] >= self.probability, own, others.argmax(axis=1))
        return said


@dataclass
class AnsweredRecords:
    """The probabilities of rows, columns as in ``classes``, and which records of a block they are."""

    records: Records
    labels: list[str | None]
    ids: list[Any] | None
    #: Of the columns that are to be kept, the values.
    kept: dict[str, list[Any]]
    classes: list[str]
    probabilities: NDArray[np.float64]

    def best(self, threshold: Threshold | None = None) -> list[str]:
        """The most likely class of each row; that of the threshold wherever it has the probability."""
        places = self.probabilities.argmax(axis=1)
        if threshold is not None:
            places = threshold.places(self.probabilities, self.classes)
        return [self.classes[place] for place in places]


#: Words of a text that are left out in turn to explain an answer: a prediction for each.
MOST_WORDS = 50


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
    #: A row's label is known when this number of rows has been answered, itself included; 0: when its batch has been.
    delay: int = 0
    #: Batches that were answered and wait for their labels, the oldest first.
    waiting: tuple[AnsweredRows, ...] = ()
    #: Batches that were given to the learner, which answers them when a whole batch has come.
    _unanswered: tuple[AnsweredRows, ...] = field(default=(), repr=False, compare=False)

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

    @property
    def scores_(self) -> NamedScores:
        """How good the answers to rows were before these were learned, as ``SmartClassifier.scores_``."""
        return self.classifier.scores_

    @property
    def batch_rows(self) -> int:
        """Rows that are answered together: a batch, or fewer where labels are known sooner."""
        size = self.classifier.batch_size
        return min(size, self.delay) if self.delay else size

    def doubts(self, suspected: bool = True) -> Doubts:
        """Which labels of stored rows are probably wrong, as ``SmartClassifier.doubts``."""
        return self.classifier.doubts(suspected)

    def learn(self, step: Step) -> list[AnsweredRows]:
        """Answer the rows of a step, then learn all whose labels are known by then; these, as they were answered."""
        rows, odd = step.rows, Odd()
        self.progress.pass_over(step)
        if not len(rows):
            return []
        made = self.encoder.encoded(rows, odd, sum(map(len, self.waiting)))
        self.progress.odd.add(odd)
        self.waiting = (*self.waiting, self._answered(made, [str(label) for label in rows.labels], rows.ids))
        learned: list[AnsweredRows] = []
        while sum(map(len, self.waiting)) >= max(1, self.delay):
            first, *others = self.waiting
            learned += self._learned(first)
            self.waiting = tuple(others)
        return learned

    def catch_up(self) -> list[AnsweredRows]:
        """Learn what still waits, for its label or for a whole batch: nothing more will come."""
        learned = [rows for batch in self.waiting for rows in self._learned(batch)]
        self.waiting = ()
        if not self.classifier.__sklearn_is_fitted__():
            return learned
        before = self.classifier.learner_
        batches, changes = before.batches, len(getattr(before, "changes", ()))
        self.classifier.flush()
        return learned + self._noted(batches, changes, 0)

    def _answered(self, made: EncodedRows, labels: list[str], ids: Sequence[Any] | None) -> AnsweredRows:
        """The rows with the answers of now, where the learner does not give them itself as it learns."""
        first = self.progress.rows + sum(map(len, self.waiting))
        if not self.classifier.__sklearn_is_fitted__():
            return AnsweredRows(made, labels, ids, first, None)
        said = None if self._answers_itself else self.classifier.predict_proba(TableRows(None, self.encoder, made))
        return AnsweredRows(made, labels, ids, first, said, self.classifier.scores_.account.guesses)

    def _learned(self, batch: AnsweredRows) -> list[AnsweredRows]:
        """Learn a batch; what was answered to it, and to rows before it that waited for a whole batch."""
        progress, labels = self.progress, np.array(batch.labels, dtype=str)
        begun = self.classifier.__sklearn_is_fitted__()
        late = np.setdiff1d(labels, self.classifier.classes_).tolist() if begun else []
        answers_itself = begun and self._answers_itself and batch.probabilities is None
        said = None if answers_itself else Said(batch.probabilities, batch.guesses)
        learner = self.classifier.learner_ if begun else None
        batches, changes = (0, 0) if learner is None else (learner.batches, len(getattr(learner, "changes", ())))
        self.classifier._taught(TableRows(None, self.encoder, batch.made), Given(labels, ids=batch.ids, said=said))
        progress.late_classes.update(dict.fromkeys(late, progress.rows))
        progress.rows += len(batch)
        if answers_itself:
            self._unanswered = (*self._unanswered, batch)
        answered = self._noted(batches, changes, len(batch))
        return answered if answers_itself else [*answered, batch]

    def _noted(self, batches: int, changes: int, last: int) -> list[AnsweredRows]:
        """If the learner has learned a batch since, note how old samples are and what changed; what it had answered.

        ``last`` are the rows of the batch where the learner does not say.
        """
        learner = self.classifier.learner_
        if learner.batches == batches:
            return []
        seen, said = learner.observed, learner.said_before
        came = len(said.y) if said is not None else last
        before = self.progress.rows - learner.waiting - came
        self.ages = Ages(held=None) if seen is None else self.ages.after(seen, before)
        for change in getattr(learner, "changes", ())[changes:]:
            moved = what_moved(learner.memory.store, change.rows_after, self.encoder.name, self.classes)
            self.progress.note_change(change.row, moved)
        batch, self._unanswered = self._unanswered, ()
        shares = None if said is None else said.probabilities
        rows = sum(map(len, batch))
        if shares is None or len(shares) < rows:
            return list(batch)
        ends = np.cumsum([len(shares) - rows, *map(len, batch)]).tolist()
        return [replace(each, probabilities=shares[a:b]) for each, (a, b) in zip(batch, pairwise(ends), strict=True)]

    @property
    def _answers_itself(self) -> bool:
        """Whether the learner answers rows as it learns them, and nothing waits in between."""
        return not self.delay and isinstance(self.classifier.learner_, Ensemble)

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
        check_labels([label])
        made, known = self.encoder.row(x), self.encoder.id_of(x)
        self._learned(AnsweredRows(made, [label], None if known is None else [known], self.progress.rows, None))

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
        gone = set(ids_of(ids).tolist())
        waiting = tuple(batch for each in self.waiting if len(batch := each.without(gone)))
        count += sum(map(len, self.waiting)) - sum(map(len, waiting))
        self.waiting = waiting
        if count or retrain_from_memory:
            self.ages = Ages(held=None)
        if retrain_from_memory:
            held = len(self.classifier.memory_) + self.classifier.learner_.waiting
            self.progress = self.progress.begun_anew(held)
        return count

    def export(self, path: str | os.PathLike[str] | None = None) -> Any:
        """What is remembered, as ``memory_.export``, with features by the names of their columns."""
        return self.classifier.memory_.export(path)

    def answers(
        self, source: Source | Any, odd: Odd | None = None, keep: Sequence[str] = ()
    ) -> Iterator[AnsweredRecords]:
        """The model's answers to all rows of a source, block by block; it learns nothing.

        ``keep`` names columns whose values come with the answers.
        """
        given = source if hasattr(source, "blocks") else source_of(source, self.schema.label, PREDICT_ROWS)
        checked: set[str] = set()
        after = 0
        for block in given.blocks({}):
            answered = self.answer(block, Odd() if odd is None else odd, block.input not in checked, keep, after)
            checked.add(block.input)
            after += len(answered.labels)
            yield answered

    def explanations(
        self, source: Source | Any, only: Sequence[str] | None = None
    ) -> Iterator[tuple[Any, Explanation]]:
        """Why rows get their predictions, one after the other, with the id of each or its number, from 1 on.

        ``only`` are the ids of the rows that are wanted. A row costs a prediction for each of its columns or words.
        """
        given = source if hasattr(source, "blocks") else source_of(source, self.schema.label, PREDICT_ROWS)
        groups = self.encoder.features_of_columns
        usual = usual_values(self.classifier.memory_.store, groups)
        wanted, passed, checked = None if only is None else set(only), 0, set[str]()
        for block in given.blocks({}):
            records = block.parse({**self.schema.wanted, **dict.fromkeys(groups, False)})
            if block.input not in checked:
                self.encoder.check_columns(block.input, records)
                checked.add(block.input)
            rows = self.encoder.parse(records)
            for row, x in enumerate(each_row(self.encoder.encode(rows))):
                known = passed + int(records.at[row]) + 1 if rows.ids is None else rows.ids[row]
                if wanted is not None and str(known) not in wanted:
                    continue
                words = self._without_words(rows.take(slice(row, row + 1)))
                columns = {name: features for name, features in groups.items() if not words or name not in words[2]}
                found = explained(
                    self._answers, x, columns, usual, self.classes, self.encoder.name, words and words[:2]
                )
                values = {name: f"{name} = {records.columns[name][row]}" for name in groups if name in records.columns}
                yield known, replace(found, parts=[(values.get(part, part), raises) for part, raises in found.parts])
            passed += records.count

    def _without_words(self, row: Parsed) -> tuple[list[str], Rows, list[str]] | None:
        """The row without each of the words of its texts: what is left out, the rows, and the columns; None for none.

        The first ``MOST_WORDS`` different words of a text are left out, one at a time.
        """
        texts = [column.name for column in self.schema.of_kind(TEXT)] if not self.schema.sparse else []
        words = {name: words_of(str(row.names[name][0] or "")) for name in texts}
        asked = [(name, word) for name in texts for word in list(dict.fromkeys(words[name]))[:MOST_WORDS]]
        if not asked:
            return None
        index = np.zeros(len(asked), np.int64)
        changed = row.take(index)
        names = {name: list(values) for name, values in changed.names.items()}
        for place, (name, word) in enumerate(asked):
            names[name][place] = " ".join(each for each in words[name] if each != word)
        return [f"{name}: {word}" for name, word in asked], self.encoder.encode(replace(changed, names=names)), texts

    def _answers(self, x: Any) -> NDArray[np.float64]:
        """The probabilities of encoded rows."""
        rows = torch.from_numpy(x) if isinstance(x, np.ndarray) else x
        return self.classifier.predict_proba(TableRows(None, self.encoder, EncodedRows.to_predict(rows)))

    def answer(self, block: Block, odd: Odd, first: bool, keep: Sequence[str] = (), after: int = 0) -> AnsweredRecords:
        """The model's answers to the rows of one block, perhaps the first of its input, ``after`` others."""
        records = block.parse({**self.schema.wanted, **dict.fromkeys(keep, False)})
        if first:
            self.encoder.check_columns(block.input, records)
            gone = next((name for name in keep if name not in records.columns), None)
            if gone is not None and len(records.at):
                raise ValueError(
                    f"{block.input} has no column {shown(gone)} to keep: it has {listed([*records.columns])}"
                )
        rows = self.encoder.parse(records)
        found = [np.zeros((0, len(self.classes)))]
        for begin in range(0, len(rows), PREDICT_ROWS):
            table = self.rows(rows.take(slice(begin, begin + PREDICT_ROWS)), odd, after + begin)
            found.append(self.classifier.predict_proba(table))
        ids = None if self.schema.id is None else list(records.columns.get(self.schema.id, [None] * len(rows)))
        kept = {name: list(records.columns.get(name, [None] * len(rows))) for name in keep}
        return AnsweredRecords(records, list(rows.labels), ids, kept, self.classes, np.concatenate(found))

    def predict_proba(self, source: Any) -> NDArray[np.float64]:
        """The probability of each class for each row that could be read, columns as in ``classes``."""
        return np.concatenate([answered.probabilities for answered in self.answers(source)])

    def predict(self, source: Any) -> NDArray[Any]:
        """The most likely label of each row that could be read."""
        return np.array([name for answered in self.answers(source) for name in answered.best()])

    def to_torch(self) -> PlainTable:
        """A plain PyTorch module from numbers, NaN where missing, to probabilities; for tables of numbers."""
        return PlainTable(self.encoder, self.classifier.network_alone())

    def to_onnx(self, path: str | os.PathLike[str]) -> None:
        """The same as an ONNX file; classes and columns stand in its metadata."""
        self.to_torch().save_onnx(path, self.classes)

    def save(self, folder: str | os.PathLike[str], only: bool = False, beside: Mapping[str, Any] | None = None) -> None:
        """Write all that the future depends on, atomically; the state before is kept beside it unless ``only``.

        ``beside`` are what others keep in the same folder, by name; what they kept there before stays otherwise.
        """
        state = {
            "progress": self.progress.state_dict(),
            "ages": self.ages.state_dict(),
            "delay": self.delay,
            "waiting": [batch.state_dict() for batch in self.waiting],
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
            columns = classifier.columns_
            if columns is None:
                saved.refuse("progress", "must stand beside what is known of columns")
            progress = Progress.from_state(saved.part("progress"))
            ages = Ages.from_state(saved.part("ages"), len(classifier.memory_))
            waiting = tuple(
                AnsweredRows.from_state(part, columns, len(classifier.classes_)) for part in saved.parts("waiting")
            )
            return cls(classifier, columns, progress, ages, saved.whole("delay", 0), waiting)
        except ValueError as error:
            raise ValueError(f"{folder}: {error}") from None


def load(folder: str | os.PathLike[str], trust: Sequence[str] | str = ()) -> SmartClassifier | TableModel:
    """The model in a folder: a ``TableModel`` if it was trained on the columns of a table, else a ``SmartClassifier``.

    Parameters
    ----------
    folder
        What ``save``, ``train_stream`` or ``smartcl train`` wrote.
    trust
        The modules or packages that may be imported for code of your own, such as a network: loading imports nothing
        that a folder names unless it is named here too.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> SmartClassifier("1kB", random_state=0).fit([[0.0], [1.0]], [0, 1]).save(folder)
    >>> load(folder).classes_
    array([0, 1])
    """
    model = SmartClassifier.load(folder, trust)
    return TableModel.load(folder, trust) if PART in model._companions else model
