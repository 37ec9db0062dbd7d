"""Weights of the answers: a multinomial regression on the members' log-probabilities, fitted to honest answers.

The pool says ``p(class) ∝ exp(Σ_k w_k·log p_k(class) + b_class)``. Weights ``w ≥ 0`` and corrections ``b`` minimise the
log loss of answers that were given before their rows were learned (stacking: Wolpert, "Stacked generalization", Neural
Networks 1992).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from smartcl.data.batch import Doubles, Floats, Ints
from smartcl.learners.class_places import placed
from smartcl.learners.ensemble.settings import ACCURACY_WEIGHT, NO_SHIFT, PRIOR_ROWS, RECENT_ROWS
from smartcl.saving.saved import Saved

#: A step that does not lower the loss is halved, at most this often.
HALVINGS = 4
#: Newton steps where the answers are others than those of the last fit.
REFITS = 3


@dataclass(frozen=True, eq=False)
class Answered:
    """Honest answers ``[row, expert, class]`` with the labels that came later, and how much each row counts."""

    logs: Floats
    y: Ints
    weight: Floats

    @classmethod
    def none(cls, experts: int, n_classes: int) -> Answered:
        return cls(np.zeros((0, experts, n_classes), np.float32), np.zeros(0, np.int64), np.zeros(0, np.float32))

    def __len__(self) -> int:
        return len(self.y)

    def and_then(self, other: Answered, most: int | None = None) -> Answered:
        """With the other's answers after these, the newest of them where there are too many."""
        first = 0 if most is None else max(0, len(self) + len(other) - most)
        return Answered(
            np.concatenate([self.logs, other.logs])[first:],
            np.concatenate([self.y, other.y])[first:],
            np.concatenate([self.weight, other.weight])[first:],
        )

    def last(self, most: int) -> Answered:
        """The newest of them."""
        return self.and_then(Answered(self.logs[:0], self.y[:0], self.weight[:0]), most)

    def weaker(self, share: float) -> Answered:
        """The same with each row's weight times ``share``."""
        return replace(self, weight=np.float32(share) * self.weight)

    def widened(self, n_classes: int) -> Answered:
        """With room for classes first seen now, with the least probability of each answer."""
        more = ((0, 0), (0, 0), (0, n_classes - self.logs.shape[2]))
        least = self.logs.min(axis=2, keepdims=True) if len(self) else self.logs[..., :1]
        padded = np.pad(self.logs, more)
        padded[..., self.logs.shape[2] :] = least
        return replace(self, logs=padded)

    def placed(self, at: Ints, n_classes: int) -> Answered:
        """With its classes at these places among ``n_classes``; of the others, the least probability of each answer."""
        least = self.logs.min(axis=2, keepdims=True) if self.logs.size else np.zeros((*self.logs.shape[:2], 1))
        logs = np.broadcast_to(least, (*self.logs.shape[:2], n_classes)).astype(np.float32)
        logs[..., at] = self.logs
        return Answered(logs, at[self.y], self.weight)

    @classmethod
    def joined(cls, parts: Sequence[Answered], most: int) -> Answered:
        """The newest of each part, as many of each, and ``most`` together."""
        each = [part.last(most // len(parts)) for part in parts]
        return cls(*(np.concatenate([vars(part)[name] for part in each]) for name in vars(parts[0])))

    @property
    def nbytes(self) -> int:
        return self.logs.nbytes + self.y.nbytes + self.weight.nbytes

    def state_dict(self) -> dict[str, Any]:
        return {"logs": self.logs, "y": self.y, "weight": self.weight}

    def loaded(self, saved: Saved) -> Answered:
        logs = np.array(saved.array("logs", (None, *self.logs.shape[1:]), "float32"))
        y = np.array(saved.array("y", (len(logs),), "int64"))
        if len(y) and not 0 <= y.min() <= y.max() < logs.shape[2]:
            saved.refuse("y", f"must be labels below {logs.shape[2]}")
        return Answered(logs, y, np.array(saved.array("weight", (len(logs),), "float32")))


@dataclass(frozen=True, eq=False)
class Weights:
    """A weight for each expert and a correction for each class."""

    experts: Doubles
    classes: Doubles

    @classmethod
    def equal(cls, experts: int, n_classes: int) -> Weights:
        return cls(np.full(experts, 1 / max(1, experts)), np.zeros(n_classes))

    def pooled(self, logs: Floats) -> Doubles:
        """The pool's probabilities.

        >>> logs = np.log(np.array([[[0.9, 0.1], [0.5, 0.5]]], dtype=np.float32))
        >>> Weights.equal(2, 2).pooled(logs).round(2)
        array([[0.75, 0.25]])
        """
        return softmax(self._scores(logs))

    def _scores(self, logs: Floats) -> Doubles:
        found: Doubles = self.experts @ logs + self.classes
        return found

    def fitted(self, answered: Answered, steps: int = 1) -> Weights:
        """Newton steps towards the weights that explain these answers best.

        >>> sure = np.log(np.array([[0.9, 0.1], [0.1, 0.9]], dtype=np.float32))
        >>> logs = np.stack([sure, sure[::-1]], axis=1).repeat(100, axis=0)
        >>> right = Answered(logs, np.array([0, 1]).repeat(100), np.ones(200, np.float32))
        >>> Weights.equal(2, 2).fitted(right).experts.round(1)
        array([1., 0.])
        """
        if not len(answered):
            return self
        fit, weights = Fit.of(answered), self
        for _ in range(steps):
            weights = fit.step_from(weights)
        return weights

    def refitted(self, answered: Answered) -> Weights:
        """Several Newton steps: for answers that are not nearly those that the weights were fitted to."""
        return self.fitted(answered, REFITS)

    def losses(self, answered: Answered) -> Doubles:
        """The log loss of each answer of the pool."""
        return log_losses(self._scores(answered.logs).T, answered.y)

    def without(self, answered: Answered, experts: slice) -> Weights:
        """Weights without these experts, for which the others' are fitted anew."""
        logs = answered.logs.copy()
        logs[:, experts] = 0.0
        others = self.refitted(replace(answered, logs=logs))
        weights = others.experts.copy()
        weights[experts] = 0.0
        return replace(others, experts=weights)

    def worth(self, answered: Answered, experts: slice) -> tuple[float, float]:
        """By how much the log loss of these answers would rise without some experts, and the standard error of that.

        The others' weights are fitted anew for it.
        """
        rise = self.without(answered, experts).losses(answered) - self.losses(answered)
        share = answered.weight / answered.weight.sum()
        mean = float(share @ rise)
        return mean, float(np.sqrt(np.square(share) @ np.square(rise - mean)))

    def accuracy(self, answered: Answered, experts: slice) -> float:
        """How often these experts alone are right, by their weights; all alike if they have none."""
        own = self.experts[experts]
        logs = answered.logs[:, experts]
        pooled = np.tensordot(logs, own if own.any() else np.ones_like(own), axes=(1, 0))
        return float((pooled.argmax(axis=1) == answered.y).mean())

    def widened(self, n_classes: int) -> Weights:
        return replace(self, classes=np.pad(self.classes, (0, n_classes - len(self.classes))))

    def placed(self, at: Ints, n_classes: int) -> Weights:
        """With its classes at these places among ``n_classes``."""
        return replace(self, classes=placed(self.classes, at, n_classes))

    @classmethod
    def mean(cls, parts: Sequence[tuple[float, Weights]]) -> Weights:
        """The mean by shares that add up to 1."""
        experts, classes = (sum(share * vars(part)[name] for share, part in parts) for name in ("experts", "classes"))
        return cls(np.asarray(experts), np.asarray(classes))

    def state_dict(self) -> dict[str, Any]:
        return {"experts": self.experts, "classes": self.classes}

    def loaded(self, saved: Saved) -> Weights:
        experts = np.array(saved.array("experts", self.experts.shape, "float64"))
        if (experts < 0).any():
            saved.refuse("experts", "must not be negative")
        return Weights(experts, np.array(saved.array("classes", self.classes.shape, "float64")))


@dataclass(frozen=True, eq=False)
class Fit:
    """What a fit of weights goes by: answers as ``[expert, class and row]``, labels, rows' weights, the prior.

    Arrays are in the order in which they are multiplied, classes before rows.
    """

    logs: Doubles
    y: Ints
    weight: Doubles
    prior: Doubles

    @classmethod
    def of(cls, answered: Answered) -> Fit:
        experts = answered.logs.shape[1]
        logs = answered.logs.transpose(1, 2, 0).astype(np.float64).reshape(experts, -1)
        return cls(logs, answered.y, answered.weight.astype(np.float64), trust(answered))

    def scores(self, weights: Weights) -> Doubles:
        """Of each class and row."""
        found: Doubles = (weights.experts @ self.logs).reshape(-1, len(self.y)) + weights.classes[:, None]
        return found

    def loss(self, weights: Weights, scores: Doubles) -> float:
        """What is minimised."""
        away = weights.experts - self.prior
        held = PRIOR_ROWS * float(away @ away) + NO_SHIFT * float(weights.classes @ weights.classes)
        return float(log_losses(scores, self.y) @ self.weight) + held / 2

    def step_from(self, weights: Weights) -> Weights:
        """One Newton step, halved until it does not raise the loss."""
        scores = self.scores(weights)
        step, before, n = self._step(weights, scores), self.loss(weights, scores), len(weights.experts)
        for halving in range(HALVINGS):
            part = step / 2**halving
            moved = Weights(np.maximum(weights.experts - part[:n], 0.0), weights.classes - part[n:])
            if self.loss(moved, self.scores(moved)) <= before:
                return moved
        return weights

    def _step(self, weights: Weights, scores: Doubles) -> Doubles:
        """The inverse of the curvature times the slope."""
        n, shares = len(weights.experts), softmax(scores.T).T
        certain = shares * self.weight
        residual = certain.copy()
        residual[self.y, np.arange(len(self.y))] -= self.weight
        slope_experts = self.logs @ residual.ravel() + PRIOR_ROWS * (weights.experts - self.prior)
        slope_classes = residual.sum(axis=1) + NO_SHIFT * weights.classes
        logs = self.logs.reshape(n, *shares.shape)
        centred = logs - np.einsum("kcn,cn->kn", logs, shares)[:, None]
        pulled = centred * certain
        curved = pulled.reshape(n, -1) @ centred.reshape(n, -1).T
        curved.flat[:: n + 1] += PRIOR_ROWS
        mixed = pulled.sum(axis=2)
        of_classes = np.diag(certain.sum(axis=1) + NO_SHIFT) - certain @ shares.T
        step: Doubles = np.linalg.solve(
            np.block([[curved, mixed], [mixed.T, of_classes]]), np.concatenate([slope_experts, slope_classes])
        )
        return step


def trust(answered: Answered) -> Doubles:
    """The weights that accuracy alone would give, one in sum: those that others are held to.

    >>> logs = np.log(np.array([[[0.9, 0.1], [0.1, 0.9]]], dtype=np.float32)).repeat(50, axis=0)
    >>> trust(Answered(logs, np.zeros(50, np.int64), np.ones(50, np.float32))).round(2)
    array([1., 0.])
    """
    right = answered.logs.argmax(axis=2) == answered.y[:, None]
    accuracy = answered.weight @ right / max(float(answered.weight.sum()), 1e-12)
    found: Doubles = np.exp(ACCURACY_WEIGHT * (accuracy - accuracy.max())).astype(np.float64)
    found /= found.sum()
    return found


def newest(answered: Answered, later: Answered) -> Answered:
    """The newest honest answers, twice as many as are remembered; each row that comes makes the others count less."""
    return answered.weaker((1 - 1 / RECENT_ROWS) ** len(later)).and_then(later, 2 * RECENT_ROWS)


def softmax(scores: Doubles) -> Doubles:
    """Over the classes."""
    found: Doubles = np.exp(scores - scores.max(axis=1, keepdims=True))
    found /= found.sum(axis=1, keepdims=True)
    return found


def log_losses(scores: Doubles, y: Ints) -> Doubles:
    """Of each row, the negative logarithm of what the softmax of its scores ``[class, row]`` gives its label.

    >>> log_losses(np.zeros((2, 1)), np.array([1])).round(3)
    array([0.693])
    """
    top = scores.max(axis=0)
    found: Doubles = np.log(np.exp(scores - top).sum(axis=0)) + top
    found -= scores[y, np.arange(len(y))]
    return found
