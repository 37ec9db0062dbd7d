"""Columns that nearly determine the label by themselves: usually they were made from it, or are known only after it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smartcl.columns.column_schema import AS_NUMBERS, CATEGORY, Column, ColumnSchema
from smartcl.columns.records import Records
from smartcl.columns.values import name_of, numbers_of

#: The share of later rows that one column alone gets right, in the mean over classes, to be named in a warning. The
#: duration of bank's calls reaches 0.75, petal width 0.96 on irises, the delay from which flights are called late 1.0.
NEARLY = 0.98
#: Fewer rows of a class, among those that are learned or those that are tested, say nothing.
LEAST_ROWS = 8
#: The leaves of the tree of a number.
LEAVES = 8


@dataclass(frozen=True)
class Leak:
    """A column, and its balanced accuracy on later rows."""

    column: str
    accuracy: float
    rows: int

    def __str__(self) -> str:
        return (
            f"the column {self.column!r} alone tells the label of {self.accuracy:.1%} of later rows (balanced accuracy "
            f"on {self.rows:,} rows, of a tree of {LEAVES} leaves or of the commonest label of each name): if it is "
            f"known only after the label, leave it out with --ignore {self.column!r} (in Python: "
            f"columns={{{self.column!r}: 'ignored'}}, or a table without it)"
        )


def leaks(schema: ColumnSchema, records: Records, labels: Sequence[str | None]) -> list[Leak]:
    """The columns that nearly determine the label: learned on the first half of these rows, tested on the second."""
    known = [row for row, label in enumerate(labels) if label is not None]
    names, y = np.unique(np.array([labels[row] for row in known], dtype=str), return_inverse=True)
    half = len(known) // 2
    counts = np.array([np.bincount(part, minlength=len(names)) for part in (y[:half], y[half:])])
    usable = np.flatnonzero((counts >= LEAST_ROWS).all(axis=0)) if len(names) > 1 else np.zeros(0)
    if len(usable) < 2:
        return []
    rows = np.flatnonzero(np.isin(y, usable))
    first, later = rows[rows < half], rows[rows >= half]
    found = []
    for column in schema.used:
        if column.name in records.columns and (column.kind in AS_NUMBERS or column.kind == CATEGORY):
            values = [records.columns[column.name][row] for row in known]
            answers = _answers(column, values, y, first, later)
            right = float(np.mean([(answers[y[later] == each] == each).mean() for each in usable]))
            if right >= NEARLY:
                found.append(Leak(column.name, right, len(later)))
    return found


def warn_of(found: Sequence[Leak]) -> None:
    """A warning for each of them."""
    for leak in found:
        warnings.warn(str(leak), stacklevel=2)


def with_leaks(schema: ColumnSchema, found: Sequence[Leak]) -> ColumnSchema:
    """The schema, with a word of them."""
    told = {leak.column: f"alone it tells the label of {leak.accuracy:.0%} of later rows" for leak in found}
    columns = (
        replace(column, why=f"{column.why}; {told[column.name]}") if column.name in told else column
        for column in schema.columns
    )
    return replace(schema, columns=tuple(columns))


def _answers(
    column: Column, values: Sequence[Any], y: NDArray[np.int64], first: NDArray[np.int64], later: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The labels of later rows by this column alone."""
    if column.kind == CATEGORY:
        names = [name_of(value) for value in values]
        counts: dict[str | None, NDArray[np.int64]] = {}
        for row in first.tolist():
            counts.setdefault(names[row], np.zeros(y.max() + 1, np.int64))[y[row]] += 1
        usual = int(np.bincount(y[first]).argmax())
        by_name = {name: int(count.argmax()) for name, count in counts.items()}
        return np.array([by_name.get(names[row], usual) for row in later.tolist()])
    from sklearn.tree import DecisionTreeClassifier  # late: who brings a schema does not wait for it

    numbers = numbers_of(values, column.reader)
    x = np.where(np.isfinite(numbers), numbers, column.fill)[:, None]
    tree = DecisionTreeClassifier(max_leaf_nodes=LEAVES, class_weight="balanced", random_state=0)
    found: NDArray[np.int64] = tree.fit(x[first], y[first]).predict(x[later])
    return found
