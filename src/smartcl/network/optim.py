"""Adam over a network that may grow, with the diagonal metric its proximal steps need."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from smartcl.network.mlp import MLP
from smartcl.network.sleep import RowSchedule


class Adam:
    """Fused Adam on a network's parameters, and the row-wise form on its row table if it has one."""

    def __init__(self, network: MLP, lr: float, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8) -> None:
        if not lr > 0:
            raise ValueError(f"lr must be positive, got {lr}")
        self.network = network
        self.lr, self.betas, self.eps = lr, betas, eps
        self._adam = torch.optim.Adam(network.parameters(), lr=lr, betas=betas, eps=eps, fused=True)

    def zero_grad(self) -> None:
        self._adam.zero_grad(set_to_none=True)

    def step(self) -> None:
        """Move every weight along its gradient."""
        self._adam.step()
        if self.network.table is not None:
            self.network.table.apply_gradient()

    def schedule_rows(self, shrink: float, average: float) -> None:
        """Tell the row table, if there is one, what each step does to every row."""
        if self.network.table is not None:
            self.network.table.schedule = RowSchedule(self.lr, self.betas, self.eps, shrink, average)

    def metric(self, parameter: nn.Parameter) -> torch.Tensor:
        """``(√v̂ + ε)/lr``: the diagonal metric in which Adam's last step was a gradient step."""
        state = self._adam.state[parameter]
        correction = 1 - self.betas[1] ** float(state["step"])
        metric: torch.Tensor = (state["exp_avg_sq"] / correction).sqrt_().add_(self.eps).div_(self.lr)
        return metric

    def resize(self) -> None:
        """After the network grew: moments of the old weights stay, those of new weights start at zero."""
        before = list(self._adam.state.values())
        fresh = torch.optim.Adam(self.network.parameters(), lr=self.lr, betas=self.betas, eps=self.eps, fused=True)
        for parameter, old in zip(self.network.parameters(), before, strict=False):
            state = {"step": old["step"]}
            for name in ("exp_avg", "exp_avg_sq"):
                grown = torch.zeros_like(parameter)
                grown[tuple(slice(0, size) for size in old[name].shape)] = old[name]
                state[name] = grown
            fresh.state[parameter] = state
        self._adam = fresh

    def state_dict(self) -> dict[str, Any]:
        moments = [
            {name: value.clone() for name, value in self._adam.state[parameter].items()}
            for parameter in self.network.parameters()
            if parameter in self._adam.state
        ]
        return {"moments": moments}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._adam.state.clear()
        for parameter, moments in zip(self.network.parameters(), state["moments"], strict=False):
            self._adam.state[parameter] = {name: value.clone() for name, value in moments.items()}
