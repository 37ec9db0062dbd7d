"""Tables for the estimator: columns of any kind are recognised, encoded and learned, batch after batch.

A table is a frame of pandas, Polars or PyArrow, or a list of dicts. The first one says what the columns are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sized
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d, validate_data

from smartcl.account.account import Account
from smartcl.columns.change_log import ChangeLog
from smartcl.columns.column_schema import NUMBER, TRUTH
from smartcl.columns.determines import leaks, warn_of, with_leaks
from smartcl.columns.frames import all_records, columns_of_frame, is_frame, is_lazy
from smartcl.columns.nested import check_record, columns_of, flattened
from smartcl.columns.recognise import FIRST_ROWS, Told, recognised
from smartcl.columns.records import Records
from smartcl.columns.row_encoder import EncodedRows, RowEncoder, TableRows
from smartcl.columns.values import is_missing
from smartcl.data.batch import Batch, Ints, Rows
from smartcl.data.spec import InputSpec
from smartcl.estimator.fitted import Built, Fitted, Labels, check_family, check_labels, counted, labels_of, positions
from smartcl.estimator.input_checks import (
    Given,
    Said,
    as_array,
    check_batch_size,
    check_previous_label,
    check_verbose,
    class_weight_asked,
    one_line,
    sample_weight_asked,
)
from smartcl.estimator.row_door import Door
from smartcl.estimator.saved_estimator import SavedEstimator
from smartcl.learners.ids import kept_ids
from smartcl.settings import shown

#: A frame of more columns than this that holds numbers only is an array with names: pixels, embeddings.
MOST_LOOKED_AT = 200


class TableDoor(SavedEstimator):
    """The part of an estimator that takes tables and makes rows of numbers of them."""

    encoder: Any
    class_weight: Any
    previous_label: bool
    batch_size: int
    verbose: int
    if TYPE_CHECKING:

        def _begun(self, spec: InputSpec, classes: Labels, fixed: bool, rng: np.random.RandomState) -> Fitted: ...

        def _asked(self, spec: InputSpec) -> Built: ...

        def _fed(
            self,
            fitted: Fitted,
            take: Callable[[Ints], Batch],
            y: Ints,
            order: Ints,
            said: Said | None,
            learned: Callable[[], None],
        ) -> Account: ...

        def _answers(self, rows: Rows) -> tuple[NDArray[np.float64], Labels]: ...

        def partial_fit(self, X: Any, y: Any) -> Self: ...

    #: The short way for rows in the form of those before, once the settings were checked.
    _door: Door | None = None
    #: The first rows that came one by one: they wait until they are enough to say what the columns are.
    _first_rows: tuple[tuple[Mapping[Any, Any], Any], ...] = ()

    def learn_one(self, x: Mapping[Any, Any], y: Any) -> None:
        """Learn one row of a table, a dict of raw columns: numbers, names, dates, texts, and what is missing.

        The first ``batch_size`` rows wait until they all show what the columns are, or until ``flush``.
        """
        if isinstance(y, Sized) and not isinstance(y, str | bytes):
            raise ValueError(f"y must be the label of the row, got {shown(y)}")
        with self._one_at_a_time():
            if not self.__sklearn_is_fitted__():
                self._check_first_row(x, y)
                self._first_rows = (*self._first_rows, (dict(x), y))
                if len(self._first_rows) >= check_batch_size(self.batch_size):
                    self._learn_first_rows()
                return
            row = self._row(x)
            if not self._learned_row(row, y):
                self.partial_fit(TableRows(None, self._columns, row), [y])

    def predict_proba_one(self, x: Mapping[Any, Any]) -> dict[Any, float]:
        """The probability of each class for one row, a dict of raw columns; none before any row was learned."""
        if not self.__sklearn_is_fitted__():
            return {}
        found, names = self._answers(self._row(x).x)
        return dict(zip(names.tolist(), found[0].tolist(), strict=True))

    def predict_one(self, x: Mapping[Any, Any]) -> Any:
        """The most likely label of one row; None before any row was learned."""
        found = self.predict_proba_one(x)
        return max(found, key=found.__getitem__) if found else None

    def _learn_first_rows(self) -> None:
        """Learn the rows that came before it was known what the columns are."""
        if self._first_rows:
            rows, labels = zip(*self._first_rows, strict=True)
            self.partial_fit(list(rows), list(labels))
            self._first_rows = ()

    def _check_first_row(self, x: Mapping[Any, Any], y: Any) -> None:
        """Refuse a row that could not be learned with those that wait: it would keep all of them from being learned."""
        check_record(x)
        flattened(x)
        labels = _labels([x], [y])
        if self._first_rows:
            check_family(labels, _labels([x], [self._first_rows[0][1]]), "before")

    def _row(self, x: Mapping[Any, Any]) -> EncodedRows:
        return self._columns.row(x)

    @property
    def _columns(self) -> RowEncoder:
        columns = self._fitted.columns
        if columns is None:
            raise ValueError("a single row is a dict of columns, and this model has learned arrays: call partial_fit")
        return columns

    @property
    def columns_(self) -> RowEncoder | None:
        """What is known of the columns of a table: their kinds (``columns_.schema``), names and words; else None."""
        return self._known("columns_").columns

    def _takes_table(self, X: Any, anew: bool = False) -> bool:
        """Whether these rows are a table, to be encoded by what is known of its columns, or recognised anew."""
        if isinstance(X, TableRows):
            return True
        if self.__sklearn_is_fitted__() and not anew:
            return self._fitted.columns is not None
        if self.encoder is not None:
            return False
        if isinstance(X, list | tuple) and len(X) > 0 and isinstance(X[0], Mapping):
            return True
        check_previous_label(self.previous_label)
        if self.previous_label:
            return True
        return is_frame(X) and not _array_with_names(X)

    def _encoded_table(self, X: Any) -> EncodedRows:
        """Rows by what is known today, to be predicted."""
        columns = self._fitted.columns
        assert columns is not None
        table = _table(self, X, columns)
        return table.taken(columns, np.arange(len(table)))

    def _learn_table(self, X: Any, given: Given, rng: np.random.RandomState, anew: bool = False) -> None:
        """Learn the rows of a table in their order, or, ``anew``, forget everything and learn them in random order."""
        check_batch_size(self.batch_size)
        check_verbose(self.verbose)
        if is_lazy(X):
            X = X.collect()
        if anew or not self.__sklearn_is_fitted__():
            draft = object.__new__(type(self))
            draft.__dict__.update(self.__dict__)
            draft.__dict__.pop("_fitted", None)
            draft._begin_table(X, given, rng, anew)
            self.__dict__ = draft.__dict__
        else:
            self._go_on_with_table(X, given)

    def _begin_table(self, X: Any, given: Given, rng: np.random.RandomState, shuffled: bool) -> None:
        labels = _labels(X, given.y)
        weight = sample_weight_asked(given.sample_weight, len(labels))
        check_labels(given.classes)
        known = np.unique(labels if given.classes is None else labels_of(np.asarray(given.classes)))
        check_family(labels, known, "classes do")
        table = X if isinstance(X, TableRows) else _first_table(self, X, labels, len(known), shuffled)
        columns = table.encoder.copy()
        self.n_features_in_ = len(columns.schema.columns)
        if isinstance(X, TableRows):
            self.feature_names_in_ = np.array([column.name for column in columns.schema.columns], dtype=object)
        spec = InputSpec(
            columns.schema.n_features,
            len(known),
            "float32",
            columns.schema.sparse,
            learned=True,
            momentary=tuple(columns.momentary.tolist()),
        )
        self._fitted = replace(self._begun(spec, known, given.classes is not None, rng), columns=columns)
        self._fitted.refuse_strangers(np.setdiff1d(labels, known))
        order = rng.permutation(len(labels)) if shuffled else np.arange(len(labels))
        with self._fitted.learner.all_or_nothing():
            account = self._learn_rows(self._fitted, columns, table, labels, order, weight, given, None)
        self._fitted = replace(self._fitted, account=account)

    def _go_on_with_table(self, X: Any, given: Given) -> None:
        fitted, known = self._fitted, self._fitted.names
        learner, columns = fitted.learner, fitted.columns
        assert columns is not None
        if self._door is None or not self._door.open_for(vars(self), fitted):
            fitted.built.check_same(self._asked(fitted.built.spec))
        labels = _labels(X, given.y)
        table = _table(self, X, columns)
        weight = sample_weight_asked(given.sample_weight, len(labels))
        check_family(labels, known, "before")
        if given.classes is not None and not np.array_equal(np.unique(np.asarray(given.classes)), np.unique(known)):
            first, now = shown(known.tolist()), shown(given.classes)
            raise ValueError(f"classes must be those of the first call, {first}, got {now}")
        strangers = np.setdiff1d(labels, known)
        fitted.refuse_strangers(strangers)
        # a short call changes what is known of names in place, and takes it back if it fails; a long one has its own
        journal = ChangeLog() if len(labels) <= self.batch_size else None
        columns = columns if journal is not None else columns.copy()
        before = learner.memory
        try:
            with learner.all_or_nothing():
                going = fitted
                if len(strangers) or journal is None:
                    going = replace(fitted, names=np.concatenate([known, strangers]), columns=columns)
                if len(strangers):
                    self._fitted = going
                    learner.add_classes(len(going.names))
                order = np.arange(len(labels))
                account = self._learn_rows(going, columns, table, labels, order, weight, given, journal)
                self._fitted = replace(going, account=account)
        except BaseException:
            if learner.memory is before:  # undone, not merely interrupted after it was done
                self._fitted = fitted
                if journal is not None:
                    journal.undo()
            raise

    def _learn_rows(
        self,
        fitted: Fitted,
        columns: RowEncoder,
        table: TableRows,
        labels: Labels,
        order: Ints,
        weight: NDArray[np.float32] | None,
        given: Given,
        journal: ChangeLog | None,
    ) -> Account:
        """Encode, learn, and then learn what the rows tell of their names, batch by batch."""
        kept = kept_ids(fitted.learner, given.ids)
        if kept is not None and len(kept) != len(labels):
            raise ValueError(f"ids must be one a row: {len(labels)} rows, {len(kept)} ids")
        fitted.learner.class_weight = class_weight_asked(self.class_weight, fitted.names)
        y = positions(fitted.names, labels)
        found: list[tuple[EncodedRows, Ints]] = []

        def take(index: Ints) -> Batch:
            rows = table.taken(columns, index)
            found[:] = [(rows, y[index])]
            own = None if weight is None else torch.from_numpy(weight[index])
            return Batch(rows.x, torch.from_numpy(y[index]), ids=None if kept is None else kept[index], weight=own)

        order = order if weight is None else order[weight[order] > 0]
        return self._fed(fitted, take, y, order, given.said, lambda: columns.learn(*found[0], journal))

    def _learned_row(self, row: EncodedRows, y: Any) -> bool:
        """Whether this one row could be learned by the short way, whose settings were checked before, and is."""
        door, fitted = self._door, self._fitted
        if door is None or not door.open_for(vars(self), fitted) or fitted.columns is None:
            return False
        label, learner = door.labels([y]), fitted.learner
        if label is None or learner.keeps_ids or learner.waiting + 1 > self.batch_size:
            return False
        journal, before, batches = ChangeLog(), learner.memory, learner.batches
        waits = 0 < learner.waiting < self.batch_size - 1
        try:
            fitted.columns.learn(row, label.numpy(), journal)
            with nullcontext() if waits else learner.all_or_nothing():
                learner.follow(Batch(row.x, label), self.batch_size, 1)
                if learner.batches != batches:
                    self._fitted = replace(fitted, account=counted(fitted.account, learner, label.numpy()))
                    self._door = replace(door, fitted=self._fitted)
        except BaseException:
            if learner.memory is before:  # undone, not merely interrupted after it was done
                self._fitted = fitted
                journal.undo()
            raise
        return True


def _array_with_names(X: Any) -> bool:
    """Whether a frame holds numbers and nothing else, or is too wide for anything else: an array whose columns have
    names, and to be learned as one."""
    if is_lazy(X):
        return False
    values = np.asarray(X)
    if values.dtype.kind not in "biuf" or values.ndim != 2 or not values.shape[1]:
        return False
    if values.shape[1] > MOST_LOOKED_AT or not values.size:
        return True
    first = Records.of({str(place): values[:FIRST_ROWS, place].tolist() for place in range(values.shape[1])})
    kinds = {column.kind for column in recognised(first, Told("", classes=2)).columns}
    return kinds <= {NUMBER, TRUTH}


def _labels(X: Any, y: Any) -> Labels:
    """The labels of a table's rows, checked."""
    with one_line():
        if y is None:
            raise ValueError("y must hold a label for each row, got None")
        check_labels(y)
        values = column_or_1d(as_array(y), warn=True)
        if values.dtype.kind == "O":
            missing = next((row for row, value in enumerate(values) if is_missing(value)), None)
            if missing is not None:
                raise ValueError(f"y must hold a label for each row, got {shown(values[missing])} in row {missing}")
            values = np.array(values.tolist())
        check_consistent_length(_rows_of(X), values)
        if not len(values):
            raise ValueError("X must have at least one row, got none")
        check_classification_targets(values)
        return labels_of(values)


def _rows_of(X: Any) -> Any:
    """Something of as many rows."""
    if isinstance(X, TableRows | list | tuple):
        return range(len(X))
    return range(X.shape[0] if hasattr(X, "shape") else X.num_rows)


def _first_table(model: TableDoor, X: Any, labels: Labels, classes: int, any_order: bool) -> TableRows:
    """The rows of the first table that a model learns, and an encoder that has learned nothing yet."""
    records = _records(model, X, reset=True)
    first = Records.of({name: values[:FIRST_ROWS] for name, values in records.columns.items()})
    if not first.columns:
        raise ValueError("X must have at least one column, got none")
    told = {} if _has_columns(X) else dict.fromkeys(first.columns, NUMBER)
    with one_line():
        schema = recognised(first, Told("", kinds=told, classes=classes))
    found = leaks(schema, first, labels[:FIRST_ROWS].astype(str).tolist())
    warn_of(found)
    schema = with_leaks(schema.in_any_order() if any_order else schema, found)
    encoder = RowEncoder(schema)
    encoder.take_names(first)
    return TableRows(encoder.parse(records), encoder)


def _has_columns(X: Any) -> bool:
    """Whether rows say themselves what their columns are; an array is numbers."""
    return is_frame(X) or (isinstance(X, list | tuple) and len(X) > 0 and isinstance(X[0], Mapping))


def _dense(X: Any) -> Any:
    return X.toarray()


def _table(model: TableDoor, X: Any, columns: RowEncoder) -> TableRows:
    """The rows of a table by the columns that are known."""
    return X if isinstance(X, TableRows) else TableRows(columns.parse(_records(model, X, False, columns)), columns)


def _records(model: TableDoor, X: Any, reset: bool, columns: RowEncoder | None = None) -> Records:
    """A table's rows; of a frame, names and number of columns are checked as scikit-learn does."""
    wanted = None if columns is None else columns.schema.wanted
    if isinstance(X, list | tuple) and (not X or isinstance(X[0], Mapping)):
        stranger = next((item for item in X if not isinstance(item, Mapping)), None)
        if stranger is not None:
            raise ValueError(f"rows must all be dicts, as the first one, got {shown(stranger)}")
        rows = [flattened(item) for item in X]
        return replace(Records.of(columns_of(rows, wanted)), count=len(rows), at=np.arange(len(rows)))
    if is_lazy(X):
        X = X.collect()
    if is_frame(X):
        with one_line():
            names = list(map(str, columns_of_frame(X)))
            if not names:
                raise ValueError("X must have at least one column, got none")
            validate_data(model, X, reset=reset, skip_check_array=True)
            twice = [name for name in names if names.count(name) > 1]
            if twice:
                raise ValueError(f"there is more than one column {shown(twice[0])}")
        return all_records(X, wanted)
    with one_line():
        values = np.asarray(_dense(X) if sparse.issparse(X) else as_array(X))
        if values.ndim != 2:
            raise ValueError(f"X must be a table, rows of columns, got the shape {values.shape}")
        validate_data(model, values, reset=reset, skip_check_array=True)
    if columns is None:
        names = [f"x{place}" for place in range(values.shape[1])]
    else:
        names = [column.name for column in columns.schema.columns]
    return Records.of({name: values[:, place].tolist() for place, name in enumerate(names)})
