"""Long-term forgetting, Ω_e: a group lasso over input features, so that useless ones reach exactly zero weight."""

from __future__ import annotations

import torch

from smartcl.network.adam_step import MOST_STEPS
from smartcl.network.network import InputWeights, Network, Optimizer
from smartcl.network.prox import group_lasso, prox_preconditioned, shrink_rows_, subgradient
from smartcl.regularizers.regularizer import Regularizer
from smartcl.saving.saved import Saved
from smartcl.settings import setting

FORMS = ("decoupled", "exact", "subgradient")


class GroupLasso(Regularizer):
    """``strength · Σ_i ‖W1_i‖₂`` over features ``i``.

    ``form`` says how it is minimised:

    * ``decoupled``: after each step every feature's norm falls by ``lr·strength`` (as AdamW decouples weight decay);
    * ``exact``: the proximal step in Adam's own metric, once per batch with the strength of all its steps;
    * ``subgradient``: the paper's: a sub-gradient through Adam, and features whose weights are all below
      ``threshold`` set to zero once per batch.

    A step whose loss did not depend on the network says nothing against any feature, and does not count: Adam would
    make a full step of the penalty alone, and the proximal step a metric of its epsilon. A network whose input weights
    are not in one place has no features to forget.

    In a row table the decoupled form shrinks idle rows too; the other forms reach only the active rows.
    """

    def __init__(self, strength: float, form: str = "decoupled", threshold: float = 1e-4, together: int = 0) -> None:
        super().__init__(strength)
        if form not in FORMS:
            raise ValueError(f"form must be one of {', '.join(FORMS)}, got {form!r}")
        self.form = form
        self.threshold: float = setting("threshold", threshold)
        #: The number of steps that are settled together, if batches have fewer; idle rows of a row table do not wait.
        self.together = together
        self._steps = 0

    def penalty(self, network: Network) -> torch.Tensor:
        if network.table is not None:
            return self.strength * group_lasso(network.table.rows())
        inputs = network.input_weights
        return torch.zeros(()) if inputs is None else self.strength * group_lasso(inputs.rows(inputs.weight))

    def add_gradient(self, network: Network) -> None:
        if not self.strength or self.form != "subgradient" or not network.has_slope():
            return
        inputs = network.input_weights
        if inputs is None and network.table is not None:
            inputs = InputWeights("first.weight", network.table.active[1], axis=0)
        if inputs is not None:
            assert inputs.weight.grad is not None
            slope = subgradient(inputs.rows(inputs.weight.detach()))
            inputs.weight.grad.add_(inputs.shaped(slope), alpha=self.strength)

    @torch.no_grad()
    def after_step(self, network: Network, optimizer: Optimizer) -> None:
        self._steps += network.has_slope()
        inputs = network.input_weights if self.strength and self.form == "decoupled" else None
        if inputs is not None:
            rows = inputs.rows(inputs.weight)
            shrink_rows_(rows, optimizer.lr * self.strength)
            inputs.put(rows)

    @torch.no_grad()
    def settle(self, network: Network, optimizer: Optimizer) -> None:
        inputs = network.input_weights
        if inputs is not None and self._steps < self.together:
            return
        steps, self._steps = self._steps, 0
        if not self.strength:
            return
        if inputs is not None:
            rows = inputs.rows(inputs.weight)
            if self.form == "exact":
                metric = inputs.rows(optimizer.metric(inputs.name))
                inputs.put(prox_preconditioned(rows, metric, self.strength * steps))
            elif self.form == "subgradient":
                rows[rows.abs().amax(dim=1) < self.threshold] = 0.0
                inputs.put(rows)
        elif network.table is not None and self.form == "exact":
            network.table.take_exact_step(self.strength * steps)
        elif network.table is not None and self.form == "subgradient":
            network.table.bury(self.threshold)

    def row_shrinkage(self, lr: float) -> float:
        return lr * self.strength if self.form == "decoupled" else 0.0

    def state_dict(self) -> dict[str, int]:
        return {"steps": self._steps}

    def load_state_dict(self, saved: Saved, network: Network) -> None:
        self._steps = saved.whole("steps", 0, MOST_STEPS)
