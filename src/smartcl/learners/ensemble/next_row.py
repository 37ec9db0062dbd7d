"""Answers for the very next row, where labels come one by one: experts that know every row as soon as it has its label.

The pool of all members learns a batch at a time. Here it is one expert among four others: the nearest of the newest
rows, at two ranges, the last label, and a linear regression that is updated row by row (recursive least squares with
forgetting). Their weights come from answers to each row that knew the labels of all rows before it. The pool takes
longest to ask: it counts only where the others would be worse without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from smartcl.data.batch import Doubles, Floats, Ints
from smartcl.learners.class_places import placed
from smartcl.learners.ensemble.calibration import Calibration
from smartcl.learners.ensemble.member import Recent, log_shares, log_softmax
from smartcl.learners.ensemble.rows import Samples
from smartcl.learners.ensemble.settings import (
    BATCH_ROWS,
    LOOK_ROWS,
    NEAREST,
    NEIGHBOUR_ROWS,
    RECENT_ROWS,
    SHARPNESS,
    WORTH,
)
from smartcl.learners.ensemble.sums import JITTER
from smartcl.learners.ensemble.weighting import Answered, Weights, newest
from smartcl.saving.saved import Saved

#: What is weighed: the pool of all members, and the four that know every row.
EXPERTS = 1 + len(NEAREST) + 2
#: What a row leaves of those before it in the regression.
LEFT = 1 - 1 / min(NEIGHBOUR_ROWS)
#: The rows of which the nearest are looked for.
NEAR_ROWS = max(rows for _, rows in NEAREST)


@dataclass(frozen=True, eq=False)
class Regression:
    """Recursive least squares with forgetting.

    ``joint`` [column, columns and classes] is the inverse of the second moments, and beside it the weights: a row moves
    both in the same way.
    """

    joint: Doubles

    @property
    def inverse(self) -> Doubles:
        return self.joint[:, : len(self.joint)]

    @property
    def weights(self) -> Doubles:
        return self.joint[:, len(self.joint) :]

    def scores(self, features: Doubles) -> Doubles:
        found: Doubles = features @ self.weights
        return found

    def after(self, row: Doubles, label: int, weight: float = 1.0) -> Regression:
        """With this row counted in, and all before it counting a little less."""
        columns, moved = len(row), row @ self.joint
        gained = moved[:columns].copy()
        moved[columns + label] -= 1.0
        joint = self.joint - (gained / (LEFT / weight + gained @ row))[:, None] * moved
        joint[:, :columns] /= LEFT
        return Regression(joint)

    def in_turn(self, rows: Doubles, y: Ints, weight: NDArray[Any]) -> Doubles:
        """The scores of these rows, each with the labels of all rows before it counted in.

        What each row adds to those before it is in the triangular factor of the covariance of all of them: their
        surprises are its diagonal times the residuals solved by it. That is the recursion of ``after``, at once.
        """
        targets = np.eye(self.weights.shape[1])[y]
        together = rows @ self.inverse @ rows.T
        diagonal = np.einsum("ii->i", together)
        diagonal += LEFT ** np.arange(1, len(y) + 1) / weight + JITTER * diagonal.max()
        factor, failed = lapack.dpotrf(together, lower=1)
        if failed:  # weights of very different sizes have left an inverse that is none
            return self._one_by_one(rows, y, weight)
        solved, _ = lapack.dtrtrs(factor, targets - rows @ self.weights, lower=1)
        found: Doubles = targets - np.diag(factor)[:, None] * solved
        return found

    def _one_by_one(self, rows: Doubles, y: Ints, weight: NDArray[Any]) -> Doubles:
        """The same by the recursion."""
        taught, found = self, []
        for row, label, count in zip(rows, y.tolist(), weight.tolist(), strict=True):
            found.append(taught.scores(row))
            taught = taught.after(row, label, count)
        return np.array(found)

    def widened(self, n_classes: int) -> Regression:
        return Regression(np.pad(self.joint, ((0, 0), (0, n_classes - self.weights.shape[1]))))


@dataclass(frozen=True, eq=False)
class RecentSums:
    """Second moments of the newest rows and products with their labels, each row counting less than the next.

    A recursion that goes on from one row to the next loses its precision in the end: it begins anew from the sums with
    every batch.

    >>> rng = np.random.default_rng(0)
    >>> rows = with_constant(rng.normal(size=(200, 2)).astype(np.float32))
    >>> y = (rows[:, 1] > 0).astype(int)
    >>> at_once = RecentSums.empty(2, 2).after(rows, y, np.ones(200)).solved()
    >>> row_by_row = RecentSums.empty(2, 2).solved()
    >>> for row, label in zip(rows, y):
    ...     row_by_row = row_by_row.after(row, label)
    >>> bool(np.allclose(at_once.weights, row_by_row.weights, atol=0.02))
    True
    """

    second: Doubles
    products: Doubles

    @classmethod
    def empty(cls, columns: int, n_classes: int) -> RecentSums:
        """Of no row: a ridge penalty of one row of unit length, which never fades."""
        return cls(np.eye(1 + columns), np.zeros((1 + columns, n_classes)))

    def after(self, rows: Doubles, y: Ints, weight: NDArray[Any]) -> RecentSums:
        left = LEFT ** len(y)
        weighed = rows * (weight * LEFT ** np.arange(len(y) - 1, -1, -1))[:, None]
        second = left * self.second + weighed.T @ rows + (1 - left) * np.eye(len(self.second))
        return RecentSums(second, left * self.products + weighed.T @ np.eye(self.products.shape[1])[y])

    def solved(self) -> Regression:
        inverse: Doubles = np.linalg.inv(self.second).astype(np.float64)
        return Regression(np.concatenate([inverse, inverse @ self.products], axis=1))

    def widened(self, n_classes: int) -> RecentSums:
        return replace(self, products=np.pad(self.products, ((0, 0), (0, n_classes - self.products.shape[1]))))


@dataclass(frozen=True, eq=False)
class Known:
    """The newest rows whose labels are known, oldest first, and what the regression learned from them."""

    values: Floats
    y: Ints
    regression: Regression

    def and_then(self, values: Floats, y: Ints, weight: Floats | None) -> Known:
        """With these rows too."""
        taught, counts = self.regression, [1.0] * len(y) if weight is None else weight.tolist()
        for row, label, count in zip(with_constant(values), y.tolist(), counts, strict=True):
            taught = taught.after(row, label, count)
        newest = np.concatenate([self.values, values])[-NEAR_ROWS:]
        return Known(newest, np.concatenate([self.y, y])[-NEAR_ROWS:], taught)

    def answers(self, pooled: Doubles, values: Floats) -> Floats:
        """What each expert says of rows of which any may be the next: log-probabilities ``[row, expert, class]``."""
        distances, n_classes = squared_distances(values, self.values), pooled.shape[1]
        if len(values) == 1 and len(self.y):
            near = [nearest_to_one(distances[0, -most:], self.y[-most:], count, n_classes) for count, most in NEAREST]
        else:
            near = [nearest(distances[:, -most:], self.y[-most:], count, n_classes) for count, most in NEAREST]
        last = np.full((len(values), n_classes), 0.0 if len(self.y) else 1 / n_classes, np.float32)
        last[:, self.y[-1:]] = 1.0
        return said(pooled, near, last, self.regression.scores(with_constant(values)))

    def answers_in_turn(self, pooled: Doubles, values: Floats, y: Ints, weight: Floats) -> Floats:
        """What each expert would have said of each of these rows, with the labels of all rows before it."""
        known, found = self, []
        for start in range(0, len(y), BATCH_ROWS):  # the time of a part grows with the square of its rows
            part = slice(start, start + BATCH_ROWS)
            if start:
                before = slice(start - BATCH_ROWS, start)
                known = known.and_then(values[before], y[before], weight[before])
            found.append(known._part_in_turn(pooled[part], values[part], y[part], weight[part]))
        return np.concatenate(found)

    def _part_in_turn(self, pooled: Doubles, values: Floats, y: Ints, weight: Floats) -> Floats:
        n_classes = pooled.shape[1]
        scores = self.regression.in_turn(with_constant(values), y, weight)
        rows, labels = np.concatenate([self.values, values]), np.concatenate([self.y, y])
        distances = squared_distances(values, rows)
        age = np.arange(len(y))[:, None] + len(self.y) - np.arange(len(rows))
        near = [
            nearest(np.where((age > 0) & (age <= most), distances, np.float32(np.inf)), labels, count, n_classes)
            for count, most in NEAREST
        ]
        last = np.full((len(values), n_classes), 1 / n_classes, np.float32)
        first = 0 if len(self.y) else 1
        last[first:] = np.eye(n_classes, dtype=np.float32)[labels[len(self.y) - 1 + first : -1]]
        return said(pooled, near, last, scores)

    def widened(self, n_classes: int) -> Known:
        return replace(self, regression=self.regression.widened(n_classes))


@dataclass(frozen=True, eq=False)
class NextRow:
    """How the experts for the next row are weighed: the answers that they gave, their weights, and calibration."""

    present: Answered
    weights: Weights
    calibration: Calibration
    #: Sums of the newest rows up to the last batch, for the regression.
    sums: RecentSums
    rows: int = 0

    @classmethod
    def none(cls, columns: int, n_classes: int) -> NextRow:
        """Nothing is known: all count alike."""
        return cls(
            Answered.none(EXPERTS, n_classes),
            Weights.equal(EXPERTS, n_classes),
            Calibration.none(),
            RecentSums.empty(columns, n_classes),
        )

    def known(self, recent: Recent) -> Known:
        """What the experts know after the last batch."""
        near = recent.last(NEAR_ROWS)
        return Known(near.values, near.y, self.sums.solved())

    def probabilities(self, pooled: Doubles, values: Floats, known: Known) -> Doubles:
        """Of rows any of which may be the next, weighed and calibrated; what is ``pooled`` matters if it is asked."""
        return self.calibration.applied(self.weights.pooled(known.answers(pooled, values)))

    def after(self, pooled: Doubles, new: Samples, recent: Recent) -> NextRow:
        """With a batch that the pool answered, and whose labels have come one after the other."""
        values, y = new.rows.values, new.y
        weight = np.ones(len(y), np.float32) if new.weight is None else new.weight
        logs = self.known(recent).answers_in_turn(pooled, values, y, weight)
        answered = Answered(logs, y, weight)
        calibration = self.calibration.after(self.weights.pooled(logs), y, weight)
        rows, present = self.rows + len(values), newest(self.present, answered)
        due = self.rows < 2 * LOOK_ROWS or rows // LOOK_ROWS > self.rows // LOOK_ROWS
        weights = without_needless_pool(self.weights.refitted(present), present) if due else self.weights
        sums = self.sums.after(with_constant(values), y, weight)
        return NextRow(present, weights, calibration, sums, rows)

    @property
    def asks_pool(self) -> bool:
        """Whether the pool's answer counts among the experts'."""
        return bool(self.weights.experts[0])

    def said_in_turn(self, after: NextRow, count: int) -> Doubles:
        """What was said of the last ``count`` rows one by one; ``after`` them, their answers are the newest."""
        return self.calibration.applied(self.weights.pooled(after.present.logs[-count:]))

    def restarted(self, recent: Recent) -> NextRow:
        """With sums of rows in another scale."""
        last, columns = recent.last(2 * BATCH_ROWS), len(self.sums.products) - 1
        weight = np.ones(len(last)) if last.weight is None else last.weight
        empty = RecentSums.empty(columns, self.sums.products.shape[1])
        return replace(self, sums=empty.after(with_constant(last.values), last.y, weight))

    def widened(self, n_classes: int) -> NextRow:
        return replace(
            self,
            present=self.present.widened(n_classes),
            weights=self.weights.widened(n_classes),
            sums=self.sums.widened(n_classes),
        )

    def placed(self, at: Ints, n_classes: int) -> NextRow:
        """With its classes at these places among ``n_classes``."""
        sums = replace(self.sums, products=placed(self.sums.products, at, n_classes))
        present, weights = self.present.placed(at, n_classes), self.weights.placed(at, n_classes)
        return replace(self, present=present, weights=weights, sums=sums)

    @classmethod
    def together(cls, parts: Sequence[tuple[float, NextRow]]) -> NextRow:
        """Of streams that went on side by side, by their shares of the rows."""
        known = [(share, each) for share, each in parts if share] or list(parts)
        second, products = (
            sum(share * vars(each.sums)[name] for share, each in known) for name in ("second", "products")
        )
        return cls(
            Answered.joined([each.present for _, each in known], 2 * RECENT_ROWS),
            Weights.mean([(share, each.weights) for share, each in known]),
            Calibration.joined([each.calibration for _, each in known]),
            RecentSums(np.asarray(second), np.asarray(products)),
            max(each.rows for _, each in known),
        )

    @property
    def nbytes(self) -> int:
        own = self.sums.second.nbytes + self.sums.products.nbytes
        return own + self.present.nbytes + self.calibration.nbytes

    def state_dict(self) -> dict[str, Any]:
        return {
            "present": self.present.state_dict(),
            "weights": self.weights.state_dict(),
            "calibration": self.calibration.state_dict(),
            "sums": asdict(self.sums),
            "rows": self.rows,
        }

    def loaded(self, saved: Saved) -> NextRow:
        """What ``state_dict`` described, of rows of the same columns and classes."""
        part, shapes = saved.part("sums"), asdict(self.sums)
        sums = RecentSums(*(np.array(part.array(name, own.shape, "float64")) for name, own in shapes.items()))
        return NextRow(
            self.present.loaded(saved.part("present")),
            self.weights.loaded(saved.part("weights")),
            Calibration.from_state(saved.part("calibration")),
            sums,
            saved.whole("rows", 0),
        )


def without_needless_pool(weights: Weights, answered: Answered) -> Weights:
    """The weights without the pool, where these answers would be hardly worse without it: it takes longest to ask."""
    rest = weights.without(answered, slice(0, 1))
    rise = float(answered.weight @ (rest.losses(answered) - weights.losses(answered)))
    return weights if rise > WORTH * float(answered.weight.sum()) else rest


def with_constant(values: Floats) -> Doubles:
    """Rows in double precision after a constant.

    >>> with_constant(np.array([[2.0]], dtype=np.float32))
    array([[1., 2.]])
    """
    found = np.ones((len(values), 1 + values.shape[1]))
    found[:, 1:] = values
    return found


def squared_distances(rows: Floats, others: Floats) -> Floats:
    """Of each row to each of the others.

    >>> squared_distances(np.array([[0.0, 1.0]], np.float32), np.array([[3.0, 5.0]], np.float32))
    array([[25.]], dtype=float32)
    """
    found: Floats = np.square(rows[:, None] - others).sum(axis=2)
    return found


def nearest(distances: Floats, labels: Ints, count: int, n_classes: int) -> Floats:
    """The share of each class among the nearest ``count`` rows, nearer ones counting more; infinity: not to be asked.

    Where no row is to be asked, the classes have equal shares.

    >>> nearest(np.array([[0.1, 9.0, np.inf]], np.float32), np.array([0, 1, 1]), 1, 2)
    array([[1., 0.]], dtype=float32)
    """
    if not len(labels):
        return np.full((len(distances), n_classes), 1 / n_classes, np.float32)
    if count == 1:
        rows, closest = np.arange(len(distances)), distances.argmin(axis=1)
        only = np.zeros((len(distances), n_classes), np.float32)
        only[rows, labels[closest]] = 1.0
        only[distances[rows, closest] == np.inf] = 1 / n_classes
        return only
    at = distances.argpartition(min(count, len(labels)) - 1, axis=1)[:, :count]
    first = np.arange(len(at))[:, None]
    near = distances[first, at].astype(np.float64)
    there = near < np.inf
    if there.all():
        vote = 1 / (near + (0.1 / near.shape[1]) * near.sum(axis=1, keepdims=True) + 1e-9)
    else:
        near = np.where(there, near, np.where(there, near, 0.0).max(axis=1, keepdims=True))
        vote = there / (near + 0.1 * near.mean(axis=1, keepdims=True) + 1e-9)
        vote[~there.any(axis=1)] = 0.0
    cells = (first * n_classes + labels[at]).ravel()
    shares = np.bincount(cells, vote.ravel(), len(at) * n_classes).reshape(-1, n_classes)
    total = shares.sum(axis=1, keepdims=True)
    found: Floats = np.divide(shares, total, out=np.full_like(shares, 1 / n_classes), where=total > 0).astype(
        np.float32
    )
    return found


def nearest_to_one(distances: Floats, labels: Ints, count: int, n_classes: int) -> Floats:
    """``nearest`` of a single row, to the bit: all distances are finite, and there are some.

    >>> nearest_to_one(np.array([0.1, 9.0], np.float32), np.array([0, 1]), 1, 2)
    array([[1., 0.]], dtype=float32)
    """
    shares = np.zeros((1, n_classes))
    if count == 1:
        shares[0, labels[distances.argmin()]] = 1.0
        return shares.astype(np.float32)
    at = distances.argpartition(min(count, len(labels)) - 1)[:count]
    near = distances[at].tolist()
    mean = (0.1 / len(near)) * sum(near)
    for label, distance in zip(labels[at].tolist(), near, strict=True):
        shares[0, label] += 1 / (distance + mean + 1e-9)
    shares /= shares.sum()
    return shares.astype(np.float32)


def said(pooled: Doubles, near: Sequence[Floats], last: Floats, scores: Doubles) -> Floats:
    """The answers of all experts as log-probabilities, ``[row, expert, class]``."""
    logs = np.empty((len(pooled), EXPERTS, pooled.shape[1]), np.float32)
    logs[:, 0], logs[:, -2] = pooled, last
    for place, shares in enumerate(near, 1):
        logs[:, place] = shares
    logs[:, :-1] = log_shares(logs[:, :-1])
    logs[:, -1] = log_softmax((SHARPNESS * scores).astype(np.float32))
    return logs
