"""The first layer: one row of weights per input feature, and products that cost only what the rows hold.

A narrow sparse or dense input has all its weights in one matrix; those of a very wide sparse one are a ``RowTable``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import chain
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from smartcl.network.arithmetic import rounds
from smartcl.network.initial_weights import InitialWeights
from smartcl.network.inputs import NarrowInput, Prepared, SparseInput, concatenate, input_products
from smartcl.network.prox import row_norms
from smartcl.network.row_table.table import RowTable


class MatrixLayer(nn.Module):
    """The first layer with all its weights in one matrix ``[D, width]``: a feature is a row."""

    def __init__(self, n_features: int, width: int, initial: InitialWeights) -> None:
        super().__init__()
        self.weight = nn.Parameter(initial.weights(n_features, width, n_features))
        self.bias = nn.Parameter(initial.bias(n_features, width))

    @torch.no_grad()
    def redraw(self, initial: InitialWeights) -> None:
        """Begin anew."""
        n_features, width = self.weight.shape
        self.weight.copy_(initial.weights(n_features, width, n_features))
        self.bias.copy_(initial.bias(n_features, width))

    def forward(self, *parts: Prepared) -> torch.Tensor:
        plain = [part for part in parts if isinstance(part, torch.Tensor)]
        if len(plain) == len(parts) and not torch.is_autocast_enabled("cpu"):
            return torch.addmm(self.bias, plain[0] if len(plain) == 1 else torch.cat(plain), self.weight)
        dense = [part for part in parts if not isinstance(part, SparseInput)]
        if dense:
            if len(dense) < len(parts):
                raise ValueError("parts must be all dense or all sparse")
            return joint_product(self.weight, self.bias, dense)
        bag = concatenate([part for part in parts if isinstance(part, SparseInput)])
        return embedding_sum(self.weight, bag.indices, bag) + self.bias

    def group_norms(self) -> torch.Tensor:
        """The Euclidean norm of each feature's row of weights."""
        return row_norms(self.weight.detach())

    def alive(self) -> torch.Tensor:
        """Which features have a weight that is not zero."""
        return self.group_norms() > 0


class RowTableLayer(nn.Module):
    """The first layer of a very wide sparse input: a ``RowTable`` whose touched rows alone cost anything."""

    def __init__(self, n_features: int, width: int, initial: InitialWeights) -> None:
        super().__init__()
        self.table = RowTable(n_features, width, partial(initial.weights, n_features, width))
        self.bias = nn.Parameter(initial.bias(n_features, width))

    def draw_by(self, initial: InitialWeights) -> None:
        """Rows of features first seen begin like this from here on."""
        self.table.draw_by(partial(initial.weights, self.table.n_features, len(self.bias)))

    def forward(self, *parts: Prepared) -> torch.Tensor:
        bags = [part for part in parts if isinstance(part, SparseInput)]
        if len(bags) < len(parts):
            raise ValueError("a row table takes sparse rows: pass CSR, not a dense array")
        bag = concatenate(bags)
        look_up = self.table.activate if torch.is_grad_enabled() else self.table.peek
        rows, local = look_up(bag.indices)
        return embedding_sum(rows, local, bag) + self.bias

    def redraw(self, initial: InitialWeights) -> None:
        """Begin anew with the active rows; idle rows become active in a network that listens again."""
        self.table.redraw()
        with torch.no_grad():
            self.bias.copy_(initial.bias(self.table.n_features, len(self.bias)))

    def group_norms(self) -> torch.Tensor:
        """The norm of each feature's row; zero for a feature that was never seen."""
        return self.table.group_norms()

    def alive(self) -> torch.Tensor:
        """Which features have weights, or may get some: one never seen is not dead."""
        return self.table.alive()


class AveragedRowTableLayer(nn.Module):
    """The same row table read through its averages."""

    def __init__(self, layer: RowTableLayer) -> None:
        super().__init__()
        self.table = layer.table
        self.bias = nn.Parameter(layer.bias.detach().clone())

    def forward(self, part: Prepared) -> torch.Tensor:
        assert isinstance(part, SparseInput)
        rows, local = self.table.peek(part.indices, average=True)
        return embedding_sum(rows, local, part) + self.bias


def joint_product(
    weight: torch.Tensor, bias: torch.Tensor, parts: Sequence[torch.Tensor | NarrowInput]
) -> torch.Tensor:
    """``x @ weight + bias`` for the rows of all parts, one part after the other.

    >>> weight, bias = torch.tensor([[1.0], [10.0], [100.0]]), torch.tensor([0.5])
    >>> some = NarrowInput(torch.tensor([[2.0]]), features=torch.tensor([2]))
    >>> joint_product(weight, bias, [torch.ones(1, 3), some])
    tensor([[111.5000], [200.5000]])
    """
    flat: list[torch.Tensor | None] = []
    for part in parts:
        flat += [part.values, part.features] if isinstance(part, NarrowInput) else [part, None]
    result: torch.Tensor = _JointProduct.apply(weight, bias, *flat)  # type: ignore[no-untyped-call]
    return result


def embedding_sum(weight: torch.Tensor, indices: torch.Tensor, part: SparseInput) -> torch.Tensor:
    """``x @ weight`` for CSR rows ``x``, given the row of ``weight`` each non-zero refers to.

    >>> part = SparseInput(torch.tensor([0, 1, 1]), torch.tensor([0, 2]), torch.tensor([1.0, 2.0, 3.0]), n_features=2)
    >>> embedding_sum(torch.tensor([[1.0], [10.0]]), part.indices, part)
    tensor([[21.], [30.]])
    """
    result: torch.Tensor = _EmbeddingSum.apply(weight, indices, part)  # type: ignore[no-untyped-call]
    return result


class _JointProduct(torch.autograd.Function):
    """One autograd node instead of a chain of copies: features that a block does not hold cost nothing either way."""

    @staticmethod
    def forward(ctx: Any, weight: torch.Tensor, bias: torch.Tensor, *flat: torch.Tensor | None) -> torch.Tensor:
        blocks, features = flat[::2], flat[1::2]
        if rounds(len(weight)):
            blocks = tuple(block if block is None else block.bfloat16() for block in blocks)
            weight, bias = weight.bfloat16(), bias.bfloat16()
        ctx.save_for_backward(*chain.from_iterable(zip(blocks, features, strict=True)))
        ctx.sizes = [len(block) for block in blocks if block is not None]
        result = torch.empty(sum(ctx.sizes), weight.shape[1], dtype=weight.dtype)
        for block, some, out in zip(blocks, features, torch.split(result, ctx.sizes), strict=True):
            assert block is not None
            torch.addmm(bias, block, weight if some is None else weight.index_select(0, some), out=out)
        ctx.rows = len(weight)
        return result

    @staticmethod
    def backward(ctx: Any, slope: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        flat = ctx.saved_tensors
        total: torch.Tensor | None = None
        blocks = sorted(
            zip(flat[::2], flat[1::2], torch.split(slope, ctx.sizes), strict=True), key=lambda b: b[1] is not None
        )
        for block, some, piece in blocks:
            product = (block.T @ piece).float()
            if some is None:
                total = product if total is None else total.add_(product)
            else:
                total = torch.zeros(ctx.rows, slope.shape[1]) if total is None else total
                total.index_add_(0, some, product)
        return (total, slope.float().sum(dim=0), *(None for _ in flat))


class _EmbeddingSum(torch.autograd.Function):
    """``embedding_bag`` forward; its own backward pass is several times slower than ``xᵀ @ slope`` by another."""

    @staticmethod
    def forward(ctx: Any, weight: torch.Tensor, indices: torch.Tensor, part: SparseInput) -> torch.Tensor:
        whole = indices is part.indices and len(weight) == part.n_features
        ctx.local = part if whole else SparseInput(indices, part.offsets, part.values, len(weight))
        return F.embedding_bag(indices, weight, part.offsets, mode="sum", per_sample_weights=part.values)

    @staticmethod
    def backward(ctx: Any, slope: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        local: SparseInput = ctx.local
        return input_products(local, slope.contiguous(), local.n_features), None, None
