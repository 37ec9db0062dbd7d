"""Softmax regression on sparse rows by steps of AdaGrad, on the new rows and on as many stored ones drawn at random.

Columns are hashed into a bounded number of rows of weights. A batch touches the weights of its own columns alone, so
it costs its non-zeros, whatever the width of the stream.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy import sparse

from smartcl.data.batch import Floats
from smartcl.data.spec import InputSpec
from smartcl.learners.class_places import placed
from smartcl.learners.ensemble.drift import CHANGED, Change
from smartcl.learners.ensemble.feature_maps import hashed
from smartcl.learners.ensemble.member import Joint, MemberTerm, Past, log_softmax
from smartcl.learners.ensemble.neighbours import unit_rows
from smartcl.learners.ensemble.recent import learnable
from smartcl.learners.ensemble.rows import Samples, View
from smartcl.learners.ensemble.settings import (
    AFTER_JUMP,
    BATCH_ROWS,
    LINEAR_COLUMNS,
    LINEAR_RATE,
    LINEAR_STEPS,
    LONG_ROWS,
)
from smartcl.saving.saved import Saved

WordRows = sparse.csr_array[Any, tuple[int, int]]


@dataclass(frozen=True, eq=False)
class Linear:
    """``weights`` [column, class] and ``squares``, the sums of the squared slopes that AdaGrad divides by.

    Column 0 is the constant.
    """

    weights: Floats
    squares: Floats
    seed: int = 0
    name: str = "linear"

    @classmethod
    def of(cls, spec: InputSpec) -> Self:
        """One that has learned nothing."""
        shape = (1 + min(spec.n_features, LINEAR_COLUMNS), spec.n_classes)
        return cls(np.zeros(shape, np.float32), np.zeros(shape, np.float32))

    @property
    def experts(self) -> Sequence[str]:
        return ["softmax"]

    def answers(self, rows: View, past: Past) -> Floats:
        scores: Floats = self._placed(rows.values) @ self.weights
        return log_softmax(scores)[:, None]

    def learn(self, new: Samples, past: Past) -> Self:
        known, taught = learnable(past.memory.store), self
        for start in range(0, len(new), BATCH_ROWS):
            part = new.taken(np.arange(start, min(start + BATCH_ROWS, len(new))))
            drawn = past.rng.choice(known, min(len(known), 2 * len(part)), replace=False) if len(known) else known
            taught = taught._after(part, past.read(np.sort(drawn)) if len(drawn) else None)
        return taught

    def _after(self, new: Samples, old: Samples | None) -> Self:
        """Some steps on these samples together."""
        parts = [new] if old is None else [new, old]
        x = sparse.vstack([self._placed(part.rows.values) for part in parts], format="csr")
        y = np.concatenate([part.y for part in parts])
        weight = np.concatenate([np.ones(len(p), np.float32) if p.weight is None else p.weight for p in parts])
        columns, place = np.unique(x.indices, return_inverse=True)
        local = sparse.csr_array((x.data, place, x.indptr), shape=(len(y), len(columns)))
        turned, weights, squares = local.T.tocsr(), self.weights[columns], self.squares[columns]
        targets = np.eye(weights.shape[1], dtype=np.float32)[y]
        for _ in range(LINEAR_STEPS):
            wrong = (np.exp(log_softmax(local @ weights)) - targets) * weight[:, None]
            slope = turned @ wrong
            squares = squares + np.square(slope)
            weights = weights - np.float32(LINEAR_RATE) * slope / np.sqrt(squares + np.float32(1e-12))
        if not np.isfinite(weights).all():
            return replace(self, weights=np.zeros_like(self.weights), squares=np.zeros_like(self.squares))
        return self._with(columns, weights, squares)

    def _with(self, columns: Any, weights: Floats, squares: Floats) -> Self:
        all_weights, all_squares = self.weights.copy(), self.squares.copy()
        all_weights[columns], all_squares[columns] = weights, squares
        return replace(self, weights=all_weights, squares=all_squares)

    def _placed(self, values: WordRows) -> WordRows:
        """Rows of length one, their columns hashed, after a constant."""
        rows, buckets = unit_rows(values), len(self.weights) - 1
        place, data = rows.indices.astype(np.int64), rows.data.astype(np.float32)
        if values.shape[1] > buckets:
            place, sign = hashed(rows.indices, self.seed, buckets)
            data = data * sign
        indptr = rows.indptr + np.arange(len(rows.indptr))
        first = indptr[:-1]
        indices, all_data = np.zeros(indptr[-1], np.int64), np.ones(indptr[-1], np.float32)
        others = np.ones(indptr[-1], np.bool_)
        others[first] = False
        indices[others], all_data[others] = 1 + place, data
        return sparse.csr_array((all_data, indices, indptr), shape=(rows.shape[0], 1 + buckets))

    def restarted(self, samples: Samples, past: Past) -> Self:
        begun = replace(self, weights=np.zeros_like(self.weights), squares=np.zeros_like(self.squares))
        for start in range(0, len(samples), BATCH_ROWS):
            begun = begun._after(samples.taken(np.arange(start, min(start + BATCH_ROWS, len(samples)))), None)
        return begun

    def without(self, gone: Samples) -> Self:
        """Weights keep what they were taught."""
        return self

    def after_jump(self) -> Self:
        """Larger steps: the next rows may be of another concept."""
        return replace(self, squares=np.float32(AFTER_JUMP) * self.squares)

    def after_change(self, change: Change, past: Past) -> Self:
        return self.after_jump() if change.kind == CHANGED else self

    def widened(self, n_classes: int, rng: np.random.Generator) -> Self:
        more = ((0, 0), (0, n_classes - self.weights.shape[1]))
        return replace(self, weights=np.pad(self.weights, more), squares=np.pad(self.squares, more))

    def combined(self, parts: Sequence[MemberTerm[Self]], joint: Joint) -> Self:
        """The mean of the weights, each by its share of the rows, and then steps on the newest stored samples."""
        if not joint.adds_up:
            return self.restarted(joint.for_all_rows, joint.past)
        n_classes, new = self.weights.shape[1], [part for part in parts if part.share]
        weights, squares = (
            sum(np.float32(part.share) * placed(getattr(part.member, name), part.at, n_classes) for part in new)
            for name in ("weights", "squares")
        )
        taught, count = replace(self, weights=np.asarray(weights), squares=np.asarray(squares)), len(joint.samples)
        for start in range(max(0, count - LONG_ROWS), count, BATCH_ROWS):
            taught = taught._after(joint.samples.taken(np.arange(start, min(start + BATCH_ROWS, count))), None)
        return taught

    @property
    def nbytes(self) -> int:
        return self.weights.nbytes + self.squares.nbytes

    def state_dict(self) -> dict[str, Any]:
        return {"weights": self.weights, "squares": self.squares}

    def loaded(self, saved: Saved) -> Self:
        weights, squares = (np.array(saved.array(n, self.weights.shape, "float32")) for n in ("weights", "squares"))
        if (squares < 0).any():
            saved.refuse("squares", "must not be negative")
        return replace(self, weights=weights, squares=squares)
