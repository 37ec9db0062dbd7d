"""Explanations of single predictions: how far the probability falls when a column has its usual value instead.

It costs one prediction for each column, or for each word of a text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse

from smartcl.data.batch import Ints, Rows, take_rows
from smartcl.memory import SampleStore
from smartcl.memory.export import stored_rows

#: Stored samples among which the usual value of a column is looked for.
MOST_ASKED = 1000


@dataclass(frozen=True)
class Explanation:
    """A row's prediction, its probability, and by how much each part of the row raises it, the most first."""

    prediction: str
    probability: float
    parts: list[tuple[str, float]]


def usual_values(store: SampleStore, groups: Mapping[str, Ints]) -> Mapping[str, NDArray[np.float32]]:
    """By column, the features of the stored sample that is nearest to the mean of the column.

    Of a number this is close to its mean, of a category the commonest name.
    """
    rows = stored_rows(store, np.arange(len(store))[-MOST_ASKED:])
    found = {}
    for name, features in groups.items():
        block = rows.numpy()[:, features] if isinstance(rows, torch.Tensor) else rows[:, features].toarray()
        block = block.astype(np.float32)
        width = block.std(axis=0) + 1e-12
        found[name] = block[np.square((block - block.mean(axis=0)) / width).sum(axis=1).argmin()]
    return found


def explained(
    predict_proba: Callable[[Any], NDArray[np.float64]],
    row: Rows,
    groups: Mapping[str, Ints],
    usual: Mapping[str, NDArray[np.float32]],
    classes: list[str],
    word: Callable[[int], str],
    others: tuple[list[str], Rows] | None = None,
) -> Explanation:
    """One encoded row: its prediction, and what each of its columns says for it.

    Of a sparse row each non-zero feature outside of the groups, a word, is left out in turn. ``others`` are the row
    without what each of the names stands for.
    """
    names, changed = (_dense if isinstance(row, torch.Tensor) else _sparse)(row, groups, usual, word)
    if others is not None and isinstance(others[1], torch.Tensor):
        names, changed = [*names, *others[0]], np.concatenate([changed, others[1].numpy()])
    answers = predict_proba(changed)
    best = int(answers[0].argmax())
    falls = (answers[0, best] - answers[1:, best]).tolist()
    parts = sorted(zip(names, falls, strict=True), key=lambda part: -abs(part[1]))
    return Explanation(classes[best], float(answers[0, best]), parts)


def _dense(
    row: Any, groups: Mapping[str, Ints], usual: Mapping[str, NDArray[np.float32]], word: Callable[[int], str]
) -> tuple[list[str], Any]:
    """The row, and with each column at its usual value."""
    changed = np.repeat(row.numpy(), 1 + len(groups), axis=0)
    for place, (name, features) in enumerate(groups.items(), 1):
        changed[place, features] = usual[name]
    return list(groups), changed


def _sparse(
    row: Any, groups: Mapping[str, Ints], usual: Mapping[str, NDArray[np.float32]], word: Callable[[int], str]
) -> tuple[list[str], Any]:
    """The same of a sparse row; then without each of its words."""
    names, changed = list(groups), [row]
    for name, features in groups.items():
        other = row.tolil()
        other[0, features] = usual[name]
        changed.append(other)
    grouped = np.concatenate([*groups.values(), np.zeros(0, dtype=np.int64)])
    for feature in np.setdiff1d(row.indices[row.data != 0], grouped).tolist():
        other = row.copy()
        other.data = np.where(other.indices == feature, np.float32(0), other.data)
        names.append(word(feature))
        changed.append(other)
    return names, sparse.csr_array(sparse.vstack(changed, format="csr").astype(np.float32))


def each_row(rows: Rows) -> list[Rows]:
    """The rows one by one, each as a table of one."""
    return [take_rows(rows, np.array([at])) for at in range(rows.shape[0])]
