"""Sums over answered rows from which every score is computed: the tallies of different rows add up.

Probabilities are counted in bins of equal width on the logit scale, so AUC and average precision take a fixed number of
bytes however many rows come, and are as exact for rare classes, whose probabilities are all small.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smartcl.data.batch import Doubles, Ints
from smartcl.saving.saved import Saved

#: Bins of the probability of the predicted class, of equal width: by them probabilities are compared with what came
#: true, as usual in the literature on calibration.
RELIABILITY_BINS = 10
#: The largest logit that has a bin of its own: a probability of 6 in a million, and its complement.
LARGEST_LOGIT = 12.0
#: The least probability that the log loss charges for, as in scikit-learn before version 1.3.
LEAST_PROBABILITY = 1e-15


@dataclass(frozen=True)
class StreamScores:
    """What a tally says. Where there are no rows, or only one class, what would need more is None.

    ``commonest`` is the accuracy of always saying the class that was commonest so far, ``last`` that of repeating the
    last known label. ``average_precision`` of two classes is that of the rarer one; of more classes, it and ``auc`` are
    means over one class against the rest.
    """

    rows: int
    accuracy: float | None
    commonest: float | None
    last: float | None
    balanced_accuracy: float | None
    auc: float | None
    average_precision: float | None
    log_loss: float | None
    brier: float | None
    calibration_error: float | None

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, eq=False)
class Tally:
    """Sums over some rows; by class where there is an axis of classes.

    >>> probabilities = np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]])
    >>> tally = Tally.of(np.array([0, 1, 1]), probabilities, Tally.none(2, 64, 8), commonest=1, last=1)
    >>> scores = tally.scores()
    >>> round(scores.accuracy, 3), round(scores.commonest, 3), scores.balanced_accuracy, scores.auc
    (0.667, 0.333, 0.75, 1.0)
    """

    #: Rows by their label, by the predicted class, and those in which both are the same.
    rows: Ints
    said: Ints
    hits: Ints
    #: By label, the sum of the probabilities of that label: how sure answers are of labels of this class.
    given: Doubles
    #: How often always-the-commonest and repeat-the-last were right.
    commonest: int
    last: int
    #: Sums of the logarithmic and the squared errors.
    logarithmic: float
    squared: float
    #: By bin of the probability of the predicted class: rows, the sum of these probabilities, right ones.
    reliability: Doubles
    #: By class: the rows of the class, and all rows, by the bin of the class's probability. No classes: too many.
    ranks: Ints
    #: Of more classes there are no ranks.
    most_ranked: int

    @classmethod
    def none(cls, classes: int, bins: int, most_ranked: int) -> Tally:
        """Of no rows."""
        ranked = classes if classes <= most_ranked else 0
        none, reliability = np.zeros(classes, np.int64), np.zeros((RELIABILITY_BINS, 3))
        ranks = np.zeros((ranked, 2, bins), np.int64)
        return cls(none, none, none, np.zeros(classes), 0, 0, 0.0, 0.0, reliability, ranks, most_ranked)

    @classmethod
    def of(cls, y: Ints, probabilities: Doubles, like: Tally, commonest: int, last: int) -> Tally:
        """Of these answers, columns by class, with as many bins as another tally has.

        ``commonest`` and ``last`` say how many rows of them the two simplest rules have right.
        """
        classes, bins, n = probabilities.shape[1], like.ranks.shape[2], len(y)
        best, at = probabilities.argmax(axis=1), np.arange(n)
        given, sure, right = probabilities[at, y], probabilities[at, best], best == y
        place = np.minimum((sure * RELIABILITY_BINS).astype(np.int64), RELIABILITY_BINS - 1)
        counts = [np.bincount(place, weight, RELIABILITY_BINS) for weight in (np.ones(n), sure, right)]
        reliability: Doubles = np.stack(counts, axis=1).astype(np.float64)
        squared = np.square(probabilities).sum(axis=1) - 2 * given + 1
        return cls(
            np.bincount(y, minlength=classes),
            np.bincount(best, minlength=classes),
            np.bincount(y[right], minlength=classes),
            np.bincount(y, given, classes).astype(np.float64),
            commonest,
            last,
            float(-np.log(np.maximum(given, LEAST_PROBABILITY)).sum()),
            float(squared.sum()),
            reliability,
            ranked(y, probabilities, bins) if classes <= like.most_ranked else np.zeros((0, 2, bins), np.int64),
            like.most_ranked,
        )

    def __add__(self, other: Tally) -> Tally:
        names = (field.name for field in fields(self) if field.name != "most_ranked")
        return replace(self, **{name: getattr(self, name) + getattr(other, name) for name in names})

    def widened(self, classes: int) -> Tally:
        """With room for classes that come later: to the rows so far, their probability was none."""
        more = classes - len(self.rows)
        if not more:
            return self
        rows, said, hits = (np.pad(each, (0, more)) for each in (self.rows, self.said, self.hits))
        ranks = self.ranks[:0] if classes > self.most_ranked else np.pad(self.ranks, ((0, more), (0, 0), (0, 0)))
        if len(ranks):
            ranks[-more:, 1, 0] = self.n
        return replace(self, rows=rows, said=said, hits=hits, given=np.pad(self.given, (0, more)), ranks=ranks)

    def placed(self, at: Ints, classes: int) -> Tally:
        """With its classes at these places among ``classes``: to the rows so far, the others' probability was none."""
        order = np.concatenate([at, np.setdiff1d(np.arange(classes), at)])
        wide, back = self.widened(classes), np.argsort(order)
        names = ("rows", "said", "hits", "given")
        moved = {name: getattr(wide, name)[back] for name in names}
        return replace(wide, **moved, ranks=wide.ranks[back] if len(wide.ranks) else wide.ranks)

    @classmethod
    def combined(cls, parts: Sequence[tuple[int, Tally]]) -> Tally:
        """Each of the parts, of the same classes, a number of times; with a negative number it is taken out again."""
        names = [field.name for field in fields(cls) if field.name != "most_ranked"]
        sums = {name: sum(times * getattr(part, name) for times, part in parts) for name in names}
        arrays = {name: np.maximum(value, 0) for name, value in sums.items() if isinstance(value, np.ndarray)}
        return replace(parts[0][1], **{**sums, **arrays})

    @property
    def n(self) -> int:
        """All rows."""
        return int(self.rows.sum())

    @property
    def confidence(self) -> Doubles:
        """By class, the mean probability of the class over rows of that label; 1 of a class without rows."""
        return np.divide(self.given, self.rows, out=np.ones(len(self.rows)), where=self.rows > 0)

    @property
    def nbytes(self) -> int:
        return sum(value.nbytes for value in vars(self).values() if isinstance(value, np.ndarray))

    def scores(self) -> StreamScores:
        """Every score of these rows."""
        n, there = self.n, self.rows > 0
        if not n:
            return StreamScores(0, *(None,) * 9)
        curves = [curve for curve in (self.curve(label) for label in range(len(self.ranks))) if curve is not None]
        two = len(self.ranks) == 2
        rarer = 1 if two and self.rows[1] <= self.rows[0] else 0
        precise = [curves[rarer]] if two and len(curves) == 2 else curves
        counted, said, true = self.reliability.T
        return StreamScores(
            n,
            float(self.hits.sum() / n),
            self.commonest / n,
            self.last / n,
            float((self.hits[there] / self.rows[there]).mean()),
            float(np.mean([curve.auc for curve in curves])) if curves else None,
            float(np.mean([curve.average_precision for curve in precise])) if curves else None,
            self.logarithmic / n,
            self.squared / n,
            float(np.abs(said - true).sum() / counted.sum()),
        )

    def curve(self, label: int) -> Curve | None:
        """The class against the rest; None where either has no rows, or there are too many classes."""
        if label >= len(self.ranks):
            return None
        positive, every = self.ranks[label]
        found = Curve(positive, every - positive)
        return found if found.positive.sum() and found.negative.sum() else None

    def of_class(self, label: int) -> dict[str, Any]:
        """Rows, predictions, precision, recall and F1 of a class."""
        rows, said, hits = (int(each[label]) for each in (self.rows, self.said, self.hits))
        curve = self.curve(label)
        return {
            "rows": rows,
            "predicted": said,
            "precision": hits / said if said else None,
            "recall": hits / rows if rows else None,
            "f1": 2 * hits / (rows + said) if rows + said else None,
            "auc": None if curve is None else curve.auc,
            "average_precision": None if curve is None else curve.average_precision,
        }

    def state_dict(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name != "most_ranked"}

    def loaded(self, saved: Saved) -> Tally:
        """What ``state_dict`` described, for as many classes and bins as this one has."""
        rows, said, hits, ranks = (self._array(saved, name, "int64") for name in ("rows", "said", "hits", "ranks"))
        n = int(rows.sum())
        return replace(
            self,
            rows=rows,
            said=said,
            hits=hits,
            ranks=ranks,
            given=self._array(saved, "given", "float64"),
            reliability=self._array(saved, "reliability", "float64"),
            commonest=saved.whole("commonest", 0, n),
            last=saved.whole("last", 0, n),
            logarithmic=saved.number("logarithmic", 0.0),
            squared=saved.number("squared", -1e-6),
        )

    def _array(self, saved: Saved, name: str, dtype: str) -> NDArray[Any]:
        """A saved array of sums, as large as the one here."""
        found = np.array(saved.array(name, getattr(self, name).shape, dtype))
        if (found < 0).any():
            saved.refuse(name, "must not be negative")
        return found


@dataclass(frozen=True, eq=False)
class Curve:
    """The rows of a class and all others, by the bin of the probability of the class, the smallest first."""

    positive: Ints
    negative: Ints

    @property
    def auc(self) -> float:
        """The share of pairs in which the row of the class has the larger probability; pairs of one bin count half."""
        below = self.negative.cumsum() - self.negative / 2
        return float(self.positive @ below / (self.positive.sum() * self.negative.sum()))

    @property
    def average_precision(self) -> float:
        """The mean over rows of the class of the precision at their probability."""
        hits, said = self.at_least
        return float(self.positive[::-1] @ (hits / np.maximum(said, 1)) / self.positive.sum())

    @property
    def at_least(self) -> tuple[Ints, Ints]:
        """From the largest bin down: the rows of the class, and all rows, whose probability is there or above."""
        hits = self.positive[::-1].cumsum()
        return hits, hits + self.negative[::-1].cumsum()


def ranked(y: Ints, probabilities: Doubles, bins: int) -> Ints:
    """``[class, 2, bin]``: the rows of each class, and all rows, by the bin of the class's probability.

    >>> ranked(np.array([0, 1]), np.array([[0.9, 0.1], [0.5, 0.5]]), 4).tolist()
    [[[0, 0, 1, 0], [0, 0, 2, 0]], [[0, 0, 1, 0], [0, 1, 1, 0]]]
    """
    n, classes = probabilities.shape
    cells = 2 * bins * np.arange(classes) + bin_of(probabilities, bins)
    every = np.bincount((cells + bins).ravel(), minlength=2 * bins * classes)
    every += np.bincount(cells[np.arange(n), y], minlength=2 * bins * classes)
    return every.reshape(classes, 2, bins)


def bin_of(probabilities: Doubles, bins: int) -> Ints:
    """The bin of each probability, of equal width on the logit scale."""
    clipped = np.clip(probabilities, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)
    share = np.log(clipped / (1 - clipped)) / (2 * LARGEST_LOGIT) + 0.5
    found: Ints = np.clip((share * bins).astype(np.int64), 0, bins - 1)
    return found


def bin_probability(bins: int) -> Doubles:
    """The least probability of each bin.

    >>> bin_probability(4).round(4).tolist()
    [0.0, 0.0025, 0.5, 0.9975]
    """
    logits = (np.arange(bins) / bins - 0.5) * 2 * LARGEST_LOGIT
    found: Doubles = 1 / (1 + np.exp(-logits))
    found[0] = 0.0
    return found
