"""Scores that add up: of answers beside two baselines, over time, with calibration. No row is kept but the mistakes."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from smartcl.saving.saved import Saved

#: Scores over time are kept in at most this many spans of rows, each twice as long when there are too many.
MOST_SPANS = 128
#: Bins of equal width of how sure an answer was.
BINS = 10
#: The newest mistakes that are shown.
MISTAKES = 20
#: A probability counts as at least this: one certain mistake does not make the mean infinite.
LEAST_PROBABILITY = 1e-6
#: What is counted of each span of rows.
COUNTED = ("rows", "right", "majority", "last")


@dataclass
class AnswerScores:
    """Counts of answers whose labels are known by now. ``majority`` is the most frequent label so far, ``last`` the one
    that came before: what would have been right without a model.

    >>> scores = AnswerScores()
    >>> scores.count("yes", {"yes": 0.8, "no": 0.2}); scores.count("no", {"yes": 0.6, "no": 0.4})
    >>> scores.rows, scores.right, round(scores.log_loss, 2)
    (2, 1, 0.57)
    """

    span: int = 1
    #: By span of rows: ``COUNTED``.
    spans: list[list[int]] = field(default_factory=list)
    loss: float = 0.0
    #: By bin: rows, the sum of how sure they were, and how many were right.
    bins: list[list[float]] = field(default_factory=lambda: [[0.0, 0.0, 0.0] for _ in range(BINS)])
    labels: dict[str, int] = field(default_factory=dict)
    majority: str | None = None
    last: str | None = None
    mistakes: deque[Mapping[str, Any]] = field(default_factory=lambda: deque(maxlen=MISTAKES))

    @property
    def rows(self) -> int:
        return sum(span[0] for span in self.spans)

    @property
    def right(self) -> int:
        return sum(span[1] for span in self.spans)

    @property
    def log_loss(self) -> float | None:
        """The mean of minus the logarithm of the probability that the label had."""
        return self.loss / self.rows if self.rows else None

    @property
    def accuracy(self) -> float | None:
        return self.right / self.rows if self.rows else None

    def count(self, label: str, probabilities: Mapping[str, float], about: Mapping[str, Any] | None = None) -> None:
        """Count one answer; ``about`` is what is told of it among the mistakes."""
        answered = max(probabilities, key=probabilities.__getitem__)
        sure, right = probabilities[answered], answered == label
        self._add((1, right, self.majority == label, self.last == label))
        self.loss -= math.log(max(LEAST_PROBABILITY, min(1.0, probabilities.get(label, 0.0))))
        entry = self.bins[min(BINS - 1, int(sure * BINS))]
        entry[0], entry[1], entry[2] = entry[0] + 1, entry[1] + sure, entry[2] + right
        self.labels[label] = self.labels.get(label, 0) + 1
        if self.majority is None or self.labels[label] > self.labels[self.majority]:
            self.majority = label
        self.last = label
        if not right and about is not None:
            self.mistakes.append(mistake(label, probabilities, about))

    def _add(self, counts: tuple[int, ...]) -> None:
        if self.spans and self.spans[-1][0] >= self.span and len(self.spans) >= MOST_SPANS:
            self.span *= 2
            pairs = [self.spans[first : first + 2] for first in range(0, len(self.spans), 2)]
            self.spans = [[sum(column) for column in zip(*pair, strict=True)] for pair in pairs]
        if not self.spans or self.spans[-1][0] >= self.span:
            self.spans.append([0] * len(COUNTED))
        self.spans[-1] = [held + int(more) for held, more in zip(self.spans[-1], counts, strict=True)]

    def as_dict(self) -> dict[str, Any]:
        """For people: shares by span of rows, and the calibration."""
        reached, over_time = 0, []
        for rows, *right in self.spans:
            reached += rows
            shares = {
                name: count / rows for name, count in zip(("model", "majority", "last_label"), right, strict=True)
            }
            over_time.append({"rows": reached, **shares})
        return {
            "rows": self.rows,
            "accuracy": self.accuracy,
            "log_loss": self.log_loss,
            "over_time": over_time,
            "calibration": [
                {"rows": int(rows), "sure": sure / rows, "right": right / rows}
                for rows, sure, right in self.bins
                if rows
            ],
            "mistakes": list(self.mistakes)[::-1],
        }

    def state_dict(self) -> dict[str, Any]:
        return {
            "span": self.span,
            "spans": self.spans,
            "loss": self.loss,
            "bins": self.bins,
            "labels": self.labels,
            "last": self.last,
        }

    @classmethod
    def from_state(cls, saved: Saved) -> AnswerScores:
        """The same again, without the mistakes, or a ``StateError``."""
        spans, bins = saved.items("spans"), saved.items("bins")
        if len(spans) > MOST_SPANS or not all(_counts(span, len(COUNTED)) for span in spans):
            saved.refuse("spans", f"must be up to {MOST_SPANS} lists of {len(COUNTED)} counts")
        if len(bins) != BINS or not all(_counts(entry, 3) for entry in bins):
            saved.refuse("bins", f"must be {BINS} lists of 3 counts")
        part = saved.part("labels")
        labels = {name: part.whole(name, 0) for name in part}
        last = saved.text("last") if saved.has("last") else None
        majority = max(labels, key=labels.__getitem__, default=None)
        return cls(saved.whole("span", 1), spans, saved.number("loss", 0), bins, labels, majority, last)


def _counts(entry: Any, length: int) -> bool:
    numbers = isinstance(entry, list) and len(entry) == length
    return numbers and all(type(each) in (int, float) and 0 <= each < math.inf for each in entry)


def mistake(label: str, probabilities: Mapping[str, float], about: Mapping[str, Any]) -> dict[str, Any]:
    """What is told of a wrong answer."""
    answered = max(probabilities, key=probabilities.__getitem__)
    own = probabilities.get(label, 0.0)
    return {**about, "label": label, "answered": answered, "sure": probabilities[answered], "label_had": own}
