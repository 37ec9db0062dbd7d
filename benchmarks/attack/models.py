"""Models of every kind, small enough to learn a batch in milliseconds, and what can be said about their state."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse

from benchmarks.attack.tries import FaultError
from smartcl import SmartClassifier
from smartcl.extend import METHODS

#: The width of each form of input; the widest has a row table for a first layer.
WIDTHS = {"dense": 6, "sparse": 40, "wide": 600_000}
#: Most methods store whole rows: of the widest, one takes megabytes.
MEMORY = {"dense": 600, "sparse": 2000, "wide": 2000}
QUICK = {"hidden": (8,), "lr": 1e-2, "iterations": 2, "replay": 10}
SCHEMATIC = ("smart", "smart-paper", "adaptive")
LEARNED = ("classes_", "n_features_in_", "feature_names_in_")
#: Methods that a stream without task ids can have.
TASKLESS = tuple(name for name, method in METHODS.items() if not method.task_aware)


@dataclass(frozen=True)
class Kind:
    """A method on a form of input."""

    method: str
    form: str

    def __str__(self) -> str:
        return f"{self.method} {self.form}"

    def unfitted(self, **parameters: Any) -> SmartClassifier:
        known = METHODS[self.method].parameters
        quick: dict[str, Any] = {name: value for name, value in QUICK.items() if name in known}
        if "epochs" in known:
            quick["parameters"] = {"epochs": 5}
        bulky = self.form == "wide" and self.method not in SCHEMATIC
        memory = "3 samples" if bulky else MEMORY[self.form]
        return SmartClassifier(**{"memory": memory, "method": self.method, "random_state": 0, **quick, **parameters})

    def rows(self, seed: int, count: int = 30, n_classes: int = 3) -> tuple[Any, NDArray[np.int64]]:
        """Rows whose largest values tell the label, every label among the first ``n_classes`` rows."""
        rng = np.random.default_rng(seed)
        y = np.arange(count) % n_classes
        width = WIDTHS[self.form]
        if self.form == "dense":
            x = rng.normal(size=(count, width))
            x[np.arange(count), y % width] += 3
            return x, y
        columns = rng.integers(n_classes, width, (count, 6))
        columns[:, 0] = y
        data = np.round(rng.normal(1, 0.5, columns.size), 1)
        x = sparse.csr_array((data, (np.repeat(np.arange(count), 6), columns.ravel())), shape=(count, width))
        return x, y

    def fitted(self, **parameters: Any) -> SmartClassifier:
        """A model whose memory is full; always the same one."""
        model = self.unfitted(**parameters)
        for seed in (1, 2):
            model.partial_fit(*self.rows(seed))
        return model


#: Every part of the library that keeps a state: both stores, all penalties, extra columns, teachers, the row table.
KINDS = (
    *(Kind(method, form) for method in ("smart", "adaptive") for form in WIDTHS),
    *(Kind(method, "dense") for method in ("er", "ewc", "si", "der++", "gdumb", "smart-paper", "er-ace")),
    *(Kind(method, "sparse") for method in ("er", "gss-greedy", "der++")),
    Kind("smart-paper", "wide"),
)


def probe_rows(n_features: int) -> Any:
    """A few rows of any width to predict."""
    rng = np.random.default_rng(99)
    if n_features <= 1000:
        return np.round(rng.normal(size=(4, n_features)), 1)
    columns = rng.integers(0, n_features, 24)
    columns[:4] = range(4)
    return sparse.csr_array((np.ones(24), (np.arange(24) % 4, columns)), shape=(4, n_features))


def probe_answers(model: SmartClassifier) -> Any:
    """The probabilities of the probe rows; a model of a table is given rows as it encodes them."""
    if model.columns_ is None:
        return model.predict_proba(probe_rows(model.n_features_in_))
    learner = model.learner_
    return learner.predict_proba(torch.from_numpy(probe_rows(learner.spec.n_features).astype(np.float32)))


def leaves(tree: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """The values of a tree of dicts and sequences, each with its path."""
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from leaves(value, f"{path}.{key}")
    elif isinstance(tree, (list, tuple)):
        yield f"{path}.length", len(tree)
        for i, value in enumerate(tree):
            yield from leaves(value, f"{path}[{i}]")
    else:
        yield path, tree


def fingerprint(model: SmartClassifier) -> dict[str, str]:
    """All that can be told of a model, value by value: equal fingerprints, equal futures."""
    parts: dict[str, Any] = {"parameters": model.get_params()}
    parts |= {name: getattr(model, name) for name in LEARNED if hasattr(model, name)}
    if hasattr(model, "learner_"):
        parts["learner"] = model.learner_.state_dict()
        parts["probabilities"] = probe_answers(model)
    return {path: _digest(value) for path, value in leaves(parts)}


def difference(a: dict[str, str], b: dict[str, str]) -> str | None:
    """The first place where two fingerprints differ, or None."""
    return next((path for path in (*a, *b) if a.get(path) != b.get(path)), None)


def check_sound(model: SmartClassifier) -> None:
    """A fault unless all of the state is finite, the memory within its budget, and predictions are probabilities."""
    for path, value in leaves(model.learner_.state_dict()):
        if not _is_finite(value, path):
            raise FaultError("the state is not finite", path)
    memory = model.memory_
    if model.method != "joint" and memory.nbytes > memory.budget.nbytes:
        raise FaultError("the memory exceeds its budget", f"{memory.nbytes} of {memory.budget.nbytes} bytes")
    rows = probe_rows(model.n_features_in_)
    check_probabilities(model.predict_proba(rows), rows.shape[0], len(model.classes_))
    if not set(model.predict(rows).tolist()) <= set(model.classes_.tolist()):
        raise FaultError("a prediction is none of the classes")


def check_probabilities(probabilities: NDArray[np.float64], rows: int, classes: int) -> None:
    """A fault unless there is one distribution per row."""
    if probabilities.shape != (rows, classes):
        raise FaultError(
            "probabilities have the wrong shape", f"{probabilities.shape} for {rows} rows, {classes} classes"
        )
    if not np.isfinite(probabilities).all():
        raise FaultError("probabilities are not finite")
    if (probabilities < 0).any() or np.abs(probabilities.sum(axis=1) - 1).max(initial=0) > 1e-6:
        raise FaultError("probabilities do not sum to 1")


def _digest(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        value = value.detach().numpy()
    if isinstance(value, np.ndarray) and value.dtype != object:
        data = hashlib.blake2b(np.ascontiguousarray(value).tobytes(), digest_size=8).hexdigest()
        return f"{value.dtype} {value.shape} {data}"
    return repr(value.tolist() if isinstance(value, np.ndarray) else value)


def _is_finite(value: Any, path: str) -> bool:
    if isinstance(value, torch.Tensor):
        value = value.detach().numpy()
    if not isinstance(value, (float, np.floating, np.ndarray)) or np.asarray(value).dtype.kind != "f":
        return True
    # A logit stored before a class was known is minus infinity, by intent.
    unknown_classes = np.isneginf(value) if path.endswith("extra.logits") else False
    return bool((np.isfinite(value) | unknown_classes).all())
