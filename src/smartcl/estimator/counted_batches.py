"""The account of a learner that answers rows as it learns them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from smartcl.account.account import Account
from smartcl.data.batch import Ints
from smartcl.learners.stream_learner import StreamLearner


def counted(account: Account, learner: StreamLearner, y: Ints | None = None) -> Account:
    """The account with the batch that was just learned, ``y`` if the learner does not say; each row counts once.

    Rows that were counted when they came, because their answers were given before, are not counted again.
    """
    said = learner.said_before
    if said is None:
        return account if y is None else account.after(y, None)
    left = learner.counts.total - int(account.known.sum())
    if left <= 0:
        return account
    some = slice(max(0, len(said.y) - left), None)
    probabilities = None if said.probabilities is None else widened(said.probabilities[some], len(account.known))
    return account.after(said.y[some], probabilities, in_turn=said.in_turn)


def widened(probabilities: NDArray[np.float64], classes: int) -> NDArray[np.float64]:
    """Probabilities with columns for classes that were not known when they were given.

    >>> widened(np.array([[0.5, 0.5]]), 3)
    array([[0.5, 0.5, 0. ]])
    """
    return np.pad(probabilities, ((0, 0), (0, classes - probabilities.shape[1])))
