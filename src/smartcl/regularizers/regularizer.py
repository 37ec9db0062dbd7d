"""Penalty for a change of the weights: the verbs that all share, and the quadratic form of most of them."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any, Self

import torch

from smartcl.network.inputs import Prepared
from smartcl.network.network import Network, Optimizer
from smartcl.saving.saved import Saved
from smartcl.settings import setting


class Regularizer:
    """A penalty on the weights. Nothing happens while its strength is zero."""

    def __init__(self, strength: float) -> None:
        self.strength: float = setting("strength", strength)

    def check(self, network: Network) -> None:
        """Refuse a network that this penalty cannot work on, with a ``ValueError``."""

    def penalty(self, network: Network) -> torch.Tensor:
        """The formula, strength included; differentiable."""
        raise NotImplementedError

    def add_gradient(self, network: Network) -> None:
        """Add the penalty's exact gradient to the network's, which holds the data's alone until now."""

    def after_step(self, network: Network, optimizer: Optimizer) -> None:
        """Called after each step of the optimizer."""

    def settle(self, network: Network, optimizer: Optimizer) -> None:
        """Called after all steps of a batch: apply proximal steps and thresholds."""

    def consolidate(self, network: Network, rows: Prepared, y: torch.Tensor) -> None:
        """Called when a batch or a task is learned: the present weights are the ones to keep."""

    def row_shrinkage(self, lr: float) -> float:
        """The length by which each step shortens every row of a row table, touched or not."""
        return 0.0

    def copy(self) -> Self:
        """The same penalty, to go on without changing this one."""
        return copy(self)

    def state_dict(self) -> dict[str, Any]:
        """What ``load_state_dict`` goes on from; tensors are replaced, never changed, after this."""
        return {}

    def load_state_dict(self, saved: Saved, network: Network) -> None:
        """Go on from ``state_dict()``; what does not fit this network is refused."""


@dataclass(frozen=True)
class ActiveAnchors:
    """What holds the rows of a table that are active, gathered once: a batch takes many steps with the same ones.

    ``pull`` is ``2·strength·importance``, zero for a row that is newer than the anchors.
    """

    rows: torch.Tensor
    anchor: torch.Tensor
    pull: torch.Tensor
    sources: tuple[torch.Tensor, torch.Tensor]

    @classmethod
    def of(cls, rows: torch.Tensor, anchor: torch.Tensor, importance: torch.Tensor, strength: float) -> ActiveAnchors:
        known = rows < len(anchor)
        its_anchor, its_pull = torch.zeros(2, len(rows), anchor.shape[1])
        its_anchor[known] = anchor[rows[known]]
        its_pull[known] = 2 * strength * importance[rows[known]]
        return cls(rows.clone(), its_anchor, its_pull, (anchor, importance))

    def hold(self, rows: torch.Tensor, anchor: torch.Tensor, importance: torch.Tensor) -> bool:
        """Whether these are the rows, and the anchors they were gathered from."""
        return self.sources[0] is anchor and self.sources[1] is importance and torch.equal(self.rows, rows)


class QuadraticPenalty(Regularizer):
    """``strength · Σ importance·(weight − anchor)²`` over all weights that have an anchor."""

    def __init__(self, strength: float) -> None:
        super().__init__(strength)
        self.anchors: dict[str, torch.Tensor] = {}
        self.importance: dict[str, torch.Tensor] = {}
        self._active: ActiveAnchors | None = None

    def penalty(self, network: Network) -> torch.Tensor:
        total = torch.zeros(())
        for name, weight in {**network.full_weights(), **dict(network.named_parameters())}.items():
            if name in self.anchors:
                known = tuple(slice(0, size) for size in self.anchors[name].shape)
                total = total + (self.importance[name] * (weight[known] - self.anchors[name]).square()).sum()
        return self.strength * total

    def add_gradient(self, network: Network) -> None:
        if not self.strength:
            return
        for name, weight, rows in network.slots():
            if name in self.anchors and weight.grad is not None:
                value, slope = weight.detach(), weight.grad
                if rows is not None:
                    held = self._active_anchors(name, rows)
                    slope += (value - held.anchor).mul_(held.pull)
                else:
                    anchor = self.anchors[name]
                    block = tuple(slice(0, size) for size in anchor.shape)
                    slope[block].addcmul_(self.importance[name], value[block] - anchor, value=2 * self.strength)

    def _active_anchors(self, name: str, rows: torch.Tensor) -> ActiveAnchors:
        """What holds these rows of a table; the same as a step before, unless others have become active."""
        anchor, importance, held = self.anchors[name], self.importance[name], self._active
        if held is None or not held.hold(rows, anchor, importance):
            self._active = held = ActiveAnchors.of(rows, anchor, importance, self.strength)
        return held

    def anchor_at(self, network: Network, importance: dict[str, torch.Tensor]) -> None:
        """Keep the present weights, each as important as said."""
        weights = network.full_weights()
        self.anchors = {name: weights[name].clone() for name in importance}
        self.importance, self._active = importance, None

    def copy(self) -> Self:
        twin = super().copy()
        twin.anchors, twin.importance = dict(self.anchors), dict(self.importance)
        return twin

    def state_dict(self) -> dict[str, Any]:
        return {"anchors": dict(self.anchors), "importance": dict(self.importance)}

    def load_state_dict(self, saved: Saved, network: Network) -> None:
        self.anchors = within(network, saved, "anchors")
        self.importance = saved.tensors("importance", {name: tuple(a.shape) for name, a in self.anchors.items()})


def within(network: Network, saved: Saved, name: str) -> dict[str, torch.Tensor]:
    """Saved values of some of the network's weights, or of the part of each that was there when they were noted."""
    values, weights = saved.part(name), network.full_weights()
    noted = {}
    for key in saved.entries(name):
        if key not in weights:
            saved.refuse(name, f"must name weights of the network, {', '.join(weights)}")
        noted[key] = value = values.tensor(key, (None,) * weights[key].ndim)
        if any(mine > whole for mine, whole in zip(value.shape, weights[key].shape, strict=True)):
            values.refuse(key, f"has the shape {tuple(value.shape)}, larger than the weights it is for")
    return noted


def grown(value: torch.Tensor, shape: torch.Size) -> torch.Tensor:
    """``value`` in the first corner of a tensor of this shape, with zeros around it: what was first seen later.

    >>> grown(torch.ones(1, 2), torch.Size((2, 3)))
    tensor([[1., 1., 0.],
            [0., 0., 0.]])
    """
    if value.shape == shape:
        return value
    result = value.new_zeros(shape)
    result[tuple(slice(0, size) for size in value.shape)] = value
    return result


def accumulated(total: Mapping[str, torch.Tensor], more: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """``total + more`` by name, in new tensors of the shapes of ``more``."""
    return {name: grown(total[name], value.shape) + value if name in total else value for name, value in more.items()}
