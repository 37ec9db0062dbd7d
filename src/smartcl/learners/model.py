"""The part of a learner that has weights: network, optimizer, average and penalties, moved and restored together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from smartcl.learners.recipe import Recipe
from smartcl.learners.size import check_size
from smartcl.network.average import WeightAverage
from smartcl.network.inputs import Prepared, SparseInput
from smartcl.network.mlp import MLP
from smartcl.network.optim import Adam
from smartcl.network.sleep import AVERAGE_EVERY
from smartcl.regularizers.regularizer import Regularizer
from smartcl.streams.stream import InputSpec


class Model:
    """A network that descends on a loss and its penalties, and predicts with its averaged weights if it has them."""

    def __init__(
        self, spec: InputSpec, recipe: Recipe, regularizers: Sequence[Regularizer], rng: np.random.Generator
    ) -> None:
        check_size(recipe.hidden, spec)
        self.network = MLP(spec, recipe.hidden, rng, recipe.init)
        self.optimizer = Adam(self.network, recipe.lr)
        self.regularizers = tuple(regularizers)
        self.average = WeightAverage(self.network, recipe.average, AVERAGE_EVERY) if recipe.average else None
        shrink = sum(regularizer.row_shrinkage(recipe.lr) for regularizer in self.regularizers)
        self.optimizer.schedule_rows(shrink, recipe.average)

    @property
    def predictor(self) -> MLP:
        """The network to predict with."""
        return self.network if self.average is None else self.average.network

    def expect(self, rows: Prepared) -> None:
        """These will be looked at more than once: rows of a row table that they need wake up now, all together."""
        if self.network.table is not None and isinstance(rows, SparseInput):
            self.network.table.activate(rows.indices)

    def descend(self, loss: torch.Tensor) -> None:
        """One optimizer step on the loss and the penalties."""
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        for regularizer in self.regularizers:
            regularizer.add_gradient(self.network)
        self.optimizer.step()
        for regularizer in self.regularizers:
            regularizer.after_step(self.network, self.optimizer)
        if self.average is not None:
            self.average.update(self.network)

    def settle(self) -> None:
        """All steps of a batch are taken."""
        for regularizer in self.regularizers:
            regularizer.settle(self.network, self.optimizer)

    def consolidate(self, rows: Prepared, y: torch.Tensor) -> None:
        """What was learned is what is to be kept."""
        for regularizer in self.regularizers:
            regularizer.consolidate(self.network, rows, y)

    def add_classes(self, n_classes: int, rng: np.random.Generator) -> None:
        """Grow the head, the moments and the average together."""
        self.network.add_classes(n_classes, rng)
        self.optimizer.resize()
        if self.average is not None:
            self.average.resize(self.network)

    def begin(self) -> dict[str, Any]:
        """Remember how things are, for ``rollback``; a row table writes nothing before ``commit``."""
        if self.network.table is not None:
            self.network.table.begin()
        return self._dense_state()

    def commit(self) -> None:
        """What happened since ``begin`` stands."""
        if self.network.table is not None:
            self.network.table.commit()

    def rollback(self, before: dict[str, Any]) -> None:
        """Back to ``begin``, bit for bit."""
        self._restore(before)
        if self.network.table is not None:
            self.network.table.rollback()

    def state_dict(self) -> dict[str, Any]:
        table = self.network.table
        return {**self._dense_state(), "table": None if table is None else table.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._restore(state)
        if self.network.table is not None:
            self.network.table.load_state_dict(state["table"])

    def _dense_state(self) -> dict[str, Any]:
        return {
            "weights": _copies(self.network),
            "average": None if self.average is None else _copies(self.average.network),
            "average_step": None if self.average is None else self.average.step,
            "optimizer": self.optimizer.state_dict(),
            "regularizers": [regularizer.state_dict() for regularizer in self.regularizers],
        }

    def _restore(self, state: dict[str, Any]) -> None:
        _fill(self.network, state["weights"])
        if self.average is not None:
            _fill(self.average.network, state["average"])
            self.average.step = int(state["average_step"])
        self.optimizer.load_state_dict(state["optimizer"])
        for regularizer, saved in zip(self.regularizers, state["regularizers"], strict=True):
            regularizer.load_state_dict(saved)


def _copies(network: MLP) -> dict[str, torch.Tensor]:
    return {name: value.detach().clone() for name, value in network.named_parameters()}


@torch.no_grad()
def _fill(network: MLP, weights: dict[str, torch.Tensor]) -> None:
    for name, value in network.named_parameters():
        value.copy_(weights[name])
