"""Rows that were answered and whose labels are not known yet: they are learned when their labels have come."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse

from smartcl.account.account import Guesses
from smartcl.columns.row_encoder import EncodedRows, RowEncoder
from smartcl.data.batch import Rows
from smartcl.learners.ids import ids_of
from smartcl.saving.saved import Saved


@dataclass(frozen=True, eq=False)
class AnsweredRows:
    """A batch: what it was encoded as, labels and ids, the number of its first row, and what was answered."""

    made: EncodedRows
    labels: Sequence[str]
    ids: Sequence[Any] | None
    first: int
    probabilities: NDArray[np.float64] | None
    guesses: Guesses | None = None

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def x(self) -> Rows:
        """Its features."""
        return self.made.x

    @property
    def nbytes(self) -> int:
        """What the features and the answers take."""
        x = [self.x.numpy()] if isinstance(self.x, torch.Tensor) else [self.x.data, self.x.indices, self.x.indptr]
        said = [] if self.probabilities is None else [self.probabilities]
        return sum(part.nbytes for part in (*x, *said))

    def without(self, ids: Collection[int]) -> AnsweredRows:
        """Without the rows of these ids, as they are stored (``learners/ids.py``)."""
        if self.ids is None:
            return self
        stored = enumerate(ids_of(self.ids).tolist())
        left = np.array([row for row, known in stored if known not in ids], dtype=np.int64)
        if len(left) == len(self):
            return self
        labels, own = [self.labels[row] for row in left], [self.ids[row] for row in left]
        said = None if self.probabilities is None else self.probabilities[left]
        return AnsweredRows(self.made.take(left), labels, own, self.first, said, self.guesses)

    def state_dict(self) -> dict[str, Any]:
        dense = isinstance(self.x, torch.Tensor)
        parts = {"values": self.x} if dense else {name: getattr(self.x, name) for name in ("data", "indices", "indptr")}
        return {
            "x": {"dense": dense, "width": int(self.x.shape[1]), **parts},
            "made": self.made.state_dict(),
            "labels": list(self.labels),
            "ids": None if self.ids is None else [None if known is None else str(known) for known in self.ids],
            "first": self.first,
            "probabilities": self.probabilities,
            "guesses": None if self.guesses is None else list(self.guesses),
        }

    @classmethod
    def from_state(cls, saved: Saved, columns: RowEncoder, classes: int) -> AnsweredRows:
        """The same again, as these columns are encoded, or a ``StateError``."""
        width = columns.schema.n_features
        labels, rows = saved.items("labels"), saved.part("x")
        n = len(labels)
        if not all(isinstance(label, str) for label in labels) or rows.whole("width", 1) != width:
            saved.refuse("x", f"must be rows of {width} features with a text as the label of each")
        ids = saved.optional_items("ids")
        if ids is not None and (len(ids) != n or not all(known is None or isinstance(known, str) for known in ids)):
            saved.refuse("ids", f"must be {n} texts")
        x: Rows
        if rows.flag("dense"):
            x = rows.tensor("values", (n, width))
        else:
            indptr = rows.array("indptr", (n + 1,), "int32", "int64")
            entries = int(indptr[-1])
            indices = rows.array("indices", (entries,), "int32", "int64")
            steady = indptr[0] == 0 and (np.diff(indptr) >= 0).all()
            if not steady or (entries and not 0 <= indices.min() <= indices.max() < width):
                saved.refuse("x", f"must be sparse rows of {width} features")
            x = sparse.csr_array((rows.array("data", (entries,), "float32"), indices, indptr), shape=(n, width))
        guesses = saved.optional_items("guesses")
        if guesses is not None and (len(guesses) != 2 or not all(g in range(classes) for g in guesses)):
            saved.refuse("guesses", f"must be two classes below {classes}")
        said = saved.array("probabilities", (n, None), "float64") if saved.has("probabilities") else None
        if said is not None and not 1 <= said.shape[1] <= classes:
            saved.refuse("probabilities", f"must be of 1 to {classes} classes")
        first = saved.whole("first", 0)
        made = columns.encoded_from(saved.part("made"), x)
        return cls(made, labels, ids, first, said, None if guesses is None else Guesses(*guesses))
