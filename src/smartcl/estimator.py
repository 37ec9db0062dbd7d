"""The scikit-learn front door."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from smartcl.learners.learner import Learner
from smartcl.learners.methods import build_learner
from smartcl.learners.replay_memory import ReplayMemory
from smartcl.persistence import load_state, save_state
from smartcl.streams.batch import Batch, Ints, Rows
from smartcl.streams.stream import InputSpec

Labels = NDArray[Any]

#: What is passed on to the method, where it is given.
METHOD_PARAMETERS = (
    *("hidden", "lr", "iterations", "replay", "average", "smoothing"),
    *("dropout", "robust", "distill", "trust", "alpha", "beta"),
)


class SmartClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that learns from a stream in a memory of a fixed number of bytes.

    ``memory`` is a size (``"1MB"``), a number of bytes, or ``"300 samples"``: that many full samples' bytes.
    ``method`` names the learner (``smartcl methods`` lists them); parameters left at ``None`` take the method's own
    value. Each call of ``partial_fit`` is cut into batches of ``batch_size`` in the order given; a class not seen
    before gets the next column of ``predict_proba``. ``fit`` forgets everything and learns the rows in random order.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SmartClassifier(memory="1kB", random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.9
    True
    >>> model.memory_
    38 samples in 988 B of 1 kB, 4 of 4 features kept
    """

    classes_: Labels
    learner_: Learner

    def __init__(
        self,
        memory: str | int = "1MB",
        *,
        method: str = "smart",
        hidden: tuple[int, ...] | None = None,
        lr: float | None = None,
        iterations: int | None = None,
        replay: int | None = None,
        average: float | None = None,
        smoothing: float | None = None,
        dropout: float | None = None,
        robust: float | None = None,
        distill: float | None = None,
        trust: bool | None = None,
        alpha: float | None = None,
        beta: float | None = None,
        batch_size: int = 50,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.memory = memory
        self.method = method
        self.hidden = hidden
        self.lr = lr
        self.iterations = iterations
        self.replay = replay
        self.average = average
        self.smoothing = smoothing
        self.dropout = dropout
        self.robust = robust
        self.distill = distill
        self.trust = trust
        self.alpha = alpha
        self.beta = beta
        self.batch_size = batch_size
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> SmartClassifier:
        """Forget everything, then learn these rows in random order, once."""
        rows, labels = self._validate(X, y, reset=True)
        rng = check_random_state(self.random_state)
        learner, classes = self._build(rows, np.unique(labels), rng), np.unique(labels)
        order: Ints = rng.permutation(len(labels))
        self._learn(learner, rows, np.searchsorted(classes, labels), order)
        self.learner_, self.classes_, self._fixed_classes = learner, classes, False
        return self

    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> SmartClassifier:
        """Learn these rows in their order. ``classes``, if given at the first call, are all there will ever be."""
        first = not hasattr(self, "learner_")
        rows, labels = self._validate(X, y, reset=first)
        if first:
            known = np.unique(labels) if classes is None else np.unique(np.asarray(classes))
            learner = self._build(rows, known, check_random_state(self.random_state))
            self._fixed_classes = classes is not None
        else:
            known, learner = self.classes_, self.learner_
            if classes is not None and not np.array_equal(np.unique(np.asarray(classes)), np.unique(known)):
                raise ValueError(f"classes must be those of the first call, {known.tolist()}, got {classes!r}")
        strangers = np.setdiff1d(labels, known)
        if len(strangers) and self._fixed_classes:
            if first:
                del self._fixed_classes
            raise ValueError(f"y contains labels outside classes: {strangers.tolist()} not in {known.tolist()}")
        if len(strangers):
            known = np.concatenate([known, strangers])
            learner.add_classes(len(known))
            self.classes_ = known
        self._learn(learner, rows, _positions(known, labels), np.arange(len(labels)))
        self.learner_, self.classes_ = learner, known
        return self

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """The probability of each class, columns as in ``classes_``."""
        check_is_fitted(self, "learner_")
        rows = _rows(validate_data(self, X, accept_sparse="csr", reset=False))
        raw = self.learner_.predict_proba(rows).double()
        probabilities: NDArray[np.float64] = (raw / raw.sum(dim=1, keepdim=True)).numpy()
        return probabilities

    def predict(self, X: ArrayLike) -> Labels:
        """The most likely class of each row."""
        probabilities = self.predict_proba(X)
        labels: Labels = self.classes_[probabilities.argmax(axis=1)]
        return labels

    @property
    def memory_(self) -> ReplayMemory:
        """What is remembered, and what it costs."""
        check_is_fitted(self, "learner_")
        return self.learner_.memory

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write all that the future depends on: weights, averages, optimizer, memory, random state."""
        check_is_fitted(self, "learner_")
        parameters = self.get_params()
        if not isinstance(parameters["random_state"], (int, np.integer)):
            parameters["random_state"] = None
        names = getattr(self, "feature_names_in_", None)
        save_state(
            folder,
            {
                "parameters": parameters,
                "spec": asdict(self.learner_.spec),
                "classes": self.classes_.tolist(),
                "classes_dtype": self.classes_.dtype.str,
                "fixed_classes": self._fixed_classes,
                "feature_names": None if names is None else names.tolist(),
                "learner": self.learner_.state_dict(),
            },
        )

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> SmartClassifier:
        """The saved model; learning on is bit-identical to never having stopped."""
        state = load_state(folder)
        parameters = {**state["parameters"]}
        if parameters["hidden"] is not None:
            parameters["hidden"] = tuple(parameters["hidden"])
        model = cls(**parameters)
        spec = InputSpec(**state["spec"])
        model.learner_ = build_learner(model.method, spec, model.memory, **model._method_parameters())
        model.learner_.load_state_dict(state["learner"])
        model.classes_ = np.array(state["classes"], dtype=state["classes_dtype"])
        model._fixed_classes = state["fixed_classes"]
        model.n_features_in_ = spec.n_features
        if state["feature_names"] is not None:
            model.feature_names_in_ = np.array(state["feature_names"], dtype=object)
        return model

    def _validate(self, X: ArrayLike, y: ArrayLike, reset: bool) -> tuple[Rows, Labels]:
        if not isinstance(self.batch_size, (int, np.integer)) or self.batch_size < 1:
            raise ValueError(f"batch_size must be a whole number >= 1, got {self.batch_size!r}")
        X, y = validate_data(self, X, y, accept_sparse="csr", reset=reset)
        check_classification_targets(y)
        return _rows(X), np.asarray(y)

    def _build(self, rows: Rows, classes: Labels, rng: np.random.RandomState) -> Learner:
        is_sparse = not isinstance(rows, torch.Tensor)
        dtype = "uint8" if rows.dtype in (torch.uint8, np.uint8) else "float32"
        spec = InputSpec(int(rows.shape[1]), len(classes), dtype, is_sparse)
        return build_learner(self.method, spec, self.memory, int(rng.randint(2**31 - 1)), **self._method_parameters())

    def _method_parameters(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in METHOD_PARAMETERS if getattr(self, name) is not None}

    def _learn(self, learner: Learner, rows: Rows, y: Ints, order: Ints) -> None:
        data = Batch(rows, torch.from_numpy(y))
        for start in range(0, len(order), self.batch_size):
            learner.observe(data.take(order[start : start + self.batch_size]))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _positions(classes: Labels, labels: Labels) -> Ints:
    """Where each label stands in ``classes``, which need not be sorted."""
    order = np.argsort(classes, kind="stable")
    positions: Ints = order[np.searchsorted(classes, labels, sorter=order)]
    return positions


def _rows(X: Any) -> Rows:
    """Validated input as rows: bytes stay bytes, all other numbers become float32."""
    wanted = np.uint8 if X.dtype == np.uint8 else np.float32
    if isinstance(X, (sparse.csr_array, sparse.csr_matrix)):
        return sparse.csr_array(X).astype(wanted)
    return torch.from_numpy(np.ascontiguousarray(X, dtype=wanted))
