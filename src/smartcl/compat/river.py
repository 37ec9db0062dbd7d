"""River, both ways: our classifier where River expects one, and River's where ours reads files and tables.

Tested with River 0.26 by ``make compat``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse

from smartcl.columns.recognise import Told
from smartcl.columns.row_encoder import RowEncoder, TableRows
from smartcl.data.batch import Rows
from smartcl.estimator import SmartClassifier
from smartcl.files.sources import source_of
from smartcl.files.table_model import TableModel
from smartcl.files.training import Training

try:
    from river import base
except ModuleNotFoundError:
    raise ModuleNotFoundError("smartcl.compat.river needs River: pip install 'smartcl[drift]'") from None


class RiverSmart(base.Classifier):  # type: ignore[misc]
    """A ``SmartClassifier`` for River's pipelines, metrics and evaluations.

    Rows are dicts of numbers, truth values, names, dates and texts, with what is missing left out or None. Each is
    learned when it comes: the calls are the estimator's own ``learn_one``, ``predict_one`` and ``predict_proba_one``.
    The first ``batch_size`` rows wait until they all show what the columns are; a column that comes later is not read.
    The arguments are ``SmartClassifier``'s.

    >>> from river import datasets, evaluate, metrics
    >>> model = RiverSmart("20 kB", random_state=0)
    >>> evaluate.progressive_val_score(datasets.Phishing().take(400), model, metrics.Accuracy())
    Accuracy: ...%
    """

    def __init__(self, memory: str | int = "1MB", **settings: Any) -> None:
        self.memory, self.settings = memory, settings
        self.classifier = SmartClassifier(memory, **settings)

    @property
    def _multiclass(self) -> bool:
        return True

    def _get_params(self) -> dict[str, Any]:
        """What River makes a fresh copy from."""
        return {"memory": self.memory, **self.settings}

    def learn_one(self, x: dict[Any, Any], y: Any) -> None:
        """Learn one row."""
        self.classifier.learn_one(x, y)

    def flush(self) -> None:
        """Learn the rows that wait, for their batch or for what the columns are."""
        self.classifier.flush()

    def predict_proba_one(self, x: dict[Any, Any], **kwargs: Any) -> dict[Any, float]:
        """The probability of each class learned so far; none before the first rows were learned."""
        return self.classifier.predict_proba_one(x)


class FromRiver:
    """A classifier of River's with the calls of ours that learn and answer: rows are arrays, dense or sparse.

    >>> from river.naive_bayes import GaussianNB
    >>> X, y = np.array([[0.0], [0.1], [5.0], [5.1]]), np.array(["a", "a", "b", "b"])
    >>> model = FromRiver(GaussianNB()).partial_fit(X, y)
    >>> model.predict(np.array([[4.8], [0.2]])).tolist()
    ['b', 'a']
    """

    #: Nothing is known of what such a model holds.
    learner_ = SimpleNamespace(observed=None, waiting=0, batches=0)

    def __init__(self, model: Any, batch_size: int = 50) -> None:
        self.model, self.batch_size = model, batch_size
        self.classes_: NDArray[Any] = np.zeros(0)
        self.columns_: RowEncoder | None = None
        #: Labels in the order in which they came: what is known of names goes by it.
        self._order: list[Any] = []

    def __sklearn_is_fitted__(self) -> bool:
        return len(self.classes_) > 0

    def partial_fit(self, X: Any, y: NDArray[Any], ids: object = None) -> FromRiver:
        """Learn row by row."""
        y = np.asarray(y)
        if isinstance(X, TableRows):
            return self._learn_table(X, y)
        for row, label in zip(_dicts(X), y.tolist(), strict=True):
            self.model.learn_one(row, label)
        self.classes_ = np.unique(np.concatenate([self.classes_, y])) if len(self.classes_) else np.unique(y)
        return self

    def _learn_table(self, table: TableRows, y: NDArray[Any]) -> FromRiver:
        """Learn the rows of a table, and then what they tell of their names."""
        self.columns_ = table.encoder if self.columns_ is None else self.columns_
        found = table.taken(self.columns_, np.arange(len(table)))
        self.partial_fit(given_rows(found.x), y)
        self._order += [label for label in dict.fromkeys(y.tolist()) if label not in self._order]
        self.columns_.learn(found, np.array([self._order.index(label) for label in y.tolist()]))
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each class; of a row about which the model says nothing, equal ones."""
        if isinstance(X, TableRows) and self.columns_ is not None:
            X = given_rows(X.taken(self.columns_, np.arange(len(X))).x)
        known = self.classes_.tolist()
        found = [self.model.predict_proba_one(row) for row in _dicts(X)]
        table = np.array([[each.get(label, 0.0) for label in known] for each in found]).reshape(-1, len(known))
        table[table.sum(axis=1) == 0] = 1.0
        return np.asarray(table / table.sum(axis=1, keepdims=True), dtype=np.float64)

    def predict(self, X: Any) -> NDArray[Any]:
        labels: NDArray[Any] = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return labels


def train_river(
    model: Any,
    source: Any,
    label: str | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    batch_size: int = 50,
) -> TableModel:
    """As ``smartcl.train_stream``, with a classifier of River's in place of ours: it learns files, tables and dicts.

    >>> from river.tree import HoeffdingTreeClassifier
    >>> rows = [({"wind": wind, "sky": sky}, wind > 3) for wind in range(8) for sky in ("clear", "grey")]
    >>> table = train_river(HoeffdingTreeClassifier(grace_period=20), rows * 20)
    >>> table.predict([{"wind": 1, "sky": "grey"}, {"wind": 6, "sky": "clear"}]).tolist()
    ['false', 'true']
    """
    classifier = cast(SmartClassifier, FromRiver(model, batch_size))
    name = label or "label"
    return Training(source_of(source, name, batch_size), Told(name, None, columns or {}), classifier).run()


def _dicts(X: Any) -> Iterator[dict[int, float]]:
    """Rows as River takes them, by number of the column; of sparse rows what is not zero."""
    if sparse.issparse(X):
        rows = sparse.csr_array(cast(Any, X))
        for first, end in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
            yield dict(zip(rows.indices[first:end].tolist(), rows.data[first:end].tolist(), strict=True))
    else:
        for row in np.asarray(X).tolist():
            yield dict(enumerate(row))


def given_rows(x: Rows) -> Any:
    """Rows as a user has them: an array, or CSR."""
    return x.numpy() if isinstance(x, torch.Tensor) else x
