"""The peers, each as its package makes it by default; all but the trees see standardised features."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smartcl.data.batch import Doubles


class RiverPeer:
    """A model of River's: rows go in one by one, as dicts."""

    def __init__(self, model: Any, classes: int) -> None:
        self.model, self.classes = model, classes

    def learn(self, X: NDArray[np.float32], y: NDArray[np.int64]) -> None:
        for row, label in zip(X.tolist(), y.tolist(), strict=True):
            self.model.learn_one(dict(enumerate(row)), label)

    def scores(self, X: NDArray[np.float32]) -> Doubles:
        """Probabilities; zero for a class that the model does not know."""
        found = [self.model.predict_proba_one(dict(enumerate(row))) for row in X.tolist()]
        return np.array([[each.get(label, 0.0) for label in range(self.classes)] for each in found])


class ScikitPeer:
    """A model of scikit-learn's behind a ``StandardScaler`` that learns along."""

    def __init__(self, model: Any, classes: int) -> None:
        from sklearn.preprocessing import StandardScaler

        self.scaler, self.model, self.classes = StandardScaler(), model, np.arange(classes)

    def learn(self, X: NDArray[np.float32], y: NDArray[np.int64]) -> None:
        self.model.partial_fit(self.scaler.partial_fit(X).transform(X), y, classes=self.classes)

    def scores(self, X: NDArray[np.float32]) -> Doubles:
        """Probabilities, or the distance from the boundary of a model that has none."""
        scaled = self.scaler.transform(X)
        if hasattr(self.model, "predict_proba"):
            return np.asarray(self.model.predict_proba(scaled))
        distances = self.model.decision_function(scaled)
        return np.stack([-distances, distances], axis=1) if distances.ndim == 1 else np.asarray(distances)


def river_arf(features: int, classes: int, seed: int) -> RiverPeer:
    from river.forest import ARFClassifier

    return RiverPeer(ARFClassifier(seed=seed), classes)


def river_srp(features: int, classes: int, seed: int) -> RiverPeer:
    from river.ensemble import SRPClassifier

    return RiverPeer(SRPClassifier(seed=seed), classes)


def river_hat(features: int, classes: int, seed: int) -> RiverPeer:
    from river.tree import HoeffdingAdaptiveTreeClassifier

    return RiverPeer(HoeffdingAdaptiveTreeClassifier(seed=seed), classes)


def river_logistic(features: int, classes: int, seed: int) -> RiverPeer:
    from river.linear_model import LogisticRegression
    from river.multiclass import OneVsRestClassifier
    from river.preprocessing import StandardScaler

    one = LogisticRegression()
    return RiverPeer(StandardScaler() | (one if classes == 2 else OneVsRestClassifier(one)), classes)


def sklearn_sgd(features: int, classes: int, seed: int) -> ScikitPeer:
    from sklearn.linear_model import SGDClassifier

    return ScikitPeer(SGDClassifier(random_state=seed), classes)


def sklearn_mlp(features: int, classes: int, seed: int) -> ScikitPeer:
    from sklearn.neural_network import MLPClassifier

    return ScikitPeer(MLPClassifier(random_state=seed), classes)


def deep_river_mlp(features: int, classes: int, seed: int) -> RiverPeer:
    from river import anomaly, base
    from river.preprocessing import StandardScaler

    # deep-river 0.3.4 looks for this module, which River 0.26 has moved
    sys.modules["river.anomaly.base"] = anomaly.base = base
    from deep_river.classification.zoo import MultiLayerPerceptron

    network = MultiLayerPerceptron(n_features=features, n_init_classes=classes, seed=seed)
    return RiverPeer(StandardScaler() | network, classes)


BUILDERS: dict[str, Callable[[int, int, int], RiverPeer | ScikitPeer]] = {
    "river-arf": river_arf,
    "river-srp": river_srp,
    "river-hat": river_hat,
    "river-logistic": river_logistic,
    "sklearn-sgd": sklearn_sgd,
    "sklearn-mlp": sklearn_mlp,
    "deep-river-mlp": deep_river_mlp,
}
