"""An optimizer of torch, or of the user's own, over a network that is copied with every batch and may grow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import torch

from smartcl.network.network import Network
from smartcl.saving.saved import Saved

#: ``make(parameters)``, such as a function that returns ``torch.optim.SGD(parameters, lr=0.1, momentum=0.9)``.
MakeOptimizer: TypeAlias = Callable[[list[torch.nn.Parameter]], torch.optim.Optimizer]


class TorchOptimizer:
    """The verbs of ``Adam`` for any optimizer of torch.

    Its state is a dict for each parameter. What has the shape of the parameter grows with it.
    """

    def __init__(self, network: Network, make: MakeOptimizer) -> None:
        if network.table is not None:
            raise ValueError("optimizer cannot move the rows of a sparse input as wide as this one: leave it out")
        self.network, self.make = network, make
        self._begin()
        if not isinstance(self.optimizer, torch.optim.Optimizer):
            raise ValueError(f"optimizer must make a torch.optim.Optimizer, it made {type(self.optimizer).__name__}")

    def _begin(self) -> None:
        self._weights = {name: value for name, value in self.network.named_parameters() if value.requires_grad}
        self.optimizer = self.make(list(self._weights.values()))

    @property
    def lr(self) -> float:
        return float(self.optimizer.param_groups[0]["lr"])

    def copy(self, network: Network) -> TorchOptimizer:
        """The same state for a copy of the network."""
        twin = TorchOptimizer.__new__(TorchOptimizer)
        twin.network, twin.make = network, self.make
        twin._begin()
        twin.optimizer.load_state_dict(_cloned(self.optimizer.state_dict()))
        return twin

    def zero_grad(self) -> None:
        self.optimizer.zero_grad(set_to_none=True)

    def step(self) -> None:
        """Move every weight along its gradient."""
        self.optimizer.step()

    def schedule_rows(self, shrink: float, average: float) -> None:
        """There is no row table in a network of the user's own."""

    def metric(self, name: str) -> torch.Tensor:
        """``1/lr`` for every weight: a proximal step in the plain metric, as no other is known."""
        return torch.full_like(self._weights[name].detach(), 1 / max(self.lr, 1e-30))

    def resize(self) -> None:
        """After the network grew: what is noted of the old weights stays, of new weights there is nothing yet."""
        before, state = list(self._weights.values()), _cloned(self.optimizer.state_dict())
        self._begin()
        for number, (old, new) in enumerate(zip(before, self._weights.values(), strict=True)):
            noted = state["state"].get(number, {})
            for name, value in noted.items():
                if isinstance(value, torch.Tensor) and value.shape == old.shape != new.shape:
                    noted[name] = torch.zeros_like(new.detach())
                    noted[name][tuple(slice(0, size) for size in value.shape)] = value
        self.optimizer.load_state_dict(state)

    def forget(self) -> None:
        """As for weights that begin anew."""
        self._begin()

    def moments(self) -> list[torch.Tensor]:
        states = self.optimizer.state_dict()["state"].values()
        return [value for noted in states for value in noted.values() if isinstance(value, torch.Tensor)]

    def state_dict(self) -> dict[str, Any]:
        state = _cloned(self.optimizer.state_dict())
        names = list(self._weights)
        return {
            "noted": {names[number]: noted for number, noted in state["state"].items()},
            "groups": state["param_groups"],
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from ``state_dict()``; what does not fit this network is refused."""
        saved, numbers = Saved(state, "optimizer"), {name: number for number, name in enumerate(self._weights)}
        noted = saved.part("noted")
        for name in noted:
            if name not in numbers:
                saved.refuse("noted", f"must name weights of the network, {', '.join(numbers)}")
            weight, each = self._weights[name], noted.part(name)
            for key in each:
                value = each.value(key)
                if isinstance(value, torch.Tensor) and value.ndim:
                    each.tensor(key, tuple(weight.shape), weight.dtype)
        groups = [dict(group) for group in saved.items("groups")]
        before = self.optimizer.state_dict()["param_groups"]
        if [list(group) for group in groups] != [list(group) for group in before]:
            saved.refuse("groups", "must be those of the optimizer that this one's maker makes")
        found = {numbers[name]: noted.entries(name) for name in noted}
        tuples = [
            {key: tuple(v) if isinstance(v, list) and key != "params" else v for key, v in g.items()} for g in groups
        ]
        self.optimizer.load_state_dict(_cloned({"state": found, "param_groups": tuples}))


def _cloned(state: Any) -> Any:
    """A state that shares no tensor with this one."""
    if isinstance(state, dict):
        return {key: _cloned(value) for key, value in state.items()}
    if isinstance(state, list):
        return [_cloned(value) for value in state]
    return state.detach().clone() if isinstance(state, torch.Tensor) else state
