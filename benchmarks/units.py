"""scikit-learn's digits in four units: as bytes, divided by 16, standardised, and with one pixel times 10,000.

The estimator as it is by default learns 1,500 of them in batches of 50; accuracy on the other 297, mean of two seeds.
What a column is measured in should make no difference: the largest distance between the four is the figure wanted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from benchmarks.timing import report
from smartcl import SmartClassifier

Rows: TypeAlias = NDArray[Any]

TEST, BATCH, SEEDS = 297, 50, (30, 31)
PIXEL, TIMES = 20, 1e4


def with_one_pixel_larger(rows: Rows) -> Rows:
    return rows * np.where(np.arange(rows.shape[1]) == PIXEL, TIMES, 1.0)


def accuracy(form: Callable[[Rows], Rows], split: list[Rows], seed: int) -> float:
    rows, others, y, others_y = split
    model = SmartClassifier(memory="1MB", random_state=seed)
    for start in range(0, len(y), BATCH):
        model.partial_fit(form(rows[start : start + BATCH]), y[start : start + BATCH])
    return float(model.score(form(others), others_y))


if __name__ == "__main__":
    torch.set_num_threads(1)
    X, y = load_digits(return_X_y=True)
    split = train_test_split(X, y, test_size=TEST, random_state=0, stratify=y)
    mean, deviation = split[0].mean(axis=0), split[0].std(axis=0)
    forms: dict[str, Callable[[Rows], Rows]] = {
        "bytes": lambda rows: rows.astype(np.uint8),
        "divided by 16": lambda rows: rows / 16,
        "standardised": lambda rows: (rows - mean) / np.where(deviation, deviation, 1.0),
        "one pixel times 10,000": with_one_pixel_larger,
    }
    found = {name: float(np.mean([accuracy(form, split, seed) for seed in SEEDS])) for name, form in forms.items()}
    apart = max(found.values()) - min(found.values())
    report(
        *((f"digits, {name}: accuracy", value, "") for name, value in found.items()),
        ("digits in four units: largest distance", apart, "<= 0.01"),
    )
