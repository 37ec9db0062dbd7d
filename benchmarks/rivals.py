"""Simple rivals of the default estimator on streams. All give probabilities; none uses more than one pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler

from smartcl.paper.peers.baselines import Commonest, LastLabel
from smartcl.paper.peers.models import river_arf
from smartcl.paper.scores.prequential import Online

Rows = NDArray[np.float32]
Labels = NDArray[np.int64]
Floats = NDArray[np.float64]


class Logistic:
    """Logistic regression by gradient steps of one size, which follow a change, behind a scaler that learns along."""

    #: Of steps of 0.001 to 0.1, and of scikit-learn's own ever smaller ones, it has the smallest log loss in the mean
    #: over covtype-late, flights-late, moving_squares and sea_big.
    STEP = 0.03
    #: Deviations. A larger value of a column that was constant for long would throw the weights far off.
    LARGEST = 5.0

    def __init__(self, classes: int, seed: int) -> None:
        self.model = SGDClassifier(loss="log_loss", learning_rate="constant", eta0=self.STEP, random_state=seed)
        self.scaler, self.classes = StandardScaler(), np.arange(classes)

    def learn(self, X: Rows, y: Labels) -> None:
        self.scaler.partial_fit(X)
        self.model.partial_fit(self.scaled(X), y, classes=self.classes)

    def scores(self, X: Rows) -> Floats:
        return np.asarray(self.model.predict_proba(self.scaled(X)))

    def scaled(self, X: Rows) -> Rows:
        return np.asarray(np.clip(self.scaler.transform(X), -self.LARGEST, self.LARGEST))


class Ridge:
    """Linear least squares of the class indicators on all rows so far, out of sums that every batch is added to.

    Features are standardised by the sums, so the penalty of one row's weight means the same in every unit.
    """

    def __init__(self, features: int, classes: int) -> None:
        self.products, self.targets = np.zeros((features + 1, features + 1)), np.zeros((features + 1, classes))
        self.shift: Floats | None = None

    def learn(self, X: Rows, y: Labels) -> None:
        rows = self.with_one(X)
        self.products += rows.T @ rows
        self.targets += rows.T @ np.eye(self.targets.shape[1])[y]
        count = self.products[0, 0]
        mean, base = self.products[0, 1:] / count, self.targets[0] / count
        spread = self.products[1:, 1:] - count * np.outer(mean, mean)
        scale = np.sqrt(np.maximum(np.diag(spread) / count, 1e-12))
        held = spread / np.outer(scale, scale) + np.eye(len(scale))
        slopes = np.linalg.solve(held, (self.targets[1:] - count * np.outer(mean, base)) / scale[:, None])
        slopes /= scale[:, None]
        self.weights = np.vstack([base - mean @ slopes, slopes])

    def scores(self, X: Rows) -> Floats:
        found = np.clip(self.with_one(X) @ self.weights, 1e-3, 1.0)
        return np.asarray(found / found.sum(axis=1, keepdims=True))

    def with_one(self, X: Rows) -> Floats:
        """The rows less the first row, for the sums of large values lose digits, and a column of ones before them."""
        if self.shift is None:
            self.shift = X[0].astype(np.float64)
        return np.hstack([np.ones((len(X), 1)), X - self.shift])


class Window:
    """The newest rows and their labels."""

    def __init__(self, features: int, rows: int) -> None:
        self.X, self.y = np.empty((0, features), dtype=np.float32), np.empty(0, dtype=np.int64)
        self.rows = rows

    def add(self, X: Rows, y: Labels) -> None:
        self.X, self.y = np.concatenate([self.X, X])[-self.rows :], np.concatenate([self.y, y])[-self.rows :]


class Neighbours:
    """The votes of the 7 nearest of the newest 2,000 rows, each feature in its own deviations."""

    def __init__(self, features: int, classes: int) -> None:
        self.window, self.classes, self.nearest = Window(features, 2000), classes, 7

    def learn(self, X: Rows, y: Labels) -> None:
        self.window.add(X, y)

    def scores(self, X: Rows) -> Floats:
        known = self.window.X
        mean, deviation = known.mean(axis=0), known.std(axis=0)
        scale = np.where(deviation > 0, deviation, 1)
        rows, known = (X - mean) / scale, (known - mean) / scale
        distances = (known**2).sum(axis=1) - 2 * rows @ known.T
        near = np.argpartition(distances, self.nearest - 1, axis=1)[:, : self.nearest]
        votes = np.eye(self.classes)[self.window.y[near]].sum(axis=1)
        return np.asarray((votes + 1 / self.classes) / (self.nearest + 1))


class Boosted:
    """LightGBM, fitted anew on the newest 3,000 rows after every 250, and after every batch of the first 250."""

    def __init__(self, features: int, classes: int) -> None:
        from lightgbm import LGBMClassifier

        self.model = LGBMClassifier(n_estimators=60, num_leaves=15, n_jobs=1, random_state=0, verbose=-1)
        self.window, self.classes, self.every = Window(features, 3000), classes, 250
        self.seen = self.fitted = 0

    def learn(self, X: Rows, y: Labels) -> None:
        self.window.add(X, y)
        self.seen += len(y)
        if self.seen <= self.every or self.seen - self.fitted >= self.every:
            self.fitted, self.known = self.seen, np.unique(self.window.y)
            if len(self.known) > 1:
                self.model.fit(self.window.X, self.window.y)

    def scores(self, X: Rows) -> Floats:
        found = np.zeros((len(X), self.classes))
        found[:, self.known] = np.asarray(self.model.predict_proba(X)) if len(self.known) > 1 else 1.0
        return found


@dataclass(frozen=True)
class Contender:
    """How it is made for so many features and classes and a seed, whether the seed matters, and what it needs."""

    build: Callable[[int, int, int], Online]
    seeded: bool = False
    package: str = "smartcl"


RIVALS = {
    "always-commonest": Contender(lambda features, classes, seed: Commonest(classes)),
    "repeat-last": Contender(lambda features, classes, seed: LastLabel(classes)),
    "logistic": Contender(lambda features, classes, seed: Logistic(classes, seed), seeded=True),
    "ridge": Contender(lambda features, classes, seed: Ridge(features, classes)),
    "neighbours": Contender(lambda features, classes, seed: Neighbours(features, classes)),
    "lightgbm": Contender(lambda features, classes, seed: Boosted(features, classes), package="lightgbm"),
    "river-arf": Contender(river_arf, seeded=True, package="river"),
}
