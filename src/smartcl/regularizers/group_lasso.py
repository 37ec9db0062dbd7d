"""Long-term forgetting, Ω_e: a group lasso over input features, so that useless ones reach exactly zero weight."""

from __future__ import annotations

import torch

from smartcl.network.adam_step import MOST_STEPS
from smartcl.network.first_layer import MatrixLayer
from smartcl.network.mlp import MLP
from smartcl.network.optim import Adam
from smartcl.network.prox import group_lasso, prox_preconditioned, shrink_rows_, subgradient
from smartcl.regularizers.regularizer import Regularizer
from smartcl.saved import Saved
from smartcl.settings import setting

FORMS = ("decoupled", "exact", "subgradient")


class GroupLasso(Regularizer):
    """``strength · Σ_i ‖W1_i‖₂`` over features ``i``.

    ``form`` says how it is minimised:

    * ``decoupled``: after each step every feature's norm falls by ``lr·strength`` (as AdamW decouples weight decay);
    * ``exact``: the proximal step in Adam's own metric, once per batch with the strength of all its steps;
    * ``subgradient``: the paper's: a sub-gradient through Adam, and features whose weights are all below
      ``threshold`` set to zero once per batch.

    In a row table the decoupled form shrinks sleeping rows too; the others reach only the rows a batch has woken.
    """

    def __init__(self, strength: float, form: str = "decoupled", threshold: float = 1e-4) -> None:
        super().__init__(strength)
        if form not in FORMS:
            raise ValueError(f"form must be one of {', '.join(FORMS)}, got {form!r}")
        self.form = form
        self.threshold: float = setting("threshold", threshold)
        self._steps = 0

    def penalty(self, network: MLP) -> torch.Tensor:
        weights = {**network.full_weights(), **dict(network.named_parameters())}
        return self.strength * group_lasso(weights["first.weight"])

    def add_gradient(self, network: MLP) -> None:
        if self.strength and self.form == "subgradient" and has_slope(network):
            weight = next(weight for name, weight, _ in network.slots() if name == "first.weight")
            assert weight.grad is not None
            weight.grad.add_(subgradient(weight.detach()), alpha=self.strength)

    @torch.no_grad()
    def after_step(self, network: MLP, optimizer: Adam) -> None:
        self._steps += has_slope(network)
        if self.strength and self.form == "decoupled" and isinstance(network.first, MatrixLayer):
            shrink_rows_(network.first.weight, optimizer.lr * self.strength)

    @torch.no_grad()
    def settle(self, network: MLP, optimizer: Adam) -> None:
        steps, self._steps = self._steps, 0
        if not self.strength:
            return
        if isinstance(network.first, MatrixLayer):
            weight = network.first.weight
            if self.form == "exact":
                weight.copy_(prox_preconditioned(weight, optimizer.metric("first.weight"), self.strength * steps))
            elif self.form == "subgradient":
                weight[weight.abs().amax(dim=1) < self.threshold] = 0.0
        elif network.table is not None and self.form == "exact":
            network.table.take_exact_step(self.strength * steps)
        elif network.table is not None and self.form == "subgradient":
            network.table.bury(self.threshold)

    def row_shrinkage(self, lr: float) -> float:
        return lr * self.strength if self.form == "decoupled" else 0.0

    def state_dict(self) -> dict[str, int]:
        return {"steps": self._steps}

    def load_state_dict(self, saved: Saved, network: MLP) -> None:
        self._steps = saved.whole("steps", 0, MOST_STEPS)


def has_slope(network: MLP) -> bool:
    """Whether the last step's loss depended on the network at all.

    If not, it says nothing against any feature: Adam would make a full step of the penalty alone, and the proximal step
    a metric of its epsilon.
    """
    slope = network.head.weight.grad
    return slope is None or bool(slope.any())
