"""Classifiers fitted to all rows of a stream at once: class means, LDA, ridge on a projection, logistic regression.

Their sums are the same in any order of the rows, so they are rivals that forget nothing; they store no samples.
Logistic regression is no closed form, and needs all rows at a time: what is to be had without a stream.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from smartcl.data.batch import Doubles
from smartcl.learners.watching import RunTimer
from smartcl.paper.datasets.task_stream import TaskStream

#: From rows to one score for each class.
Scorer = Callable[[NDArray[np.float32]], Any]

#: The ridge penalties that RanPAC chooses from on held-out rows, and logistic regression's inverse ones.
RIDGES = tuple(10.0**power for power in range(2, 10))
INVERSES = (1e-4, 1e-3, 1e-2)
#: The least penalty, as a share of the mean diagonal: sums in single precision hold no less.
LEAST_RIDGE = 1e-4


def class_means(x: NDArray[np.float32], y: Any, n_classes: int, seed: int, settings: Mapping[str, Any]) -> Scorer:
    """The nearest class mean."""
    means = _means(x, y, n_classes)
    return lambda rows: rows @ means.T - (means**2).sum(axis=1) / 2


def shared_lda(x: NDArray[np.float32], y: Any, n_classes: int, seed: int, settings: Mapping[str, Any]) -> Scorer:
    """Linear discriminant analysis with one covariance; its diagonal gets a share of its mean."""
    means = _means(x, y, n_classes)
    apart = x - means[y]
    covariance = (apart.T @ apart).astype(np.float64) / len(x)
    covariance += settings["shrinkage"] * covariance.trace() / len(covariance) * np.eye(len(covariance))
    weights = cho_solve(cho_factor(covariance), means.T.astype(np.float64))
    prior = np.log(np.maximum(np.bincount(y, minlength=n_classes), 0.5) / len(y))
    offset = prior - (means * weights.T).sum(axis=1) / 2
    return lambda rows: rows @ weights + offset


def ranpac(x: NDArray[np.float32], y: Any, n_classes: int, seed: int, settings: Mapping[str, Any]) -> Scorer:
    """Ridge regression on random ReLU features of the rows (McDonnell et al. 2023); its penalty by held-out rows."""
    rng = np.random.default_rng([seed, 0])
    projection = rng.standard_normal((x.shape[1], settings["features"]), dtype=np.float32)
    features, targets = np.maximum(x @ projection, 0), np.eye(n_classes, dtype=np.float32)[y]
    held_out = rng.random(len(x)) < settings["held_out"]
    second, products = _sums(features[~held_out], targets[~held_out])
    errors = [
        float(((features[held_out] @ _ridge(second, products, ridge) - targets[held_out]) ** 2).mean())
        for ridge in RIDGES
    ]
    more = _sums(features[held_out], targets[held_out])
    weights = _ridge(second + more[0], products + more[1], RIDGES[int(np.argmin(errors))])
    return lambda rows: np.maximum(rows @ projection, 0) @ weights


def logistic(x: NDArray[np.float32], y: Any, n_classes: int, seed: int, settings: Mapping[str, Any]) -> Scorer:
    """Multinomial logistic regression on scaled rows, its penalty by held-out rows."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    held_out = np.random.default_rng([seed, 0]).random(len(x)) < settings["held_out"]
    scaled = StandardScaler().fit(x)
    rows = scaled.transform(x)

    def fitted(inverse: float, some: Any) -> Any:
        return LogisticRegression(C=inverse, max_iter=200, tol=1e-3).fit(rows[some], y[some])

    scores = [fitted(inverse, ~held_out).score(rows[held_out], y[held_out]) for inverse in INVERSES]
    best = fitted(INVERSES[int(np.argmax(scores))], slice(None))
    places = np.full(n_classes, -np.inf)

    def score(asked: NDArray[np.float32]) -> Any:
        found = np.tile(places, (len(asked), 1))
        found[:, best.classes_] = best.predict_log_proba(scaled.transform(asked))
        return found

    return score


FITS = {"class-means": class_means, "shared-lda": shared_lda, "ranpac": ranpac, "logistic-all-rows": logistic}


def rival_result(method: str, settings: Mapping[str, Any], stream: TaskStream) -> dict[str, Any]:
    """Fitted to all training rows, and what of each task's test rows it puts into their class, in percent."""
    x = np.concatenate([np.asarray(task.train.x, dtype=np.float32) for task in stream.tasks])
    y = np.concatenate([task.train.y.numpy() for task in stream.tasks])
    clock = RunTimer()
    with clock:
        scorer = FITS[method](x, y, stream.n_classes, stream.seed, settings)
    right = [
        (scorer(np.asarray(task.test.x, dtype=np.float32)).argmax(axis=1) == task.test.y.numpy())
        for task in stream.tasks
    ]
    return {
        "accuracy": 100.0 * float(np.mean([each.mean() for each in right])),
        "accuracy_per_task": [100.0 * float(each.mean()) for each in right],
        "seconds": clock.wall,
        "cpu_seconds": clock.cpu,
    }


def _means(x: NDArray[np.float32], y: Any, n_classes: int) -> NDArray[np.float32]:
    """Of each class; zeros where there is none."""
    counts = np.maximum(np.bincount(y, minlength=n_classes), 1)
    means: NDArray[np.float32] = (np.eye(n_classes, dtype=np.float32)[y].T @ x) / counts[:, None].astype(np.float32)
    return means


def _sums(features: NDArray[np.float32], targets: NDArray[np.float32]) -> tuple[Doubles, Doubles]:
    return (features.T @ features).astype(np.float64), (features.T @ targets).astype(np.float64)


def _ridge(second: Doubles, products: Doubles, ridge: float) -> Doubles:
    scale = second.trace() / len(second)
    penalty = max(ridge, LEAST_RIDGE * scale)
    solved: Doubles = cho_solve(cho_factor(second + penalty * np.eye(len(second)), overwrite_a=True), products)
    return solved
