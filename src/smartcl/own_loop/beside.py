"""Values beside each item of a replay memory: its class or target, and the user's columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

#: For each column its dtype and the shape of one entry, by name.
Forms: TypeAlias = dict[str, tuple[str, tuple[int, ...]]]

#: Where targets that are no class numbers are kept: no column of the user's has a name that is not one of Python's.
TARGET = "<y>"
#: What selectors keep, or read, under these names.
RESERVED = ("score", "role")


def is_class(y: NDArray[Any]) -> bool:
    """Whether these can be class numbers: whole, one for each item, from 0 on.

    >>> is_class(np.array([3, 0])), is_class(np.array([3, -1])), is_class(np.array([0.5]))
    (True, False, False)
    """
    return y.ndim == 1 and y.dtype.kind in "biu" and bool((y >= 0).all())


def split(y: Any, columns: Mapping[str, Any], forms: Forms | None) -> tuple[NDArray[Any], dict[str, NDArray[Any]]]:
    """Labels and columns as a memory keeps them; ``forms`` are those of the samples before, where there are some.

    Targets that are no class numbers become a column, beside labels that are all 0.
    """
    targets = as_array("y", y)
    labelled = is_class(targets) if forms is None else TARGET not in forms
    if labelled and not is_class(targets):
        raise ValueError("y must be class numbers from 0 on, as before: one whole number for each item")
    named = {} if labelled else {TARGET: targets}
    for name, column in columns.items():
        if name in RESERVED:
            raise ValueError(f"a column cannot be called {name}: selectors use this name")
        named[name] = as_array(name, column)
    for name, column in named.items():
        if len(column) != len(targets):
            raise ValueError(f"{name} must have one entry for each of {len(targets)} items, got {len(column)}")
        if column.dtype.kind == "f" and not (column < np.inf).all():  # a logit of -inf is an unknown one
            raise ValueError(f"{name} must be numbers: it contains NaN or infinity")
    if forms is not None and forms_of(named) != forms:
        raise ValueError(f"beside x there must be {told(forms)}, as before; got {told(forms_of(named))}")
    return (targets if labelled else np.zeros(len(targets), dtype=np.uint8)), named


def forms_of(columns: Mapping[str, NDArray[Any]]) -> Forms:
    """
    >>> forms_of({"logits": np.zeros((5, 10), dtype=np.float32)})
    {'logits': ('float32', (10,))}
    """
    return {name: (str(column.dtype), column.shape[1:]) for name, column in sorted(columns.items())}


def told(forms: Forms) -> str:
    """
    >>> told({"<y>": ("float64", ()), "logits": ("float32", (10,))})
    '<y> (float64) and logits (float32 of shape (10,))'
    """
    parts = [f"{name} ({dtype}{f' of shape {shape}' if shape else ''})" for name, (dtype, shape) in forms.items()]
    return " and ".join(parts) or "class numbers only"


def as_array(name: str, column: Any) -> NDArray[Any]:
    """The numbers of a column; bfloat16, which NumPy does not have, becomes float32."""
    if isinstance(column, torch.Tensor):
        dense = column.detach().cpu()
        column = (dense.float() if dense.dtype == torch.bfloat16 else dense).numpy()
    array = np.asarray(column)
    if array.ndim < 1 or array.dtype.kind not in "biuf":
        raise ValueError(f"{name} must be numbers, one entry for each item; got {array.dtype} of shape {array.shape}")
    return array
