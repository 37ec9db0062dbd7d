"""Long-term forgetting, Ω_e: a group lasso over input features, so that useless ones reach exactly zero weight."""

from __future__ import annotations

from typing import Literal, get_args

import torch

from smartcl.network.inputs import Prepared
from smartcl.network.mlp import MLP, DenseInput
from smartcl.network.optim import Adam
from smartcl.network.prox import group_lasso, prox_preconditioned, shrink_rows_, subgradient
from smartcl.regularizers.regularizer import Regularizer

Form = Literal["decoupled", "exact", "subgradient"]


class GroupLasso(Regularizer):
    """``strength · Σ_i ‖W1_i‖₂`` over features ``i``.

    ``form`` says how it is minimised:

    * ``decoupled``: after each step every feature's norm falls by ``lr·strength`` (as AdamW decouples weight decay);
    * ``exact``: the proximal step in Adam's own metric, every ``every`` steps with the strength of all of them;
    * ``subgradient``: the paper's: a sub-gradient through Adam, and features whose weights are all below
      ``threshold`` set to zero when a batch is learned.

    A row table knows the decoupled form only, applied when a row is touched.
    """

    def __init__(self, strength: float, form: Form = "decoupled", every: int = 10, threshold: float = 1e-4) -> None:
        super().__init__(strength)
        if form not in get_args(Form):
            raise ValueError(f"form must be one of {', '.join(get_args(Form))}, got {form!r}")
        self.form, self.every, self.threshold = form, every, threshold
        self._since = 0

    def penalty(self, network: MLP) -> torch.Tensor:
        weights = {**network.full_weights(), **dict(network.named_parameters())}
        return self.strength * group_lasso(weights["first.weight"])

    def add_gradient(self, network: MLP) -> None:
        if self.strength and self.form == "subgradient":
            weight = _dense(network)
            assert weight.grad is not None
            weight.grad.add_(subgradient(weight.detach()), alpha=self.strength)

    @torch.no_grad()
    def after_step(self, network: MLP, optimizer: Adam) -> None:
        if not self.strength or self.form == "subgradient":
            return
        if self.form == "decoupled":
            if network.table is None:
                shrink_rows_(_dense(network), optimizer.lr * self.strength)
            return
        weight = _dense(network)
        self._since += 1
        if self._since == self.every:
            weight.copy_(prox_preconditioned(weight, optimizer.metric(weight), self.strength * self._since))
            self._since = 0

    @torch.no_grad()
    def consolidate(self, network: MLP, rows: Prepared, y: torch.Tensor) -> None:
        if self.strength and self.form == "subgradient":
            weight = _dense(network)
            weight[weight.abs().amax(dim=1) < self.threshold] = 0.0

    def row_shrinkage(self, lr: float) -> float:
        return lr * self.strength

    def state_dict(self) -> dict[str, int]:
        return {"since": self._since}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self._since = int(state["since"])


def _dense(network: MLP) -> torch.nn.Parameter:
    if not isinstance(network.first, DenseInput):
        raise ValueError("a row table takes the decoupled form of the group lasso only: set form='decoupled'")
    return network.first.weight
