"""The part of a learner that has weights: network, optimizer, average and penalties, moved and copied together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeAlias

import numpy as np
import torch

from smartcl.data.spec import InputSpec
from smartcl.learners.recipe import Recipe
from smartcl.learners.size import check_size
from smartcl.network.adam_step import MOST_STEPS
from smartcl.network.average import WeightAverage
from smartcl.network.inputs import Prepared, SparseInput
from smartcl.network.mlp import MLP
from smartcl.network.network import Network
from smartcl.network.optim import Adam
from smartcl.network.own_randomness import draw_seed, seeded
from smartcl.network.row_table.missed_steps import AVERAGE_EVERY
from smartcl.network.torch_optim import TorchOptimizer
from smartcl.network.wrapped import WrappedNetwork, wrapped
from smartcl.regularizers.regularizer import Regularizer
from smartcl.saving.saved import Saved

#: An output or several.
Tensors: TypeAlias = torch.Tensor | Sequence[torch.Tensor]


class Model:
    """A network that descends on a loss and its penalties, and predicts with its averaged weights if it has them."""

    def __init__(
        self,
        spec: InputSpec,
        recipe: Recipe,
        regularizers: Sequence[Regularizer],
        rng: np.random.Generator,
        network: Network | None = None,
    ) -> None:
        self.network = make_network(spec, recipe, rng) if network is None else network
        self.optimizer = make_optimizer(self.network, recipe)
        self.regularizers = tuple(regularizers)
        for regularizer in self.regularizers:
            regularizer.check(self.network)
        self.average = WeightAverage(self.network, recipe.average, AVERAGE_EVERY) if recipe.average else None
        shrink = sum(regularizer.row_shrinkage(recipe.lr) for regularizer in self.regularizers)
        self.optimizer.schedule_rows(shrink, recipe.average)
        #: The numbers in which weights are kept between batches; half precision comes without the optimizer's moments.
        self.kept = torch.float16 if recipe.kept_weights == "float16" else torch.float32
        if self.kept == torch.float16 and self.network.table is not None:
            raise ValueError(
                "kept_weights must be float32 for sparse rows of this width: only rows that are active change"
            )
        if self.kept == torch.float16 and recipe.optimizer is not None:
            raise ValueError("kept_weights must be float32 with an optimizer of one's own: what it keeps is its own")
        self._round()

    def copy(self) -> Model:
        """The same model, to be moved without moving this one. A row table is shared: it can undo what was done."""
        twin = Model.__new__(Model)
        twin.network = self.network.copy()
        twin.optimizer = self.optimizer.copy(twin.network)
        twin.average = None if self.average is None else self.average.copy()
        twin.regularizers = tuple(regularizer.copy() for regularizer in self.regularizers)
        twin.kept = self.kept
        return twin

    @property
    def predictor(self) -> Network:
        """The network to predict with."""
        return self.network if self.average is None else self.average.network

    def drawing(self, rng: np.random.Generator) -> AbstractContextManager[None]:
        """Inside, a user's own network draws from this generator."""
        return seeded(draw_seed(rng)) if isinstance(self.network, WrappedNetwork) else nullcontext()

    def expect(self, rows: Prepared) -> None:
        """Announce rows that will be read more than once: what they need of a row table becomes active at once."""
        if self.network.table is not None and isinstance(rows, SparseInput):
            self.network.table.activate(rows.indices)

    def descend(self, output: Tensors, slope: Tensors | None = None) -> None:
        """One optimizer step on the penalties and the loss: the output itself, or one of this slope at it."""
        self.optimizer.zero_grad()
        torch.autograd.backward(output, slope)
        for regularizer in self.regularizers:
            regularizer.add_gradient(self.network)
        self.optimizer.step()
        for regularizer in self.regularizers:
            regularizer.after_step(self.network, self.optimizer)
        if self.average is not None:
            self.average.update(self.network)

    def settle(self, rng: np.random.Generator) -> None:
        """After the steps of a batch: a network that no slope passes through any more begins anew."""
        for regularizer in self.regularizers:
            regularizer.settle(self.network, self.optimizer)
        if self.network.is_dead():
            self.begin_anew(rng)
        self._round()

    @torch.no_grad()
    def _round(self) -> None:
        """Leave nothing between batches that half precision does not hold, where weights are kept in it."""
        if self.kept == torch.float32:
            return
        for network in (self.network, *(() if self.average is None else (self.average.network,))):
            for weight in network.parameters():
                weight.copy_(weight.half())
        if isinstance(self.optimizer, Adam):
            self.optimizer.restart()

    def begin_anew(self, rng: np.random.Generator) -> None:
        """Forget all that was learned."""
        self.network.redraw(rng)
        self.optimizer.forget()
        if self.average is not None:
            self.average.restart(self.network)

    def consolidate(self, rows: Prepared, y: torch.Tensor) -> None:
        """Let each penalty protect what was learned."""
        for regularizer in self.regularizers:
            regularizer.consolidate(self.network, rows, y)

    def add_classes(self, n_classes: int, rng: np.random.Generator) -> None:
        """Grow the head, the moments and the average together."""
        self.network.add_classes(n_classes, rng)
        self.optimizer.resize()
        if self.average is not None:
            self.average.resize(self.network)
        self._round()

    def moved(self) -> Iterator[torch.Tensor]:
        """All that the steps of a batch have moved."""
        yield from self.network.parameters()
        yield from self.optimizer.moments()
        if self.average is not None:
            yield from self.average.network.parameters()
        if self.network.table is not None:
            yield from self.network.table.unfinished()

    def noted(self) -> Iterator[torch.Tensor]:
        """All that the penalties keep."""
        for regularizer in self.regularizers:
            yield from _tensors(regularizer.state_dict())

    @property
    def nbytes(self) -> int:
        """What the weights, their average, the moments and the penalties take."""
        return sum(value.nbytes for value in (*_tensors(self.state_dict()), *self.noted()))

    def state_dict(self) -> dict[str, Any]:
        table = self.network.table
        return {
            "weights": copied_weights(self.network, self.kept),
            "buffers": {name: value.clone() for name, value in self.network.named_buffers()},
            "average": None if self.average is None else copied_weights(self.average.network, self.kept),
            "average_step": None if self.average is None else self.average.step,
            "optimizer": self.optimizer.state_dict() if self.kept == torch.float32 else None,
            "regularizers": [regularizer.state_dict() for regularizer in self.regularizers],
            "table": None if table is None else table.state_dict(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from ``state_dict()``; what does not fit this network is refused."""
        saved, table = Saved(state, "model"), self.network.table
        moments = self.optimizer if self.kept == torch.float32 else None
        for name, part in (
            ("table", table),
            ("average", self.average),
            ("average_step", self.average),
            ("optimizer", moments),
        ):
            if saved.has(name) != (part is not None):
                saved.refuse(name, f"must {'not ' * (part is None)}be there for such a network")
        if table is not None:
            table.load_state_dict(saved.entries("table"))
        if isinstance(self.network, WrappedNetwork):
            self.network.check_same(saved)
        fill_weights(self.network, saved, "weights", self.kept)
        _fill_buffers(self.network, saved)
        if self.average is not None:
            fill_weights(self.average.network, saved, "average", self.kept)
            _fill_buffers(self.average.network, saved)
            self.average.step = saved.whole("average_step", 0, MOST_STEPS)
        if moments is None:
            self._round()
        else:
            self.optimizer.load_state_dict(saved.entries("optimizer"))
        states = saved.parts("regularizers")
        if len(states) != len(self.regularizers):
            saved.refuse("regularizers", f"must be {len(self.regularizers)} states, are {len(states)}")
        for regularizer, its_state in zip(self.regularizers, states, strict=True):
            regularizer.load_state_dict(its_state, self.network)


def make_network(spec: InputSpec, recipe: Recipe, rng: np.random.Generator) -> Network:
    """The network that a recipe names: one of the user's own, or layers of the widths it says."""
    if recipe.network is not None:
        return wrapped(recipe.network, spec, rng, recipe.augment)
    check_size(recipe.hidden, spec)
    return MLP(spec, recipe.hidden, rng, recipe.init)


def make_optimizer(network: Network, recipe: Recipe) -> Adam | TorchOptimizer:
    return Adam(network, recipe.lr) if recipe.optimizer is None else TorchOptimizer(network, recipe.optimizer)


def copied_weights(network: Network, dtype: torch.dtype = torch.float32) -> dict[str, torch.Tensor]:
    return {name: value.detach().to(dtype, copy=True) for name, value in network.named_parameters()}


@torch.no_grad()
def fill_weights(network: Network, saved: Saved, name: str, dtype: torch.dtype = torch.float32) -> None:
    parameters = dict(network.named_parameters())
    shapes = {key: tuple(value.shape) for key, value in parameters.items()}
    for key, value in saved.tensors(name, shapes, dtype).items():
        parameters[key].copy_(value)


def _fill_buffers(network: Network, saved: Saved) -> None:
    """Constants of a user's own network: also those that are not finite, as masks are."""
    noted, buffers = saved.entries("buffers"), dict(network.named_buffers())
    for name, mine in buffers.items():
        theirs = noted.get(name)
        if not isinstance(theirs, torch.Tensor) or (theirs.shape, theirs.dtype) != (mine.shape, mine.dtype):
            saved.refuse("buffers", f"must have {name}, {mine.dtype} of the shape {tuple(mine.shape)}")
        mine.copy_(theirs)
    if len(noted) > len(buffers):
        saved.refuse("buffers", f"must be those of the network, {', '.join(buffers) or 'none'}")


def _tensors(state: dict[str, Any]) -> Iterator[torch.Tensor]:
    for value in state.values():
        if isinstance(value, dict):
            yield from _tensors(value)
        elif isinstance(value, torch.Tensor):
            yield value
