"""Baselines that look at no column of a row: the commonest class, and the last label again."""

from __future__ import annotations

from collections.abc import Sized

import numpy as np

from smartcl.data.batch import Doubles, Ints


class Commonest:
    """The share of each class so far."""

    def __init__(self, classes: int) -> None:
        self.counts = np.ones(classes)

    def learn(self, rows: Sized, y: Ints) -> None:
        self.counts += np.bincount(y, minlength=len(self.counts))

    def scores(self, rows: Sized) -> Doubles:
        return np.tile(self.counts / self.counts.sum(), (len(rows), 1))


class LastLabel:
    """The last label that was learned. Its probability is how often such an answer was right so far."""

    def __init__(self, classes: int) -> None:
        self.classes, self.right, self.asked = classes, 1, classes
        self.last: int | None = None

    def learn(self, rows: Sized, y: Ints) -> None:
        if self.last is not None:
            self.right, self.asked = self.right + int((y == self.last).sum()), self.asked + len(y)
        self.last = int(y[-1])

    def scores(self, rows: Sized) -> Doubles:
        # it stays the answer even where it was seldom right
        share = max(self.right / self.asked, 1 / self.classes + 1e-6)
        row = np.full(self.classes, (1 - share) / (self.classes - 1))
        row[self.last] = share
        return np.tile(row, (len(rows), 1))
