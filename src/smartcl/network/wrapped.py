"""Any PyTorch module as a network that a learner can teach: rows become its inputs, its output is the logits."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from copy import deepcopy
from threading import get_ident
from typing import TypeAlias

import numpy as np
import torch
from torch import nn

from smartcl.data.spec import InputSpec
from smartcl.network.hook_gradients import parameter_name
from smartcl.network.initial_weights import InitialWeights
from smartcl.network.inputs import Prepared, SparseInput, join_alike
from smartcl.network.mlp import linear
from smartcl.network.network import InputWeights, Network
from smartcl.network.own_randomness import draw_seed, seeded
from smartcl.network.probe import Anatomy, examine
from smartcl.saving.saved import Saved

#: A module, or what makes one for a stream: ``make(spec)`` with ``spec.shape`` and ``spec.n_classes``.
ModuleSource: TypeAlias = nn.Module | Callable[[InputSpec], nn.Module]
#: Rows of more features than these are not made dense.
WIDEST = 100_000
#: From rows as the network reads them to others of the same labels; it may take a ``generator``.
Augment: TypeAlias = Callable[..., torch.Tensor]


class WrappedNetwork(Network):
    """A module from ``[n, *shape]`` to logits ``[n, n_classes]``.

    It is in training mode in steps that learn, where its rows are augmented, and in evaluation mode whenever it is
    asked. What is known of it beyond its output was found out by a look at it: see ``Anatomy``.

    >>> spec = InputSpec(n_features=8, n_classes=2, shape=(2, 2, 2))
    >>> module = nn.Sequential(nn.Conv2d(2, 3, 2), nn.Flatten(), nn.Linear(3, 2))
    >>> network = WrappedNetwork(module, spec)
    >>> network(torch.zeros(5, 8)).shape, network.features(torch.zeros(5, 8)).shape
    (torch.Size([5, 2]), torch.Size([5, 3]))
    """

    def __init__(self, module: nn.Module, spec: InputSpec, augment: Augment | None = None) -> None:
        super().__init__()
        self.shape, self.n_features = spec.row_shape, spec.n_features
        self.anatomy: Anatomy = examine(module, self.shape, spec.n_classes)
        self.module = module
        self.augment = augment
        self._draws = augment is not None and "generator" in inspect.signature(augment).parameters
        self._learns = True

    def forward(self, *parts: Prepared) -> torch.Tensor:
        x = self.images(*parts)
        learning = self._learns and torch.is_grad_enabled()
        self._set_mode(learning)
        if learning and self.augment is not None:
            more = {"generator": torch.default_generator} if self._draws else {}
            x = self.augment(x, **more)
        logits: torch.Tensor = self.module(x)
        return logits

    def images(self, *parts: Prepared) -> torch.Tensor:
        """Rows as the module takes them."""
        rows = join_alike([_dense(part) for part in parts], self.n_features)
        assert isinstance(rows, torch.Tensor)
        return rows.view(-1, *self.shape)

    def still(self) -> nn.Module:
        """The module as it answers: it draws nothing."""
        self._set_mode(learning=False)
        return self.module

    def _set_mode(self, learning: bool) -> None:
        """The module last, for other threads that ask: when it is in a mode, so are all its parts."""
        if self.module.training != learning:
            for part in self.module.children():
                part.train(learning)
            self.module.train(learning)

    @property
    def n_outputs(self) -> int:
        return self.anatomy.n_outputs

    def features(self, rows: Prepared, layer: str = "penultimate") -> torch.Tensor:
        if layer == "logits":
            logits: torch.Tensor = self.still()(self.images(rows))
            return logits
        head, asker = self._head("its penultimate features are asked for"), get_ident()
        read: list[torch.Tensor] = []

        def note(_: nn.Module, inputs: tuple[torch.Tensor, ...]) -> None:
            if get_ident() == asker:  # others may ask meanwhile
                read.append(inputs[0])

        handle = head.register_forward_pre_hook(note)
        try:
            self.still()(self.images(rows))
        finally:
            handle.remove()
        return read[0].flatten(1)

    def alive(self) -> torch.Tensor:
        """All input features, but those of a channel or column that has no weight any more."""
        return self.group_norms() > 0

    def group_norms(self) -> torch.Tensor:
        """The norm of the weights that read each feature; all alike where they are not in one place."""
        inputs = self.input_weights
        if inputs is None:
            return torch.ones(self.n_features)
        norms = inputs.norms()
        return norms.repeat_interleave(self.n_features // len(norms))

    @property
    def input_weights(self) -> InputWeights | None:
        name = self.anatomy.first
        if name is None:
            return None
        return InputWeights(f"module.{parameter_name(name, 'weight')}", self._layer(name).weight, axis=1)

    def add_classes(self, n_classes: int, rng: np.random.Generator) -> None:
        old = self._head("classes are to be added: say all classes at first")
        grown = linear(old.in_features, n_classes, InitialWeights("fan-in", rng), bias=old.bias is not None)
        with torch.no_grad():
            grown.weight[: old.out_features] = old.weight
            if old.bias is not None:
                grown.bias[: old.out_features] = old.bias
        self.set_submodule(_place(self.anatomy.head), grown.train(old.training))
        self.anatomy = self.anatomy.with_outputs(n_classes)

    def _head(self, why: str) -> nn.Linear:
        if self.anatomy.head is None:
            raise ValueError(f"network must end in a Linear layer where {why}; {type(self.module).__name__} does not")
        head = self._layer(self.anatomy.head)
        assert isinstance(head, nn.Linear)
        return head

    def _layer(self, name: str) -> nn.Linear | nn.Conv2d:
        layer = self.get_submodule(_place(name))
        assert isinstance(layer, nn.Linear | nn.Conv2d)
        return layer

    def check_same(self, saved: Saved) -> None:
        """Refuse saved weights of other names or shapes: what makes the network has changed since."""
        mine = {name: tuple(value.shape) for name, value in self.named_parameters()}
        theirs = {name: _shape(value) for name, value in saved.entries("weights").items()}
        for name in {**mine, **theirs}:
            if mine.get(name) != theirs.get(name):
                raise ValueError(
                    f"network does not make what was saved: {name.removeprefix('module.')} has the shape "
                    f"{mine.get(name, 'of nothing')} and had {theirs.get(name, 'none')} then"
                )

    def copy(self) -> WrappedNetwork:
        twin = WrappedNetwork.__new__(WrappedNetwork)
        nn.Module.__init__(twin)
        for name in ("shape", "n_features", "anatomy", "augment", "_draws", "_learns"):
            setattr(twin, name, getattr(self, name))
        twin.module = deepcopy(self.module)
        return twin

    def shadow(self) -> WrappedNetwork:
        twin = self.copy().requires_grad_(False)
        twin._learns = False
        return twin


def wrapped(
    source: ModuleSource, spec: InputSpec, rng: np.random.Generator, augment: Augment | None = None
) -> WrappedNetwork:
    """A network of a learner's own: a copy of a module, or a new one, whose first weights this generator draws."""
    if spec.sparse and spec.n_features > WIDEST:
        raise ValueError(
            f"network takes dense rows, and {spec.n_features} features are too many to be made dense: leave network out"
        )
    if isinstance(source, nn.Module):
        return WrappedNetwork(deepcopy(source), spec, augment)
    with seeded(draw_seed(rng)):
        module = source(spec)
    if not isinstance(module, nn.Module):
        raise ValueError(f"network must make a torch.nn.Module, it made {type(module).__name__}")
    return WrappedNetwork(module, spec, augment)


def _dense(part: Prepared) -> Prepared:
    return torch.from_numpy(part.to_scipy().toarray()) if isinstance(part, SparseInput) else part


def _shape(value: object) -> object:
    return tuple(value.shape) if isinstance(value, torch.Tensor) else "no tensor"


def _place(name: str | None) -> str:
    """Of a layer of the module in the network around it."""
    return f"module.{name}" if name else "module"
