"""Recursive logistic regression on the values: one Newton step a batch, at several forgetting rates.

Each rate keeps weights and a curvature, the second moments of the rows weighed by how undecided the answers were. A
batch changes the weights by one Newton step of its softmax loss; the curvature stands for the rows before it. This is
the extended Kalman filter of a logistic model, with one curvature for all classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from smartcl.data.batch import Doubles, Floats, Ints
from smartcl.data.spec import InputSpec
from smartcl.learners.class_places import placed
from smartcl.learners.ensemble.drift import CHANGED, Change
from smartcl.learners.ensemble.feature_maps import FeatureMap
from smartcl.learners.ensemble.member import Joint, MemberTerm, Past, log_softmax
from smartcl.learners.ensemble.rows import Samples, View
from smartcl.learners.ensemble.settings import AFTER_JUMP, BATCH_ROWS, FORGETTING, LEAST
from smartcl.learners.ensemble.sums import JITTER
from smartcl.saving.saved import Saved

#: Scores beyond this are taken as sure: exp must not overflow.
SURE_SCORE = 30.0


@dataclass(frozen=True, eq=False)
class Filter:
    """One recursive logistic regression: ``weights`` [feature, class] and ``curvature`` [feature, feature].

    >>> rng = np.random.default_rng(0)
    >>> rows = np.hstack([np.ones((50, 1)), rng.normal(size=(50, 2))]).astype(np.float32)
    >>> y = (rows[:, 1] > rows[:, 2]).astype(int)
    >>> taught = Filter.empty(3, 2)
    >>> for _ in range(5):
    ...     taught = taught.after(rows, y, None, forgetting=0.97)
    >>> float((taught.scores(rows).argmax(axis=1) == y).mean()) > 0.95
    True
    """

    weights: Doubles
    curvature: Doubles

    @classmethod
    def empty(cls, width: int, n_classes: int) -> Filter:
        return cls(np.zeros((width, n_classes)), np.zeros((width, width)))

    def scores(self, features: Floats) -> Doubles:
        found: Doubles = np.clip(features @ self.weights, -SURE_SCORE, SURE_SCORE)
        return found

    def after(self, features: Floats, y: NDArray[Any], weight: Floats | None, forgetting: float) -> Filter:
        """One Newton step for these rows, after forgetting a part of the curvature of those before."""
        rows = features.astype(np.float64)
        shares = np.exp(log_softmax(self.scores(features)))
        undecided = np.maximum(shares * (1 - shares), LEAST).mean(axis=1)
        residual = np.eye(shares.shape[1])[y] - shares
        if weight is not None:
            undecided, residual = undecided * weight, residual * weight[:, None]
        curvature = forgetting * self.curvature + (rows * undecided[:, None]).T @ rows
        held = curvature + (1 + JITTER * np.trace(curvature) / len(curvature)) * np.eye(len(curvature))
        weights = self.weights + np.linalg.solve(held, rows.T @ residual)
        return Filter(weights, curvature) if np.isfinite(weights).all() else Filter.empty(*weights.shape)

    def weaker(self, share: float) -> Filter:
        """As if only this share of the rows had come: the next ones move the weights more."""
        return replace(self, curvature=share * self.curvature)

    def widened(self, n_classes: int) -> Filter:
        more = n_classes - self.weights.shape[1]
        return replace(self, weights=np.pad(self.weights, ((0, 0), (0, more))))

    @classmethod
    def combined(cls, parts: Sequence[tuple[float, float, Filter]]) -> Filter:
        """What filters of different rows know together, each by a factor for its curvature and a share of the rows.

        Curvatures add up; a negative factor takes out again what filters have in common. Weights are the mean by
        shares, each weight counting by how sure its filter is of it. The product of what all say would count each
        part's steps in full, all of them taken from one beginning: on covtype, 64 shards of a base, it put 54% right,
        the mean 73%.

        >>> sure, unsure = (Filter(np.array([[w, -w]]), np.array([[c]])) for w, c in ((1.0, 98.0), (3.0, 0.0)))
        >>> Filter.combined([(1, 0.5, sure), (1, 0.5, unsure)]).weights.round(2)
        array([[ 1.02, -1.02]])
        """
        prior = np.eye(len(parts[0][2].curvature))
        curvature, sure = np.zeros_like(prior), np.zeros_like(prior)
        said = np.zeros_like(parts[0][2].weights)
        for factor, share, part in parts:
            curvature += factor * part.curvature
            own = share * (part.curvature + (1 + JITTER * np.trace(part.curvature) / len(prior)) * prior)
            sure += own
            said += own @ part.weights
        weights: Doubles = np.linalg.solve(sure, said).astype(np.float64)
        return cls(weights, curvature) if np.isfinite(weights).all() else cls.empty(*weights.shape)


@dataclass(frozen=True, eq=False)
class Logistic:
    """A filter for each forgetting rate. That of the whole past does not go by what tells of the newest labels.

    Much of what the hour tells of a flight, the flights just before it tell as well. With them, less is learned of the
    hour, and too little is known where the newest labels are not.
    """

    filters: tuple[Filter, ...]
    #: The columns of the values that tell of the newest labels.
    momentary: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    name: str = "logistic"

    @classmethod
    def of(cls, spec: InputSpec, features: FeatureMap) -> Self:
        """One that has learned nothing."""
        filters = tuple(Filter.empty(features.linear, spec.n_classes) for _ in FORGETTING)
        return cls(filters, features.linear - spec.n_features + np.array(spec.momentary, np.int64))

    @property
    def experts(self) -> Sequence[str]:
        return [f"{rate:g}" for rate in FORGETTING]

    def answers(self, rows: View, past: Past) -> Floats:
        values = rows.features[:, : len(self.filters[0].weights)]
        scores = np.clip(values @ self._weights, -SURE_SCORE, SURE_SCORE)  # of all filters at once
        return log_softmax(scores.astype(np.float32).reshape(len(rows), len(self.filters), -1))

    @cached_property
    def _weights(self) -> Doubles:
        """Those of all filters, side by side."""
        return np.concatenate([each.weights for each in self.filters], axis=1)

    def learn(self, new: Samples, past: Past) -> Self:
        return self._with(new.rows.features, new.y, new.weight)

    def _with(self, features: Floats, y: NDArray[Any], weight: Floats | None) -> Self:
        values, batches = features[:, : len(self.filters[0].weights)], len(y) / BATCH_ROWS
        lasting = values
        if len(self.momentary):
            lasting = values.copy()
            lasting[:, self.momentary] = 0.0
        rates = zip(self.filters, FORGETTING, (lasting, *[values] * len(self.filters)), strict=False)
        return replace(self, filters=tuple(each.after(x, y, weight, rate**batches) for each, rate, x in rates))

    def restarted(self, samples: Samples, past: Past) -> Self:
        width, n_classes = self.filters[0].weights.shape
        known = replace(self, filters=tuple(Filter.empty(width, n_classes) for _ in self.filters))
        for start in range(0, len(samples), BATCH_ROWS):
            part = slice(start, start + BATCH_ROWS)
            weight = None if samples.weight is None else samples.weight[part]
            known = known._with(samples.rows.features[part], samples.y[part], weight)
        return known

    def without(self, gone: Samples) -> Self:
        """Weights keep what they were taught."""
        return self

    def after_jump(self) -> Self:
        """Those that forget follow the next rows at once."""
        first, *others = self.filters
        return replace(self, filters=(first, *(each.weaker(AFTER_JUMP) for each in others)))

    def after_change(self, change: Change, past: Past) -> Self:
        if change.kind != CHANGED:
            return self
        return replace(self, filters=tuple(each.weaker(AFTER_JUMP) for each in self.filters))

    def widened(self, n_classes: int, rng: np.random.Generator) -> Self:
        return replace(self, filters=tuple(each.widened(n_classes) for each in self.filters))

    def combined(self, parts: Sequence[MemberTerm[Self]], joint: Joint) -> Self:
        if not joint.adds_up:
            return self.restarted(joint.for_all_rows, joint.past)
        n_classes = joint.past.spec.n_classes
        found = []
        for place, rate in enumerate(FORGETTING):
            own = [part.member.filters[place] for part in parts]
            wide = [
                replace(each, weights=placed(each.weights, part.at, n_classes))
                for each, part in zip(own, parts, strict=True)
            ]
            factors = [(part.count if rate == 1 else part.share, part.share) for part in parts]
            found.append(Filter.combined([(*both, each) for both, each in zip(factors, wide, strict=True)]))
        return replace(self, filters=tuple(found))

    @property
    def nbytes(self) -> int:
        return sum(each.weights.nbytes + each.curvature.nbytes for each in self.filters)

    def state_dict(self) -> dict[str, Any]:
        return {"filters": [{"weights": each.weights, "curvature": each.curvature} for each in self.filters]}

    def loaded(self, saved: Saved) -> Self:
        states = saved.parts("filters")
        if len(states) != len(self.filters):
            saved.refuse("filters", f"must be {len(self.filters)}")
        return replace(
            self,
            filters=tuple(
                Filter(*(np.array(part.array(name, getattr(mine, name).shape, "float64")) for name in vars(mine)))
                for mine, part in zip(self.filters, states, strict=True)
            ),
        )
