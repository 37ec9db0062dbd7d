"""Per-sample gradients of any module: its layers are watched during one forward and one backward pass.

A Linear layer's are outer products of what goes in and the slope of what comes out, and are never made. A convolution
shares its weights among all places, so that its gradients are small: they are made, by one matrix product a sample. All
other parameters get theirs from ``torch.func``, which asks nothing of a layer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol, Self, TypeAlias

import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call, grad, vmap

#: From the logits of some samples, and what is known of each, to one number, a sum over the samples.
RowScore: TypeAlias = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
#: An element-wise function of a gradient that passes through products: ``φ(uv) = φ(u)φ(v)``.
Multiplicative: TypeAlias = Callable[[torch.Tensor], torch.Tensor]


class LayerGradients(Protocol):
    """Some parameters' gradients, one for each sample."""

    @property
    def names(self) -> set[str]: ...

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self: ...

    def pieces(self, sizes: list[int]) -> list[Self]: ...

    def gram(self, other: Self) -> torch.Tensor: ...

    def squared_norms(self) -> torch.Tensor: ...

    def summed(self, phi: Multiplicative) -> dict[str, torch.Tensor]: ...


@dataclass(frozen=True)
class OuterProducts:
    """Those of a Linear layer that reads one vector a sample: ``inputs`` times ``slopes``.

    >>> layer = OuterProducts("w", None, torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0]]))
    >>> layer.gram(layer), layer.summed(torch.square)
    (tensor([[45.]]), {'w': tensor([[ 9., 36.]])})
    """

    weight: str
    bias: str | None
    inputs: torch.Tensor
    slopes: torch.Tensor

    @classmethod
    def join(cls, parts: Sequence[OuterProducts]) -> OuterProducts:
        inputs, slopes = torch.cat([part.inputs for part in parts]), torch.cat([part.slopes for part in parts])
        return cls(parts[0].weight, parts[0].bias, inputs, slopes)

    def pieces(self, sizes: list[int]) -> list[OuterProducts]:
        cut = zip(torch.split(self.inputs, sizes), torch.split(self.slopes, sizes), strict=True)
        return [OuterProducts(self.weight, self.bias, inputs, slopes) for inputs, slopes in cut]

    def gram(self, other: OuterProducts) -> torch.Tensor:
        return (self._constant + self.inputs @ other.inputs.T) * (self.slopes @ other.slopes.T)

    def squared_norms(self) -> torch.Tensor:
        return (self._constant + self.inputs.square().sum(dim=1)) * self.slopes.square().sum(dim=1)

    def summed(self, phi: Multiplicative) -> dict[str, torch.Tensor]:
        slopes = phi(self.slopes)
        total = {self.weight: slopes.T @ phi(self.inputs)}
        return total if self.bias is None else {**total, self.bias: slopes.sum(dim=0)}

    @property
    def names(self) -> set[str]:
        return {self.weight} if self.bias is None else {self.weight, self.bias}

    @property
    def _constant(self) -> int:
        """What a bias reads."""
        return 0 if self.bias is None else 1


@dataclass(frozen=True)
class WholeGradients:
    """Gradients as they are, by the name of the parameter: ``[samples, *its shape]``."""

    values: Mapping[str, torch.Tensor]

    @property
    def names(self) -> set[str]:
        return set(self.values)

    @classmethod
    def join(cls, parts: Sequence[WholeGradients]) -> WholeGradients:
        return cls({name: torch.cat([part.values[name] for part in parts]) for name in parts[0].values})

    def pieces(self, sizes: list[int]) -> list[WholeGradients]:
        cut = {name: torch.split(value, sizes) for name, value in self.values.items()}
        return [WholeGradients({name: value[i] for name, value in cut.items()}) for i in range(len(sizes))]

    def gram(self, other: WholeGradients) -> torch.Tensor:
        products = [value.flatten(1) @ other.values[name].flatten(1).T for name, value in self.values.items()]
        return torch.stack(products).sum(dim=0)

    def squared_norms(self) -> torch.Tensor:
        return torch.stack([value.flatten(1).square().sum(dim=1) for value in self.values.values()]).sum(dim=0)

    def summed(self, phi: Multiplicative) -> dict[str, torch.Tensor]:
        return {name: phi(value).sum(dim=0) for name, value in self.values.items()}


@dataclass(frozen=True)
class ModuleGradients:
    """The gradients of all layers of a module: ``SampleGradients`` of any network."""

    layers: Sequence[LayerGradients]
    count: int

    def __len__(self) -> int:
        return self.count

    @classmethod
    def join(cls, parts: Sequence[ModuleGradients]) -> ModuleGradients:
        layers = [type(same[0]).join(same) for same in zip(*(part.layers for part in parts), strict=True)]
        return cls(layers, sum(len(part) for part in parts))

    def pieces(self, sizes: list[int]) -> list[ModuleGradients]:
        cut = [layer.pieces(sizes) for layer in self.layers]
        return [ModuleGradients([layer[i] for layer in cut], size) for i, size in enumerate(sizes)]

    def gram(self, other: ModuleGradients) -> torch.Tensor:
        return torch.stack([a.gram(b) for a, b in zip(self.layers, other.layers, strict=True)]).sum(dim=0)

    def squared_norms(self) -> torch.Tensor:
        return torch.stack([layer.squared_norms() for layer in self.layers]).sum(dim=0)

    def summed(self, phi: Multiplicative) -> dict[str, torch.Tensor]:
        """The sum over samples of ``φ(gradient)``, by the name of the parameter."""
        return {name: value for layer in self.layers for name, value in layer.summed(phi).items()}


@dataclass(frozen=True)
class Watched:
    """What went through a layer: its input, and its output, which may be asked for a slope."""

    name: str
    layer: nn.Module
    inputs: torch.Tensor
    output: torch.Tensor


def module_gradients(module: nn.Module, x: torch.Tensor, targets: torch.Tensor, score: RowScore) -> ModuleGradients:
    """Of ``score(logits, targets)``, a sum over the samples. The module must not draw, nor mix samples."""
    with torch.enable_grad(), watching(module) as seen:
        total = score(module(x), targets)
    passes = [each for each in seen if each.output.requires_grad]
    slopes = torch.autograd.grad(total, [each.output for each in passes])
    layers: list[LayerGradients] = []
    for each, slope in zip(passes, slopes, strict=True):
        one_pass = sum(other.layer is each.layer for other in passes) == 1
        found = layer_gradients(each, slope, len(x)) if one_pass else None
        layers += [] if found is None else [found]
    known = {name for layer in layers for name in layer.names}
    trained = {name: value for name, value in module.named_parameters() if value.requires_grad}
    left = {name: value.detach() for name, value in trained.items() if name not in known}
    if left:
        layers.append(WholeGradients(function_gradients(module, left, x, targets, score)))
    return ModuleGradients(layers, len(x))


def layer_gradients(seen: Watched, slope: torch.Tensor, n_samples: int) -> LayerGradients | None:
    """A layer's gradients from its input and the slope of its output; None where only ``torch.func`` has them."""
    layer, inputs = seen.layer, seen.inputs
    if len(inputs) != n_samples or not all(value.requires_grad for value in layer.parameters()):
        return None
    weight = parameter_name(seen.name, "weight")
    bias = None if layer.bias is None else parameter_name(seen.name, "bias")
    if isinstance(layer, nn.Linear):
        if inputs.ndim == 2:
            return OuterProducts(weight, bias, inputs, slope)
        places, slopes = inputs.flatten(1, -2), slope.flatten(1, -2)
        return _shared(weight, bias, slopes.mT @ places, slopes.sum(dim=1))
    assert isinstance(layer, nn.Conv2d)
    if layer.groups > 1 or layer.padding_mode != "zeros" or isinstance(layer.padding, str):
        return None
    patches = F.unfold(inputs, layer.kernel_size, layer.dilation, layer.padding, layer.stride)
    slopes = slope.flatten(2)
    product = (slopes @ patches.mT).view(n_samples, *layer.weight.shape)
    return _shared(weight, bias, product, slopes.sum(dim=2))


def parameter_name(layer: str, parameter: str) -> str:
    """By which a module knows a parameter of a layer; the layer may be the module itself.

    >>> parameter_name("features.0", "weight"), parameter_name("", "weight")
    ('features.0.weight', 'weight')
    """
    return f"{layer}.{parameter}" if layer else parameter


def _shared(weight: str, bias: str | None, product: torch.Tensor, sums: torch.Tensor) -> WholeGradients:
    return WholeGradients({weight: product} if bias is None else {weight: product, bias: sums})


def function_gradients(
    module: nn.Module,
    parameters: Mapping[str, torch.Tensor],
    x: torch.Tensor,
    targets: torch.Tensor,
    score: RowScore,
) -> dict[str, torch.Tensor]:
    """The gradient of every sample with respect to these parameters, whatever the layers are: by ``torch.func``."""
    others = {name: value.detach() for name, value in module.named_parameters() if name not in parameters}
    buffers = dict(module.named_buffers())

    def one(weights: dict[str, torch.Tensor], row: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return score(functional_call(module, ({**others, **weights}, buffers), (row[None],)), target[None])

    found: dict[str, torch.Tensor] = vmap(grad(one), in_dims=(None, 0, 0))(dict(parameters), x, targets)
    return found


@contextmanager
def watching(module: nn.Module) -> Iterator[list[Watched]]:
    """Inside, what goes through the Linear and Conv2d layers of the module is noted, in order."""
    seen: list[Watched] = []

    def note(name: str) -> Callable[[nn.Module, tuple[torch.Tensor, ...], torch.Tensor], torch.Tensor]:
        def hook(layer: nn.Module, inputs: tuple[torch.Tensor, ...], output: torch.Tensor) -> torch.Tensor:
            seen.append(Watched(name, layer, inputs[0].detach(), output))
            return output.clone()  # what comes next may work in place

        return hook

    layers = [(name, each) for name, each in module.named_modules() if isinstance(each, nn.Linear | nn.Conv2d)]
    handles = [layer.register_forward_hook(note(name)) for name, layer in layers]
    try:
        yield seen
    finally:
        for handle in handles:
            handle.remove()
