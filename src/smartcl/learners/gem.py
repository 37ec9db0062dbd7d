"""GEM and A-GEM: a step must not go against what the memory of past tasks asks for.

Lopez-Paz, Ranzato, "Gradient episodic memory for continual learning", NeurIPS 2017. Chaudhry, Ranzato, Rohrbach,
Elhoseiny, "Efficient lifelong learning with A-GEM", ICLR 2019.

With ``g`` the mean gradient of the new batch and ``g_t`` that of task ``t``'s memory, a step that would raise some
task's loss (``⟨g, g_t⟩ < 0``) follows ``g + Σ_t v_t·g_t`` instead. Only inner products are needed to find ``v``, and
those come from traces; the step itself takes the traces' slopes again, weighted as in ``loss + Σ_t v_t·loss_t``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from scipy.linalg import solve_triangular
from scipy.optimize import nnls

from smartcl.data.batch import Batch, Doubles, Ints
from smartcl.data.spec import InputSpec
from smartcl.learners.extra_columns import of_other_tasks, task_column
from smartcl.learners.learner import Labelled, Learner
from smartcl.learners.method_settings import AGEMSettings, GEMSettings
from smartcl.learners.model import Tensors
from smartcl.memory.schematic_memory import ExtraColumns
from smartcl.network.gradients import Products, SampleGradients, multiplied_once, sample_gradients, traced
from smartcl.network.mlp import MLP
from smartcl.network.network import Network
from smartcl.selection.fair_shares import TaskShares, positions_by

#: Added to the diagonal of the memory's Gram matrix, as a share of the diagonal's mean: means the same at any scale.
JITTER = 1e-3


def project(K: Doubles, c: Doubles, margin: float = 0.5) -> Doubles:
    """The ``v ≥ margin`` that minimises ``½ vᵀKv + cᵀv``, GEM's dual problem, by non-negative least squares.

    ``K`` holds ``⟨g_s, g_t⟩``, ``c`` holds ``⟨g, g_t⟩``. With ``v = margin + u`` and ``K = LLᵀ`` the objective is
    ``½‖Lᵀu + L⁻¹(c + K·margin)‖²`` up to a constant. ``K`` gets ``JITTER``: it is singular as soon as two tasks agree.

    >>> g, tasks = np.array([1.0, -1.0]), np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> project(tasks @ tasks.T, tasks @ g, margin=0.5).round(2)
    array([1. , 0.5])
    """
    scale = np.trace(K) / len(K)
    if not scale > 0:
        return np.full(len(c), margin)
    K = K / scale
    levels, directions = np.linalg.eigh(K)
    if levels[0] < -JITTER / 2:  # gradients that cancel out: what single precision leaves of them is not a Gram matrix
        K = (directions * levels.clip(min=0)) @ directions.T
    K = K + JITTER * np.eye(len(K))
    L = np.linalg.cholesky(K)
    above, _ = nnls(L.T, -solve_triangular(L, c / scale + K.sum(axis=1) * margin, lower=True))
    return np.asarray(above + margin, dtype=np.float64)


def project_on_one(K: Doubles, c: Doubles) -> Doubles:
    """A-GEM's closed form ``v = −⟨g, ḡ⟩/⟨ḡ, ḡ⟩``: the projected gradient is orthogonal to the one it opposed.

    A memory learned to the last digit has no gradient, and nothing to oppose.

    >>> project_on_one(np.array([[4.0]]), np.array([-2.0]))
    array([0.5])
    """
    square = np.diag(K)
    v: Doubles = np.divide(np.maximum(0.0, -c), square, out=np.zeros_like(c), where=square > 1e-30)
    return v


@dataclass(frozen=True)
class Guard:
    """Stored samples, and how they are averaged: row ``t`` of ``means`` has ``1/n_t`` at those of task ``t``.

    They stay the same for all steps of a batch, and so do the ``products`` of their inputs.
    """

    samples: Labelled
    means: torch.Tensor
    products: Products = field(default_factory=multiplied_once)

    @classmethod
    def by(cls, numbers: Ints, samples: Labelled) -> Guard:
        """One mean for each number that occurs."""
        members = positions_by(numbers)
        means = torch.zeros(len(members), len(numbers))
        for row, index in zip(means, members, strict=True):
            row[torch.from_numpy(index)] = 1 / len(index)
        return cls(samples, means)


class GEM(Learner):
    """The memory of each past task guards its mean loss; nothing stored is replayed while no step opposes it."""

    extra_dtypes: ClassVar[Mapping[str, str] | None] = {"task": "uint16"}

    def __init__(
        self, spec: InputSpec, memory: str | int, settings: AGEMSettings, margin: float, seed: int = 0
    ) -> None:
        super().__init__(spec, memory, settings, TaskShares(), whole=settings.whole, seed=seed)
        self.margin = margin

    def extra_columns(self, batch: Batch) -> ExtraColumns:
        return {"task": task_column(batch)}

    def learn(self, new: Labelled, task: int | None) -> None:
        past = of_other_tasks(self.memory.store, task)
        guard = self.guard(past) if len(past) else None
        for _ in range(self.recipe.iterations):
            self.guarded_step(new, guard)

    def guard(self, index: Ints) -> Guard:
        """These stored samples, averaged task by task."""
        store = self.memory.store
        return Guard.by(store.extra["task"][index].astype(np.int64), self.read_weighted(store, index))

    def guarded_step(self, new: Labelled, guard: Guard | None) -> None:
        """A step on the new samples, turned where it would oppose a mean gradient of the guard."""
        turned = None if guard is None else self.turned(new, guard)
        if turned is None:
            self.model.descend(self.loss([new]))
        else:
            self.model.descend(*turned)

    def turned(self, new: Labelled, guard: Guard) -> tuple[Tensors, Tensors | None] | None:
        """What to descend on instead of the new samples' loss; None if that opposes nothing."""
        network = self.model.network
        if isinstance(network, MLP):
            return self.turned_slopes(network, new, guard)
        loss = self.turned_loss(network, new, guard)
        return None if loss is None else (loss, None)

    def turned_slopes(self, network: MLP, new: Labelled, guard: Guard) -> tuple[Tensors, Tensors] | None:
        """Every layer's output and the turned slope at it: one forward pass says how to turn, and is turned."""
        (rows, y, _), (stored_rows, stored_y, _) = new, guard.samples
        values, sizes = network.layer_by_layer(rows, stored_rows), [len(y), len(stored_y)]
        fresh_values, stored_values = zip(*(torch.split(value.detach(), sizes) for value in values), strict=True)
        fresh = traced(network, fresh_values, rows, y)
        stored = traced(network, stored_values, stored_rows, stored_y, guard.products)
        v = self.turn(fresh, stored, guard)
        if v is None:
            return None
        share = torch.cat([torch.full((len(y),), 1 / len(y)), v @ guard.means])[:, None]
        return values, [share * torch.cat(slopes) for slopes in zip(fresh.deltas, stored.deltas, strict=True)]

    def turned_loss(self, network: Network, new: Labelled, guard: Guard) -> torch.Tensor | None:
        """The loss whose gradient is the turned one, for a network that may draw as it learns, but not when asked."""
        (rows, y, _), (stored_rows, stored_y, _) = new, guard.samples
        fresh = sample_gradients(network, rows, y)
        v = self.turn(fresh, sample_gradients(network, stored_rows, stored_y, guard.products), guard)
        if v is None:
            return None
        losses = F.cross_entropy(network(rows, stored_rows), torch.cat([y, stored_y]), reduction="none")
        return losses[: len(y)].mean() + losses[len(y) :] @ (v @ guard.means)

    def turn(self, fresh: SampleGradients, stored: SampleGradients, guard: Guard) -> torch.Tensor | None:
        """How much of each mean gradient of the guard to add; None if the step opposes none of them."""
        c = guard.means @ stored.gram(fresh).mean(dim=1)
        if bool((c >= 0).all()):
            return None
        K = guard.means @ stored.gram(stored) @ guard.means.T
        return torch.from_numpy(self.solve(K.double().numpy(), c.double().numpy())).float()

    def solve(self, K: Doubles, c: Doubles) -> Doubles:
        return project(K, c, self.margin)


class AGEM(GEM):
    """The guard is one mean over a fresh draw from all past tasks."""

    def __init__(self, spec: InputSpec, memory: str | int, settings: AGEMSettings, seed: int = 0) -> None:
        super().__init__(spec, memory, settings, margin=0.0, seed=seed)

    def learn(self, new: Labelled, task: int | None) -> None:
        past = of_other_tasks(self.memory.store, task)
        count = min(self.recipe.replay, len(past))
        steps = range(self.recipe.iterations)
        draws = [self.rng.choice(past, count, replace=False) if count else past[:0] for _ in steps]
        for samples in self.read_steps(draws):
            guard = None if samples is None else Guard.by(np.zeros(count, dtype=np.int64), samples)
            self.guarded_step(new, guard)

    def solve(self, K: Doubles, c: Doubles) -> Doubles:
        return project_on_one(K, c)


def gem(spec: InputSpec, memory: str | int, settings: GEMSettings, seed: int = 0) -> Learner:
    """Gradient episodic memory: no step against any past task's stored samples (Lopez-Paz & Ranzato 2017)."""
    return GEM(spec, memory, settings, settings.margin, seed)


def agem(spec: InputSpec, memory: str | int, settings: AGEMSettings, seed: int = 0) -> Learner:
    """Averaged GEM: no step against the mean of a draw from past tasks (Chaudhry et al. 2019)."""
    return AGEM(spec, memory, settings, seed)
