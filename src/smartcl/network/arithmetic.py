"""The numbers in which a network multiplies: single precision, or shorter ones that some processors multiply faster.

Weights, moments and losses stay in single precision; rounded are the two factors of a product and what comes out of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import cache

import torch
from torch import nn

#: What torch calls the instructions of such a processor.
MADE_FOR_IT = ("avx512_bf16", "amx_bf16")
#: A first layer of fewer features costs little and is never rounded: a table's values may differ by less than that.
ROUNDED_FROM = 128


def rounding(arithmetic: str | None) -> torch.autocast:
    """Inside, products are of numbers rounded to bfloat16, or not: of single precision, as without a choice."""
    rounds = arithmetic == "bfloat16" or (arithmetic == "auto" and multiplies_short_numbers())
    return torch.autocast("cpu", torch.bfloat16, enabled=rounds)


def unrounded(layer: nn.Module, values: torch.Tensor) -> torch.Tensor:
    """What a layer makes of these values in single precision, whatever is said around it."""
    with torch.autocast("cpu", enabled=False) if torch.is_autocast_enabled("cpu") else nullcontext():
        result: torch.Tensor = layer(values.float())
    return result


def worth_rounding(n_features: int) -> bool:
    return n_features >= ROUNDED_FROM


def rounds(n_features: int) -> bool:
    """Whether products with this number of features are rounded now."""
    return worth_rounding(n_features) and torch.is_autocast_enabled("cpu")


@cache
def multiplies_short_numbers() -> bool:
    """Whether this processor has instructions for bfloat16; False where torch is too old to know."""
    known: dict[str, bool] = getattr(torch.cpu, "get_capabilities", dict)()
    return any(known.get(name, False) for name in MADE_FOR_IT)


@contextmanager
def flushed_denormals() -> Iterator[None]:
    """Inside, this thread takes denormal numbers for zero; afterwards it does as before.

    The moments of a weight whose gradient stays zero decay for ever, and without this they would end, and stay, among
    the denormals.

    >>> with flushed_denormals():
    ...     float(torch.tensor([1e-20]) * 1e-20)
    0.0
    """
    before = is_flushing()
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(before)


def is_flushing() -> bool:
    """Whether this thread takes denormal numbers for zero now."""
    return not bool(torch.tensor([1e-20]).mul_(1e-20))
