"""Bounds of the rise of the loss on memory where Eq. 2 holds: the paper's Theorem 2, as printed and corrected.

With the new batch's gradient ``a`` and the memory's gradient ``b`` on the ``n`` kept parameters, Eq. 2 asks for
``⟨a, b⟩ ≥ 0``, and the theorem bounds ``Σ_j b_j`` (times the step ``λ``, left out here). The printed bound
``min_k max_{j≠k} |1 − a_j/a_k| · ‖b‖₂`` is false from three parameters on: one step of its proof divides by ``‖b‖₁``
where ``‖b‖₂`` stood, which makes the term smaller, not larger.
"""

from __future__ import annotations

from math import inf, sqrt

import torch


def rise(b: torch.Tensor) -> float:
    """``Σ_j b_j``: what the bounds bound."""
    return float(b.sum())


def l2_bound(a: torch.Tensor, b: torch.Tensor) -> float:
    """The largest ``Σ_j b_j`` of any vector as long as ``b`` with ``⟨a, b⟩ ≥ 0``: no smaller bound knows only that.

    >>> l2_bound(torch.tensor([-1.0, 0.0]), torch.tensor([0.0, 2.0]))
    2.0
    """
    total, square = float(a.sum()), float(a.square().sum())
    share = total * total / square if total < 0 else 0.0
    return sqrt(max(len(a) - share, 0.0)) * float(b.norm())


def hoelder_bound(a: torch.Tensor, b: torch.Tensor) -> float:
    """``min_k max_{j≠k} |1 − a_j/a_k| · ‖b_{−k}‖₁`` over ``a_k < 0``; infinite where no ``a_k`` is negative."""
    ratios, negative = _ratios(a)
    if not len(ratios):
        return inf
    return float((ratios * (b.abs().sum() - b[negative].abs())).min())


def printed_bound(a: torch.Tensor, b: torch.Tensor) -> float:
    """The bound as the paper prints it, kept to show where it fails."""
    ratios, _ = _ratios(a)
    return float(ratios.min() * b.norm()) if len(ratios) else inf


def _ratios(a: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """``max_{j≠k} |1 − a_j/a_k|`` for every negative ``a_k``, and which those are."""
    negative = a < 0
    chosen = a[negative]
    furthest = torch.maximum(chosen - a.min(), a.max() - chosen) if len(chosen) else chosen
    return furthest / -chosen, negative
