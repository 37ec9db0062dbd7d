"""Adam over a network that may grow, with the diagonal metric its proximal steps need."""

from __future__ import annotations

from math import isfinite
from typing import Any

import torch

from smartcl.network.adam_step import MOST_STEPS, AdamConstants, adam_metric, adam_step_
from smartcl.network.network import Network
from smartcl.network.row_table.missed_steps import RowSchedule
from smartcl.saving.saved import Saved


class Adam:
    """Fused Adam on a network's parameters, and the row-wise form on its row table if it has one."""

    def __init__(self, network: Network, lr: float) -> None:
        if not (lr > 0 and isfinite(lr)):
            raise ValueError(f"lr must be positive and finite, got {lr}")
        self.network = network
        self.constants = AdamConstants(lr)
        self.steps = 0
        self._weights = dict(network.named_parameters())
        self._mean = {name: torch.zeros_like(value.detach()) for name, value in self._weights.items()}
        self._square = {name: torch.zeros_like(value.detach()) for name, value in self._weights.items()}

    @property
    def lr(self) -> float:
        return self.constants.lr

    def copy(self, network: Network) -> Adam:
        """The same moments for a copy of the network."""
        twin = Adam.__new__(Adam)
        vars(twin).update(vars(self))
        twin.network, twin._weights = network, dict(network.named_parameters())
        twin._mean = {name: value.clone() for name, value in self._mean.items()}
        twin._square = {name: value.clone() for name, value in self._square.items()}
        return twin

    def zero_grad(self) -> None:
        for weight in self._weights.values():
            weight.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Move every weight along its gradient."""
        moved = [(name, value, value.grad) for name, value in self._weights.items() if value.grad is not None]
        adam_step_(
            [value for _, value, _ in moved],
            [slope for _, _, slope in moved if slope is not None],
            [self._mean[name] for name, _, _ in moved],
            [self._square[name] for name, _, _ in moved],
            self.steps,
            self.constants,
        )
        self.steps += 1
        if self.network.table is not None:
            self.network.table.apply_gradient()

    def schedule_rows(self, shrink: float, average: float) -> None:
        """Tell the row table, if there is one, what each step does to every row."""
        if self.network.table is not None:
            self.network.table.schedule = RowSchedule(lr=self.lr, shrink=shrink, average=average)

    def metric(self, name: str) -> torch.Tensor:
        """``(√v̂ + ε)/lr`` of a weight: the diagonal metric in which Adam's last step was a gradient step."""
        return adam_metric(self._square[name], self.steps, self.constants)

    def resize(self) -> None:
        """After the network grew: moments of the old weights stay, those of new weights start at zero."""
        self._weights = dict(self.network.named_parameters())
        for moments in (self._mean, self._square):
            for name, weight in self._weights.items():
                grown = torch.zeros_like(weight.detach())
                grown[tuple(slice(0, size) for size in moments[name].shape)] = moments[name]
                moments[name] = grown

    def forget(self) -> None:
        """Zero moments, as for weights that begin anew; the count of steps goes on."""
        for value in (*self._mean.values(), *self._square.values()):
            value.zero_()

    def restart(self) -> None:
        """Begin as a new optimizer does: what was known of the slopes is forgotten, the steps are counted anew."""
        self.forget()
        self.steps = 0

    def moments(self) -> list[torch.Tensor]:
        return [*self._mean.values(), *self._square.values()]

    def state_dict(self) -> dict[str, Any]:
        return {
            "steps": self.steps,
            "mean": {name: value.clone() for name, value in self._mean.items()},
            "square": {name: value.clone() for name, value in self._square.items()},
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from ``state_dict()``; what does not fit this network is refused."""
        saved = Saved(state, "optimizer")
        shapes = {name: tuple(value.shape) for name, value in self._weights.items()}
        steps = saved.whole("steps", 0, MOST_STEPS)
        mean, square = saved.tensors("mean", shapes), saved.tensors("square", shapes)
        if any(bool((value < 0).any()) for value in square.values()):
            saved.refuse("square", "must not be negative")
        self.steps = steps
        self._mean = {name: value.clone() for name, value in mean.items()}
        self._square = {name: value.clone() for name, value in square.items()}
