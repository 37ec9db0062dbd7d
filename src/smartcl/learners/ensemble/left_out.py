"""Probabilities of stored samples by models that have not learned them.

Ridge regression leaves each sample out in closed form, out of sums of the whole past if there are any; neighbours are
asked without the sample itself; trees, and logistic regression on sparse rows, are fitted to folds of the memory. The
answers are weighed as in the ensemble. Samples of before a change of the stream are judged among themselves.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from smartcl.data.batch import Bools, Doubles, Floats, Ints
from smartcl.learners.ensemble.ensemble import Ensemble
from smartcl.learners.ensemble.feature_maps import FeatureMap, RandomFeatures, first_map
from smartcl.learners.ensemble.frame import Frame
from smartcl.learners.ensemble.member import Recent, log_shares, log_softmax
from smartcl.learners.ensemble.neighbours import squared_distances, unit_rows, votes
from smartcl.learners.ensemble.recent import roles
from smartcl.learners.ensemble.ridge import Ridge
from smartcl.learners.ensemble.rows import unscaled
from smartcl.learners.ensemble.settings import BATCH_ROWS, PENALTIES, SETTLED_ROWS, SHARPNESS, WIDE
from smartcl.learners.ensemble.sums import JITTER, Sums, leave_one_out
from smartcl.learners.ensemble.trees import Trees, lightgbm
from smartcl.learners.ensemble.weighting import Answered, Weights
from smartcl.learners.stream_learner import StreamLearner
from smartcl.memory.export import stored_rows
from smartcl.memory.pool import DORMANT

#: Parts of the memory: trees are fitted to all but one, and asked about that one.
FOLDS = 5
#: Samples whose distances to others are computed at a time, and how many others there are at most: beyond, the time
#: would grow with the square of the samples, and neighbours counted for nothing (bank, 33,000 samples).
ASKED_ROWS, MOST_NEIGHBOURS = 500, 10_000


@dataclass(frozen=True)
class Stored:
    """All stored samples: as they came, scaled, and the features of a map; their labels, and which ones sums hold."""

    x: Any
    values: Any
    map: FeatureMap
    y: Ints
    n_classes: int
    summed: Bools
    sums: Sums | None
    penalty: float

    def __len__(self) -> int:
        return len(self.y)

    @classmethod
    def of(cls, learner: StreamLearner, at: Ints, newest: bool) -> Stored:
        """The samples at these positions. Sums of the whole past are of the ``newest`` of them."""
        store, spec = learner.memory.store, learner.spec
        x, y = stored_rows(store, at), store.labels[at].astype(np.int64)
        if isinstance(learner, Ensemble):
            values = learner.frame.scaled(x, spec)
            ridge = next((part for part in learner.parts if isinstance(part, Ridge)), None)
            if newest and ridge is not None and not learner.summed.mixed:
                summed = learner.summed.holds(roles(store))[at]
                return cls(unscaled(x, values), values, learner.map, y, spec.n_classes, summed, *ridge.whole_past)
        else:
            values = Frame.of(learner.scale, len(store)).scaled(x, spec)
        features: FeatureMap = first_map(spec, 0)
        if isinstance(features, RandomFeatures):
            features = RandomFeatures.drawn(0, values, spec.dtype == "uint8")
        none = np.zeros(len(y), dtype=np.bool_)
        return cls(unscaled(x, values), values, features, y, spec.n_classes, none, None, 0.0)


def left_out_probabilities(learner: StreamLearner, rng: np.random.Generator) -> Doubles:
    """The probabilities of all stored samples by what was not taught by them, ``[sample, class]``."""
    store = learner.memory.store
    begin = newest_world(roles(store) if "role" in store.extra else np.zeros(len(store), np.uint8))
    if min(begin, len(store) - begin) < FOLDS * BATCH_ROWS:
        begin = 0
    worlds = [np.arange(begin), np.arange(begin, len(store))]
    found = np.zeros((len(store), learner.spec.n_classes))
    for at in worlds:
        if len(at):
            found[at] = _among(Stored.of(learner, at, newest=at is worlds[-1]), rng)
    return found


def newest_world(role: NDArray[np.uint8]) -> int:
    """The position after the last sample that a change of the stream has put out of use.

    >>> newest_world(np.array([0, DORMANT, 0], dtype=np.uint8))
    2
    """
    outdated = np.flatnonzero(role == DORMANT)
    return int(outdated[-1]) + 1 if len(outdated) else 0


def _among(stored: Stored, rng: np.random.Generator) -> Doubles:
    """The probabilities of samples of one concept."""
    if len(np.unique(stored.y)) < 2:
        return np.eye(stored.n_classes)[stored.y]
    logs = np.stack([*_ridge(stored, rng), *_neighbours(stored, rng), *_folds(stored, rng)], axis=1)
    answered = Answered(logs, stored.y, np.ones(len(stored), np.float32))
    weights = Weights.equal(logs.shape[1], stored.n_classes).refitted(answered).refitted(answered)
    return weights.pooled(logs)


def _ridge(stored: Stored, rng: np.random.Generator) -> list[Floats]:
    """Ridge regression on all samples but the one that is asked about."""
    y, sums, penalty, held = stored.y, stored.sums, stored.penalty, stored.summed
    if sums is None:
        sums = Sums.empty(stored.map.width, stored.n_classes, 1.0)
        for start in range(0, len(stored), SETTLED_ROWS):
            part = slice(start, start + SETTLED_ROWS)
            sums = sums.with_rows(stored.map(stored.values[part]), y[part])
        some = rng.permutation(len(stored))[:SETTLED_ROWS]
        penalties = sums.mean_square * np.array(PENALTIES)
        right = leave_one_out(stored.map(stored.values[some]), y[some], stored.n_classes, penalties)
        penalty, held = float(penalties[right.argmax()]), np.ones(len(stored), dtype=np.bool_)
    second = sums.matrix()
    diagonal = np.einsum("ii->i", second)
    diagonal[1:] += penalty
    diagonal += JITTER * float(diagonal.mean()) + 1e-12
    factor = cho_factor(second, lower=False, overwrite_a=True)
    weights = cho_solve(factor, sums.products)
    scores = np.empty((len(stored), stored.n_classes), np.float32)
    for start in range(0, len(stored), SETTLED_ROWS):
        part = slice(start, start + SETTLED_ROWS)
        features = stored.map(stored.values[part]).astype(np.float64)
        fitted, target = features @ weights, np.eye(stored.n_classes)[y[part]]
        leverage = np.einsum("ij,ji->i", features, cho_solve(factor, features.T)) * held[part]
        leverage = np.minimum(leverage, 1 - 1e-6)[:, None]
        scores[part] = (fitted - leverage * target) / (1 - leverage)
    return [log_softmax(np.float32(SHARPNESS) * scores)]


def _neighbours(stored: Stored, rng: np.random.Generator) -> list[Floats]:
    """The nearest samples but the one that is asked about."""
    found = np.empty((len(stored), stored.n_classes), np.float32)
    others = np.sort(rng.permutation(len(stored))[:MOST_NEIGHBOURS])
    place = np.full(len(stored), -1)
    place[others] = np.arange(len(others))
    near = Recent(stored.x[others], stored.values[others], stored.y[others])
    for start in range(0, len(stored), ASKED_ROWS):
        rows = np.arange(start, min(start + ASKED_ROWS, len(stored)))
        distances, own = squared_distances(stored.values[rows], near.values), place[rows]
        distances[torch.from_numpy(np.flatnonzero(own >= 0)), torch.from_numpy(own[own >= 0])] = torch.inf
        found[rows] = votes(distances, near, stored.n_classes, (len(near),))[:, 0]
    return [log_shares(found)]


def _folds(stored: Stored, rng: np.random.Generator) -> list[Floats]:
    """Trees of the other folds; on sparse rows, logistic regression of the other folds; on images, nothing."""
    if not isinstance(stored.values, np.ndarray):
        fit = _logistic
    elif stored.values.shape[1] < WIDE and lightgbm() is not None:
        fit = partial(_trees, rng=rng)
    else:
        return []
    fold = rng.permutation(len(stored)) % FOLDS
    shares = np.full((len(stored), stored.n_classes), 1 / stored.n_classes, np.float32)
    for number in range(FOLDS):
        asked, known = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
        classes = np.unique(stored.y[known])
        if len(asked) and len(classes) > 1:
            shares[asked] = 0.0
            shares[np.ix_(asked, classes)] = fit(stored, known, asked)
    return [log_shares(shares)]


def _trees(stored: Stored, known: Ints, asked: Ints, rng: np.random.Generator) -> Floats:
    recent = Recent(stored.x[known], stored.values[known], stored.y[known])
    found = Trees().fitted(recent, rng).booster.predict(stored.x[asked], num_threads=1)
    return np.stack([1 - found, found], axis=1) if found.ndim == 1 else found


def _logistic(stored: Stored, known: Ints, asked: Ints) -> Floats:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    rows = unit_rows(stored.values)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = LogisticRegression(max_iter=100).fit(rows[known], stored.y[known])
    return np.asarray(model.predict_proba(rows[asked]), dtype=np.float32)
