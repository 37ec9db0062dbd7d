"""GSS-IQP: keep the samples whose gradients are, taken together, the least alike.

Aljundi, Lin, Goujaud, Bengio, "Gradient based sample selection for online continual learning", NeurIPS 2019, the
integer program: ``min ½ xᵀGx`` over ``x ∈ {0,1}ⁿ`` with ``Σx = M``, where ``G`` holds the cosines of per-sample
gradients. They search by branch and bound. Here the relaxation to ``x ∈ [0,1]ⁿ`` is solved exactly, its solution
rounded, and samples are exchanged while that lowers the binary objective, again after random disturbances; the
relaxation says how far from the optimum the answer can be at most.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from smartcl.data.batch import Doubles, Ints
from smartcl.errors import extra
from smartcl.memory.pool import Pool, Selection
from smartcl.network.gradients import gradient_cosines

#: How often the best choice is disturbed and descends again, and by how many exchanges at a time. With these, all of
#: 1,200 random instances of 6 of 12 samples reached the optimum.
KICKS, KICK_SIZE = 50, 3

#: An exchange must gain more than rounding could.
TOLERANCE = 1e-9


@dataclass(frozen=True)
class Choice:
    """The positions chosen, ``½ xᵀGx`` of that choice, and a number no choice can fall below."""

    chosen: Ints
    objective: float
    lower_bound: float

    @property
    def gap(self) -> float:
        """How much lower the optimum can lie at most."""
        return self.objective - self.lower_bound


def least_alike(cosines: Doubles, count: int, rng: np.random.Generator, kicks: int = KICKS) -> Choice:
    """``count`` samples with a small ``½ xᵀGx``.

    >>> cosines = np.array([[1.0, 0.9, -0.9], [0.9, 1.0, -0.8], [-0.9, -0.8, 1.0]])
    >>> choice = least_alike(cosines, count=2, rng=np.random.default_rng(0))
    >>> choice.chosen, round(choice.objective, 3)
    (array([0, 2]), 0.1)
    """
    relaxed, lower_bound = relaxation(cosines, count)
    order: Ints = np.argsort(-relaxed, kind="stable")
    order = swap_descent(cosines, order, count)
    lowest = objective(cosines, order[:count])
    for _ in range(kicks):
        tried = swap_descent(cosines, kicked(order, count, rng), count)
        value = objective(cosines, tried[:count])
        if value < lowest:
            order, lowest = tried, value
    return Choice(np.sort(order[:count]), lowest, lower_bound)


def objective(cosines: Doubles, chosen: Ints) -> float:
    """``½ xᵀGx`` of a choice."""
    return float(cosines[np.ix_(chosen, chosen)].sum()) / 2


def relaxation(cosines: Doubles, count: int) -> tuple[Doubles, float]:
    """The minimiser over ``0 ≤ x ≤ 1``, ``Σx = count``, and a lower bound for every binary ``x``.

    A shift of the diagonal adds a constant to the binary objective; the largest that leaves it convex makes the bound
    the tightest. The bound is the tangent plane's minimum, valid however exact the solver was.
    """
    n = len(cosines)
    shift = float(np.linalg.eigvalsh(cosines)[0])
    convex = cosines - shift * np.eye(n)
    solver = quadratic_solver()
    solver.setup(convex, np.zeros(n), np.ones((1, n)), np.array([float(count)]), x_l=np.zeros(n), x_u=np.ones(n))
    solver.solve()
    x: Doubles = np.nan_to_num(solver.result.x, nan=count / n).clip(0.0, 1.0)
    slope = convex @ x
    bound = np.sort(slope)[:count].sum() - x @ slope / 2 + shift * count / 2
    return x, float(bound)


def quadratic_solver() -> Any:
    """PIQP's, which is installed with the paper's extra: no other method needs it."""
    return extra("piqp", "paper").DenseSolver()


def swap_descent(cosines: Doubles, order: Ints, count: int) -> Ints:
    """Exchange one of the first ``count`` of ``order``, the chosen, for another sample while that lowers ``½ xᵀGx``.

    Always the pair that lowers it most.
    """
    order = order.copy()
    inside, outside = order[:count], order[count:]
    if not len(inside) or not len(outside):
        return order
    likeness = cosines[:, inside].sum(axis=1)
    half = cosines.diagonal() / 2
    between = cosines[np.ix_(inside, outside)]
    while True:
        change = (half - likeness)[inside, None] + (half + likeness)[outside] - between
        i, j = np.unravel_index(change.argmin(), change.shape)
        if change[i, j] > -TOLERANCE:
            return order
        likeness += cosines[outside[j]] - cosines[inside[i]]
        inside[i], outside[j] = outside[j], inside[i]
        between[i], between[:, j] = cosines[inside[i], outside], cosines[inside, outside[j]]


def kicked(order: Ints, count: int, rng: np.random.Generator) -> Ints:
    """The same order after a few random exchanges between the chosen and the others."""
    size = min(KICK_SIZE, count, len(order) - count)
    leaves, enters = rng.choice(count, size, replace=False), rng.choice(len(order) - count, size, replace=False) + count
    order = order.copy()
    order[leaves], order[enters] = order[enters], order[leaves]
    return order


def fit(chosen: Ints, cosines: Doubles, sizes: Ints, room: int) -> Ints:
    """The choice made to fit ``room`` bytes: those most like the rest leave, then those least like it fill up."""
    kept = np.zeros(len(sizes), dtype=np.bool_)
    kept[chosen] = True
    while sizes[kept].sum() > room:
        kept[np.where(kept, cosines @ kept, -np.inf).argmax()] = False
    while True:
        enters = ~kept & (sizes <= room - sizes[kept].sum())
        if not enters.any():
            return np.flatnonzero(kept)
        kept[np.where(enters, cosines @ kept, np.inf).argmin()] = True


class GSSIQP:
    """Of memory and newcomers, the samples whose gradients under the present weights are the least alike.

    As many are chosen as fit if each took the mean size; where sizes differ, the choice is then made to fit.

    >>> pool = Pool(np.full(3, 10), np.zeros(3, int), np.zeros(3, np.float32), n_memory=2, geometry=None)
    >>> GSSIQP().select(pool, room=30, rng=np.random.default_rng(0)).keep
    array([0, 1, 2])
    """

    scored = False

    def __init__(self) -> None:
        quadratic_solver()  # refused now, not when the memory is full

    def select(self, pool: Pool, room: int, rng: np.random.Generator) -> Selection:
        keep = np.arange(len(pool))
        if pool.sizes.sum() > room:
            cosines = gradient_cosines(pool.geometry.trace(keep))
            count = int(room * len(pool) // pool.sizes.sum())
            keep = fit(least_alike(cosines, count, rng).chosen, cosines, pool.sizes, room)
        return Selection(keep, pool.scores[keep])
