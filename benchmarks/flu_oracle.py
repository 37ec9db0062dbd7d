"""What the days after the flu streams hold: logistic regression on all rows, at the penalty that is best on these days.

It is chosen on the test days, as no learner may: a bound for learners that must choose before.
"""

from __future__ import annotations

from statistics import fmean

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from benchmarks.timing import report
from smartcl.paper.datasets.dataset_registry import load_stream
from smartcl.paper.datasets.protocols import SEASONS
from smartcl.paper.scores.reference_lines import features

INVERSES = tuple(10.0**power for power in np.arange(-4.0, 1.5, 0.5))
SEEDS = 3


def areas(years: str, seed: int) -> dict[float, float]:
    """Of each inverse penalty the mean over all states of the area under the ROC curve on the test days."""
    stream = load_stream(f"flu-{years}", seed)
    train = np.concatenate([features(task.train.x, stream.spec).toarray() for task in stream.tasks])
    labels = np.concatenate([task.train.y.numpy() for task in stream.tasks])
    tests = [(features(task.test.x, stream.spec).toarray(), task.test.y.numpy()) for task in stream.tasks]
    both = [(x, y) for x, y in tests if len(np.unique(y)) == 2]
    found = {}
    for inverse in INVERSES:
        model = LogisticRegression(C=inverse, solver="liblinear").fit(train, labels)
        found[inverse] = fmean(roc_auc_score(y, model.decision_function(x)) for x, y in both)
    return found


def main() -> None:
    lines = []
    for years in SEASONS:
        seeds = [areas(years, seed) for seed in range(SEEDS)]
        means = {inverse: fmean(found[inverse] for found in seeds) for inverse in INVERSES}
        best = max(means, key=lambda inverse: means[inverse])
        lines += [
            (f"flu-{years}: AUC at scikit-learn's own penalty", round(means[1.0], 4), "-"),
            (f"flu-{years}: AUC at the best, C = {best:.2g}, chosen on the test days", round(means[best], 4), "-"),
        ]
    report(*lines)


if __name__ == "__main__":
    main()
