"""Importance over a network that grows: classes and features first seen later count from zero."""

from __future__ import annotations

from collections.abc import Mapping

import torch


def grown(value: torch.Tensor, shape: torch.Size) -> torch.Tensor:
    """``value`` in the first corner of a tensor of this shape, with zeros around it.

    >>> grown(torch.ones(1, 2), torch.Size((2, 3)))
    tensor([[1., 1., 0.],
            [0., 0., 0.]])
    """
    if value.shape == shape:
        return value
    result = value.new_zeros(shape)
    result[tuple(slice(0, size) for size in value.shape)] = value
    return result


def accumulated(total: Mapping[str, torch.Tensor], more: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """``total + more`` by name, in new tensors of the shapes of ``more``."""
    return {name: grown(total[name], value.shape) + value if name in total else value for name, value in more.items()}
