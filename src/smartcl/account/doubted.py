"""Labels that are probably wrong: rows whose label another class contradicts, by what was not taught by them.

A label is doubted where another class is more likely than not, and has at least the probability that rows of that
class have on the average (confident learning: Northcutt, Jiang & Chuang, JAIR 2021). The most doubtful come first, by
the odds of the suggested label against the given one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from smartcl.account.tally import LEAST_PROBABILITY
from smartcl.data.batch import Doubles, Ints
from smartcl.errors import extra


class Doubt(NamedTuple):
    """One row: its id or number, its label, what it should perhaps be, and the probabilities of both."""

    row: Any
    given: Any
    suggested: Any
    probability: float
    given_probability: float


@dataclass(frozen=True, eq=False)
class Doubts:
    """Rows and their labels, the most doubtful first.

    ``rows`` are ids where ids were given, else positions: of stored samples those of ``memory_.export()``. Iterating
    gives one ``Doubt`` after the other.

    >>> shares = np.array([[0.9, 0.1], [0.2, 0.8], [0.3, 0.7], [0.8, 0.2]])
    >>> doubts = Doubts.of(shares, np.array([0, 0, 1, 1]), np.array(["ham", "spam"]), ["a", "b", "c", "d"])
    >>> doubts.rows.tolist(), doubts.suggested.tolist()
    (['b', 'd'], ['spam', 'ham'])
    >>> next(iter(doubts))
    Doubt(row='b', given='ham', suggested='spam', probability=0.8, given_probability=0.2)
    """

    rows: NDArray[Any]
    given: NDArray[Any]
    suggested: NDArray[Any]
    #: Of the suggested and of the given label.
    probability: Doubles
    given_probability: Doubles

    @classmethod
    def of(
        cls,
        probabilities: Doubles,
        y: Ints,
        classes: NDArray[Any],
        rows: Sequence[Any] | NDArray[Any],
        suspected: bool = True,
    ) -> Doubts:
        """Of rows with these labels, those whose label is doubted; or all of them."""
        said = contradictions(probabilities, y, confidence(probabilities, y))
        order = np.argsort(-said.odds, kind="stable")
        if suspected:
            order = order[said.doubted[order]]
        at = np.arange(len(y))
        best, given = probabilities[at, said.suggested], probabilities[at, y]
        named = np.array(rows)
        return cls(named[order], classes[y[order]], classes[said.suggested[order]], best[order], given[order])

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Doubt]:
        columns = (self.rows, self.given, self.suggested, self.probability, self.given_probability)
        return (Doubt(*values) for values in zip(*(column.tolist() for column in columns), strict=True))

    def to_frame(self) -> Any:
        """A pandas frame."""
        return extra("pandas", "pandas").DataFrame(vars(self))

    def __repr__(self) -> str:
        lines = [
            f"{doubt.row}: {doubt.given} is probably {doubt.suggested} ({doubt.probability:.0%})" for doubt in self
        ]
        more = [f"and {len(self) - 10:,} more"] if len(self) > 10 else []
        return "\n".join([f"{len(self):,} labels in doubt", *lines[:10], *more])


class Contradictions(NamedTuple):
    """For each row the most likely other class, whether the label is doubted, and the logarithm of the odds."""

    suggested: Ints
    doubted: NDArray[np.bool_]
    odds: Doubles


def confidence(probabilities: Doubles, y: Ints) -> Doubles:
    """By class, the mean probability of the class over rows of that label; 1 of a class without rows.

    >>> confidence(np.array([[0.9, 0.1], [0.7, 0.3]]), np.array([0, 0])).tolist()
    [0.8, 1.0]
    """
    classes = probabilities.shape[1]
    rows = np.bincount(y, minlength=classes)
    given = np.bincount(y, probabilities[np.arange(len(y)), y], classes)
    return np.divide(given, rows, out=np.ones(classes), where=rows > 0)


def contradictions(probabilities: Doubles, y: Ints, usual: Doubles) -> Contradictions:
    """What speaks against the labels, if rows of each class usually have this probability of it."""
    at, others = np.arange(len(y)), probabilities.copy()
    given = others[at, y].copy()
    others[at, y] = -1.0
    suggested = others.argmax(axis=1)
    best = np.maximum(others[at, suggested], 0.0)
    odds = np.log(np.maximum(best, LEAST_PROBABILITY)) - np.log(np.maximum(given, LEAST_PROBABILITY))
    doubted = (best >= usual[suggested]) & (best > 0.5)
    return Contradictions(suggested, doubted, odds)
