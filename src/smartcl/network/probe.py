"""Examination of a user's module: what it answers, which layer reads its input, which layer is its last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import nn
from torch.func import functional_call
from torch.nn.modules.batchnorm import _BatchNorm, _NormBase

from smartcl.network.hook_gradients import Watched, parameter_name, watching
from smartcl.network.own_randomness import seeded

#: Rows of numbers drawn at random that a module is shown.
ROWS = 3


@dataclass(frozen=True)
class Anatomy:
    """What was found out about a module, by the names of its layers.

    ``first`` is the layer that alone reads the input, None if there is no such layer. A Linear layer's columns are the
    features; a convolution's weights are shared by all pixels, so that its features are its input channels, and a
    single channel is none. ``head`` is the Linear layer whose output is the module's, None if there is none.
    """

    n_outputs: int
    first: str | None
    head: str | None

    def with_outputs(self, n_outputs: int) -> Anatomy:
        return replace(self, n_outputs=n_outputs)


def examine(module: nn.Module, shape: tuple[int, ...], n_classes: int) -> Anatomy:
    """Show a module a few rows of this shape; one that cannot be taught here is refused in one line."""
    check_layers(module)
    with seeded(0):
        x = torch.randn(ROWS, *shape)
        try:
            check_buffers(module, x)
            with watching(module.eval()) as seen, torch.no_grad():
                output = module(x)
        except (RuntimeError, TypeError, IndexError) as error:
            why = " ".join(str(error).split())[:200]
            raise ValueError(f"network must take rows of the shape (n, {', '.join(map(str, shape))}): {why}") from None
        if not isinstance(output, torch.Tensor) or output.shape != (ROWS, n_classes):
            got = tuple(output.shape) if isinstance(output, torch.Tensor) else type(output).__name__
            raise ValueError(f"network must give {n_classes} logits a row: for {ROWS} rows it gave {got}")
        check_weights(module)
        head = next((each for each in seen if is_head(each, seen) and torch.equal(each.output, output)), None)
        return Anatomy(n_classes, first_reader(module, x, seen), None if head is None else head.name)


def check_layers(module: nn.Module) -> None:
    """Refuse normalisation that depends on the other rows of a batch, now or in the past."""
    for name, layer in module.named_modules():
        if isinstance(layer, _BatchNorm) or (isinstance(layer, _NormBase) and layer.track_running_stats):
            raise ValueError(
                f"network must not have {type(layer).__name__} layers ({name or 'it is one'}): what they remember of "
                "past batches is no average and is forgotten; use GroupNorm or LayerNorm, or a frozen encoder in front"
            )


def check_buffers(module: nn.Module, x: torch.Tensor) -> None:
    """Refuse a module whose buffers change as it learns: neither averages nor replay would know of it."""
    with torch.no_grad():
        module.train()(x)  # what is lazy takes its shape
        before = {name: value.clone() for name, value in module.named_buffers()}
        module(x)
    changed = next((name for name, value in module.named_buffers() if not same(value, before[name])), None)
    if changed is not None:
        raise ValueError(f"network must not change its buffers as it learns: {changed} is a memory of its own")


def same(value: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two tensors hold the same, also where they hold no numbers."""
    return value.shape == other.shape and bool(((value == other) | ((value != value) & (other != other))).all())


def check_weights(module: nn.Module) -> None:
    """Refuse weights that are not single precision, or of which none learns."""
    odd = next((name for name, value in module.named_parameters() if value.dtype != torch.float32), None)
    if odd is not None:
        raise ValueError(f"network must have float32 weights: {odd} has others")
    if not any(value.requires_grad for value in module.parameters()):
        raise ValueError("network must have weights that learn: all are frozen; a frozen network is an encoder")


def is_head(each: Watched, seen: Sequence[Watched]) -> bool:
    """Whether this is a Linear layer with a place of its own: it may be replaced by one with more outputs."""
    return isinstance(each.layer, nn.Linear) and sum(other.layer is each.layer for other in seen) == 1


def first_reader(module: nn.Module, x: torch.Tensor, seen: Sequence[Watched]) -> str | None:
    """The layer that reads the input, if it is one whose features can be forgotten and nothing else reads it."""
    rows = x.flatten(1)
    found = [each for each in seen if each.inputs.shape[0] == len(x) and torch.equal(each.inputs.flatten(1), rows)]
    if len(found) != 1 or not found[0].layer.weight.requires_grad:
        return None
    layer = found[0].layer
    by_channel = isinstance(layer, nn.Conv2d) and layer.groups == 1 and layer.in_channels > 1
    if not by_channel and not (isinstance(layer, nn.Linear) and found[0].inputs.ndim == 2):
        return None
    return None if is_read_elsewhere(module, x, found[0]) else found[0].name


def is_read_elsewhere(module: nn.Module, x: torch.Tensor, reader: Watched) -> bool:
    """Whether the output depends on the input although this layer's weights are zero."""
    name = parameter_name(reader.name, "weight")
    rows = x.clone().requires_grad_()
    with torch.enable_grad():
        output = functional_call(module, {name: torch.zeros_like(module.get_parameter(name))}, (rows,))
        if not output.requires_grad:
            return False
        (slope,) = torch.autograd.grad((output * torch.randn_like(output)).sum(), rows, allow_unused=True)
    return slope is not None and bool(slope.any())
