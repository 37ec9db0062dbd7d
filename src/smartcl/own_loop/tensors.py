"""A state of arrays as one of tensors, which torch saves and loads without pickle's risks, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch


def tensors_of(state: Any) -> Any:
    """The same state with a tensor for each array.

    >>> tensors_of({"labels": np.zeros(2, dtype=np.uint8), "offered": 2})
    {'labels': tensor([0, 0], dtype=torch.uint8), 'offered': 2}
    """
    if isinstance(state, dict):
        return {name: tensors_of(part) for name, part in state.items()}
    return torch.from_numpy(np.array(state)) if isinstance(state, np.ndarray) else state


def arrays_of(state: Any) -> Any:
    """The same state with an array for each tensor."""
    if isinstance(state, dict):
        return {name: arrays_of(part) for name, part in state.items()}
    return state.cpu().numpy() if isinstance(state, torch.Tensor) else state
