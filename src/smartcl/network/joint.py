"""The first layer's product for several blocks of rows at once, each over all features or over some.

One autograd node instead of a chain of copies: features that a block does not hold cost nothing, forward or backward.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from smartcl.network.inputs import Columns


def joint_product(weight: torch.Tensor, bias: torch.Tensor, parts: Sequence[torch.Tensor | Columns]) -> torch.Tensor:
    """``x @ weight + bias`` for the rows of all parts, one part after the other.

    >>> weight, bias = torch.tensor([[1.0], [10.0], [100.0]]), torch.tensor([0.5])
    >>> some = Columns(torch.tensor([[2.0]]), features=torch.tensor([2]))
    >>> joint_product(weight, bias, [torch.ones(1, 3), some])
    tensor([[111.5000], [200.5000]])
    """
    flat: list[torch.Tensor | None] = []
    for part in parts:
        flat += [part.values, part.features] if isinstance(part, Columns) else [part, None]
    result: torch.Tensor = _JointProduct.apply(weight, bias, *flat)  # type: ignore[no-untyped-call]
    return result


class _JointProduct(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weight: torch.Tensor, bias: torch.Tensor, *flat: torch.Tensor | None) -> torch.Tensor:
        ctx.save_for_backward(*flat)
        blocks, features = flat[::2], flat[1::2]
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
            product = block.T @ piece
            if some is None:
                total = product if total is None else total.add_(product)
            else:
                total = slope.new_zeros(ctx.rows, slope.shape[1]) if total is None else total
                total.index_add_(0, some, product)
        return (total, slope.sum(dim=0), *(None for _ in flat))
