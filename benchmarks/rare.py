"""One class in fifty-one: which guard of ``smart`` lets a rare class go?

Two overlapping Gaussian classes in 20 dimensions, 3,000 rows in batches of 50, a memory of 20 kB, a small hidden layer.
Balanced accuracy on 16,000 further rows, mean of three seeds: as it is, without one guard, without several, and plain
replay.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.metrics import balanced_accuracy_score

from benchmarks.timing import report
from smartcl import SmartClassifier

FEATURES, TRAINING, TEST, BATCH, SEEDS = 20, 3000, 16_000, 50, 3
RARE, APART = 1 / 51, 0.6
SMALL: dict[str, Any] = {"memory": "20kB", "hidden": (32,), "lr": 1e-3}
OFF: dict[str, Any] = {"robust": 0.0, "trust": False, "distill": 0.0, "dropout": 0.0, "smoothing": 0.0}

VARIANTS: dict[str, dict[str, Any]] = {
    "smart": {},
    **{f"without {guard}": {guard: off} for guard, off in OFF.items()},
    "without robust and trust": {name: OFF[name] for name in ("robust", "trust")},
    "without any guard": OFF,
    "er": {"method": "er"},
}


def rows(seed: int, count: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    rng = np.random.default_rng([seed, count])
    y = (rng.random(count) < RARE).astype(np.int64)
    towards = np.sign(np.random.default_rng(seed).normal(size=FEATURES))
    return rng.normal(size=(count, FEATURES)) + APART * y[:, None] * towards, y


def balanced_accuracy(variant: dict[str, Any], seed: int) -> float:
    X, y = rows(seed, TRAINING)
    model = SmartClassifier(**SMALL, **variant, random_state=seed)
    for start in range(0, TRAINING, BATCH):
        model.partial_fit(X[start : start + BATCH], y[start : start + BATCH], classes=[0, 1])
    X, y = rows(seed, TEST)
    return float(balanced_accuracy_score(y, model.predict(X)))


if __name__ == "__main__":
    torch.set_num_threads(1)
    report(
        *(
            (
                f"balanced accuracy at 1:50, {name}",
                float(np.mean([balanced_accuracy(variant, seed) for seed in range(SEEDS)])),
                "",
            )
            for name, variant in VARIANTS.items()
        )
    )
