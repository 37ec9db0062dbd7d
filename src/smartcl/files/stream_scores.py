"""How good a classifier is on a stream: over time, by class, and whether its probabilities are what they say."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Probabilities are compared with what came true in so many bins of equal width.
BINS = 10


@dataclass
class StreamScores:
    """Counts that grow with every batch of answers; classes may come later.

    >>> scores = StreamScores()
    >>> scores.add(["a", "b"], ["a", "b"], np.array([[0.9, 0.1], [0.6, 0.4]]))
    >>> scores.as_dict()["accuracy"], scores.confusion
    (0.5, {('a', 'a'): 1, ('b', 'a'): 1})
    """

    #: How often each label (first) was predicted as each (second).
    confusion: dict[tuple[str, str], int] = field(default_factory=dict)
    #: By bin of the probability of the predicted class: rows, their probabilities' sum, right ones.
    bins: NDArray[np.float64] = field(default_factory=lambda: np.zeros((BINS, 3)))
    #: Sums over rows of the squared and the logarithmic error of the probabilities.
    squared: float = 0.0
    logarithmic: float = 0.0
    #: Of each batch its rows and the right ones.
    batches: list[tuple[int, int]] = field(default_factory=list)

    def add(self, labels: list[str], classes: list[str], probabilities: NDArray[np.float64]) -> None:
        """Count the answers to some rows; columns as in ``classes``, among which a label need not be."""
        place = {name: column for column, name in enumerate(classes)}
        best = probabilities.argmax(axis=1)
        right = 0
        for row, label in enumerate(labels):
            said = classes[best[row]]
            self.confusion[label, said] = self.confusion.get((label, said), 0) + 1
            right += label == said
            sure = float(probabilities[row, best[row]])
            self.bins[min(BINS - 1, int(sure * BINS))] += (1, sure, label == said)
            truth = np.zeros(len(classes))
            if label in place:
                truth[place[label]] = 1.0
            self.squared += float(((probabilities[row] - truth) ** 2).sum()) + (label not in place)
            given = float(probabilities[row, place[label]]) if label in place else 0.0
            self.logarithmic -= float(np.log(max(given, 1e-15)))
        self.batches.append((len(labels), right))

    @property
    def rows(self) -> int:
        return sum(self.confusion.values())

    @property
    def classes(self) -> list[str]:
        """All labels met, said or true."""
        return sorted({name for pair in self.confusion for name in pair})

    def as_dict(self, points: int = 20) -> dict[str, Any]:
        """Everything as plain values."""
        rows = self.rows
        by_class = [self._of_class(name) for name in self.classes]
        there = [scores for scores in by_class if scores["rows"]]
        return {
            "rows": rows,
            "accuracy": sum(n for (label, said), n in self.confusion.items() if label == said) / rows if rows else None,
            "balanced_accuracy": float(np.mean([scores["recall"] for scores in there])) if there else None,
            "majority_share": max((scores["rows"] for scores in by_class), default=0) / rows if rows else None,
            "brier": self.squared / rows if rows else None,
            "log_loss": self.logarithmic / rows if rows else None,
            "calibration_error": self._calibration_error(),
            "calibration": [
                {"from": place / BINS, "rows": int(n), "said": said / n, "true": true / n}
                for place, (n, said, true) in enumerate(self.bins.tolist())
                if n
            ],
            "classes": by_class,
            "confusion": [
                {"label": label, "prediction": said, "rows": n} for (label, said), n in sorted(self.confusion.items())
            ],
            "over_time": self._over_time(points),
        }

    def _of_class(self, name: str) -> dict[str, Any]:
        rows = sum(n for (label, _), n in self.confusion.items() if label == name)
        said = sum(n for (_, prediction), n in self.confusion.items() if prediction == name)
        both = self.confusion.get((name, name), 0)
        return {
            "class": name,
            "rows": rows,
            "predicted": said,
            "precision": both / said if said else None,
            "recall": both / rows if rows else None,
            "f1": 2 * both / (rows + said),
        }

    def _calibration_error(self) -> float | None:
        """The mean distance between a probability and the share that came true, over rows, by bins."""
        n, said, true = self.bins.T
        return float(np.abs(said - true).sum() / n.sum()) if n.sum() else None

    def _over_time(self, points: int) -> list[dict[str, Any]]:
        if not self.batches:
            return []
        counts = np.array(self.batches)
        found, done = [], 0
        for part in np.array_split(counts, min(points, len(counts))):
            rows, right = part.sum(axis=0).tolist()
            done += rows
            found.append({"rows": done, "accuracy": right / rows if rows else None})
        return found
