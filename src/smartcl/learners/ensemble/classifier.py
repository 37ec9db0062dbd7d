"""A scikit-learn classifier as a member: it learns row by row, or is refitted on the newest stored samples."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from smartcl.data.batch import Floats, Ints
from smartcl.learners.ensemble.drift import Change
from smartcl.learners.ensemble.member import Past, log_shares
from smartcl.learners.ensemble.rows import Samples, View
from smartcl.learners.ensemble.settings import BATCH_ROWS, LOOK_ROWS, TREE_ROWS
from smartcl.saving.saved import Saved


@dataclass(frozen=True, eq=False)
class Classifier:
    """``fitted`` is a copy of ``given`` that has learned ``classes``; scaled rows are what it learns.

    Its weights are of no known form, so they are not saved: a loaded model fits it to the memory again.
    """

    name: str
    given: Any
    fitted: Any = None
    classes: tuple[int, ...] = ()
    rows: int = 0
    fitted_at: int = 0

    @property
    def experts(self) -> Sequence[str]:
        return [type(self.given).__name__]

    def answers(self, rows: View, past: Past) -> Floats:
        n_classes = past.spec.n_classes
        shares = np.full((len(rows), n_classes), 1 / n_classes, np.float32)
        if self.fitted is not None:
            shares[:] = 0.0
            shares[:, list(self.classes)] = self._shares(rows.values)
        return log_shares(shares)[:, None]

    def _shares(self, values: Any) -> Floats:
        """The probabilities of its classes; all on the class that it predicts, if it has none."""
        if hasattr(self.fitted, "predict_proba"):
            return np.asarray(self.fitted.predict_proba(values), dtype=np.float32)
        return np.eye(len(self.classes), dtype=np.float32)[np.asarray(self.fitted.predict(values), dtype=np.int64)]

    def learn(self, new: Samples, past: Past) -> Self:
        counted = replace(self, rows=self.rows + len(new))
        if hasattr(self.given, "partial_fit"):
            return counted._taught(new, past)
        since, recent = counted.rows - self.fitted_at, past.recent.last(TREE_ROWS)
        due = since >= (LOOK_ROWS if self.fitted_at >= LOOK_ROWS else max(BATCH_ROWS, self.fitted_at))
        return (
            counted._refitted(recent.values, recent.y, recent.weight) if due and len(recent) >= BATCH_ROWS else counted
        )

    def _taught(self, new: Samples, past: Past) -> Self:
        """After ``partial_fit``; from the memory where a class is new to it."""
        known = tuple(range(past.spec.n_classes))
        if self.fitted is None or self.classes != known:
            recent = past.recent
            begun = replace(self, fitted=clone(self.given), classes=known)
            return begun._with(recent.values, recent.y, recent.weight)._with(new.rows.values, new.y, new.weight)
        return replace(self, fitted=deepcopy(self.fitted))._with(new.rows.values, new.y, new.weight)

    def _with(self, values: Any, y: Ints, weight: Floats | None) -> Self:
        if len(y):
            extra = {"sample_weight": weight} if weight is not None and self._takes_weights("partial_fit") else {}
            self.fitted.partial_fit(values, y, classes=np.array(self.classes), **extra)
        return self

    def _refitted(self, values: Any, y: Ints, weight: Floats | None) -> Self:
        classes, place = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            return self
        extra = {"sample_weight": weight} if weight is not None and self._takes_weights("fit") else {}
        fitted = clone(self.given).fit(values, place, **extra)
        return replace(self, fitted=fitted, classes=tuple(classes.tolist()), fitted_at=self.rows)

    def _takes_weights(self, how: str) -> bool:
        own = type(self.given)
        return has_fit_parameter(self.given, "sample_weight") and hasattr(own, how)

    def restarted(self, samples: Samples, past: Past) -> Self:
        values, n_classes = samples.rows.values, past.spec.n_classes
        if hasattr(self.given, "partial_fit"):
            begun = replace(self, fitted=clone(self.given), classes=tuple(range(n_classes)))
            return begun._with(values, samples.y, samples.weight)
        return self._refitted(values, samples.y, samples.weight) if len(samples) >= BATCH_ROWS else self

    def without(self, gone: Samples) -> Self:
        """Weights keep what they were taught."""
        return self

    def after_jump(self) -> Self:
        return self

    def after_change(self, change: Change, past: Past) -> Self:
        """Refit with the next rows: the memory may have let go of what is outdated."""
        return replace(self, fitted_at=max(0, self.rows - LOOK_ROWS))

    def widened(self, n_classes: int, rng: np.random.Generator) -> Self:
        return self

    @property
    def nbytes(self) -> int:
        """Of the arrays that its attributes are."""
        held = {} if self.fitted is None else vars(self.fitted)
        return sum(value.nbytes for value in held.values() if isinstance(value, np.ndarray))

    def state_dict(self) -> dict[str, Any]:
        return {"rows": self.rows, "fitted_at": self.fitted_at}

    def loaded(self, saved: Saved) -> Self:
        rows, fitted_at = saved.whole("rows", 0), saved.whole("fitted_at", 0)
        return replace(self, fitted=None, classes=(), rows=rows, fitted_at=fitted_at)
