"""Predict each batch, then learn it: what a stream says of a learner without any data held back."""

from __future__ import annotations

import pickle
import time
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

#: Rows that are predicted together, and then learned.
BATCH_ROWS = 50


class Online(Protocol):
    """What learns as it goes: a score for each row and class, the larger the likelier."""

    def learn(self, X: NDArray[np.float32], y: NDArray[np.int64]) -> None: ...

    def scores(self, X: NDArray[np.float32]) -> NDArray[np.float64]: ...


def prequential(online: Online, X: NDArray[np.float32], y: NDArray[np.int64]) -> dict[str, Any]:
    """Learn the whole stream; the first batch alone is not predicted, since nothing is known before it.

    ``correct`` counts the right predictions of each batch after the first. Seconds are those of predicting and
    learning. The size is that of the pickled learner, all that it would need to go on.
    """
    wall, cpu = time.perf_counter(), time.process_time()
    online.learn(X[:BATCH_ROWS], y[:BATCH_ROWS])
    found = []
    for start in range(BATCH_ROWS, len(y), BATCH_ROWS):
        rows = slice(start, start + BATCH_ROWS)
        found.append(online.scores(X[rows]))
        online.learn(X[rows], y[rows])
    seconds, cpu_seconds = time.perf_counter() - wall, time.process_time() - cpu
    return {
        **measures(np.concatenate(found), y[BATCH_ROWS:]),
        "rows": len(y),
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "pickled_bytes": len(pickle.dumps(online)),
    }


def measures(scores: NDArray[np.float64], y: NDArray[np.int64]) -> dict[str, Any]:
    """Accuracy in percent, Cohen's kappa and right predictions by batch; of two classes how well they are ranked."""
    from sklearn.metrics import average_precision_score, cohen_kappa_score, roc_auc_score

    said = scores.argmax(axis=1)
    right = said == y
    classes = np.arange(scores.shape[1])
    both = len(np.unique(y)) == len(classes) == 2
    odds = scores[:, 1] - scores[:, 0]
    return {
        "accuracy": 100.0 * float(right.mean()),
        "kappa": float(cohen_kappa_score(y, said, labels=classes)) if len(np.unique([said, y])) > 1 else None,
        "auc": float(roc_auc_score(y, odds)) if both else None,
        "average_precision": float(average_precision_score(y, odds)) if both else None,
        "correct": [int(right[start : start + BATCH_ROWS].sum()) for start in range(0, len(y), BATCH_ROWS)],
    }
