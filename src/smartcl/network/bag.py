"""The first layer's product for CSR rows, with a backward pass that costs its non-zeros."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F

from smartcl.network.inputs import SparseInput, input_products


def embedding_sum(weight: torch.Tensor, indices: torch.Tensor, part: SparseInput) -> torch.Tensor:
    """``x @ weight`` for CSR rows ``x``, given the row of ``weight`` each non-zero refers to.

    >>> part = SparseInput(torch.tensor([0, 1, 1]), torch.tensor([0, 2]), torch.tensor([1.0, 2.0, 3.0]), n_features=2)
    >>> embedding_sum(torch.tensor([[1.0], [10.0]]), part.indices, part)
    tensor([[21.], [30.]])
    """
    result: torch.Tensor = _EmbeddingSum.apply(weight, indices, part)  # type: ignore[no-untyped-call]
    return result


class _EmbeddingSum(torch.autograd.Function):
    """``embedding_bag`` forward; its own backward pass is several times slower than ``xᵀ @ slope`` by another."""

    @staticmethod
    def forward(ctx: Any, weight: torch.Tensor, indices: torch.Tensor, part: SparseInput) -> torch.Tensor:
        ctx.local = SparseInput(indices, part.offsets, part.values, len(weight))
        return F.embedding_bag(indices, weight, part.offsets, mode="sum", per_sample_weights=part.values)

    @staticmethod
    def backward(ctx: Any, slope: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        local: SparseInput = ctx.local
        return input_products(local, slope.contiguous(), local.n_features), None, None
