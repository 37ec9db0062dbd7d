"""Ranking of input features by their weights: the strongest after each task, their fate, and the true ones among them.

A feature is *in the top* after a task if its score (the norm of its first-layer weights) is among the ``k`` largest,
and above zero. Over the tasks every feature that was ever in the top has one fate:

* ``persists``: it entered the top before the last task and has stayed in it to the end without a break;
* ``returns``: it is in the top at the end, but was out of it for a while after it had entered;
* ``new``: it entered the top with the last task, so nothing can be said of its staying;
* ``vanishes``: it was in the top once, and is not at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from smartcl.data.batch import Ints
    from smartcl.network.mlp import MLP
    from smartcl.paper.datasets.simulated import SimulatedEvents


PERSISTS, RETURNS, NEW, VANISHES = FATES = ("persists", "returns", "new", "vanishes")

#: As many as in the paper's table.
TOP = 15


@dataclass(frozen=True)
class Career:
    """A feature's time in the top: the first and the last task it was in it after, and its fate."""

    feature: int
    first: int
    last: int
    fate: str


def top_features(scores: NDArray[Any], k: int) -> Ints:
    """The ``k`` features with the largest scores, largest first; of equal ones the earlier; none that scores zero.

    >>> top_features(np.array([0.0, 2.0, 3.0, 2.0]), 3)
    array([2, 1, 3])
    >>> top_features(np.array([0.0, 2.0]), 3)
    array([1])
    """
    if k < 1:
        raise ValueError(f"k must be at least 1, got {k}")
    order = np.argsort(-scores, kind="stable")[:k]
    return order[scores[order] > 0]


def careers(tops: Sequence[Ints]) -> list[Career]:
    """Of every feature that was ever in a top, in order of first entrance; ``tops`` holds one top per task.

    >>> for career in careers([np.array([4, 7]), np.array([4, 5]), np.array([4, 7])]):
    ...     print(career.feature, career.first, career.last, career.fate)
    4 0 2 persists
    7 0 2 returns
    5 1 1 vanishes
    """
    appearances: dict[int, list[int]] = {}
    for task, top in enumerate(tops):
        for feature in top:
            appearances.setdefault(int(feature), []).append(task)
    end = len(tops) - 1
    return [Career(feature, tasks[0], tasks[-1], _fate(tasks, end)) for feature, tasks in appearances.items()]


def _fate(tasks: list[int], end: int) -> str:
    if tasks[-1] < end:
        return VANISHES
    if tasks[0] == end > 0:
        return NEW
    return PERSISTS if len(tasks) == end - tasks[0] + 1 else RETURNS


@dataclass(frozen=True)
class Recovery:
    """Two shares of a simulation's truth: of the planted precursors found, of the irrelevant keywords forgotten."""

    found: float
    forgotten: float


def recovery(events: SimulatedEvents, network: MLP) -> Recovery:
    """Found: among as many top features by group norm as were planted. Forgotten: without any weight left."""
    planted = events.planted
    top = top_features(network.group_norms().numpy(), len(planted))
    irrelevant = np.setdiff1d(np.arange(events.stream.n_features), planted)
    return Recovery(
        found=float(np.isin(planted, top).mean()),
        forgotten=float((~network.alive().numpy()[irrelevant]).mean()),
    )
