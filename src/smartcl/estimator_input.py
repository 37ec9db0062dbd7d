"""What is passed to an estimator, as what it needs: rows, plain arguments, or one line that says what is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from scipy import sparse

from smartcl.data.batch import Rows
from smartcl.learners.checks import TOO_LARGE
from smartcl.learners.methods import find_method
from smartcl.settings import setting, shown

#: An error is cut to so many characters: scikit-learn shows the arrays it was given.
LONGEST_MESSAGE = 380

#: Parameters of a method that have an argument of their own; the others go into ``parameters``.
OWN_ARGUMENTS = (
    *("hidden", "lr", "iterations", "replay", "average", "smoothing"),
    *("dropout", "robust", "distill", "trust", "alpha", "beta"),
)


@contextmanager
def one_line() -> Iterator[None]:
    """Inside, input that cannot be is a ``ValueError`` of one line that can be read."""
    try:
        yield
    except (ValueError, OverflowError) as error:
        message = " ".join(str(error).split())
        half = LONGEST_MESSAGE // 2
        short = message if len(message) <= LONGEST_MESSAGE else f"{message[:half]} ... {message[-half:]}"
        raise ValueError(short) from None


def as_array(values: Any) -> Any:
    """Tensors as arrays, whatever else as it is."""
    return values.detach().cpu().numpy() if isinstance(values, torch.Tensor) else values


def check_arguments(given: Mapping[str, Any]) -> None:
    """Arguments that can be saved and found again."""
    find_method(given["method"])
    for name in OWN_ARGUMENTS:
        if given[name] is not None:
            setting(name, given[name])
    if type(given["memory"]) not in (str, int):
        raise ValueError(f"memory must be a text or a number of bytes, got {shown(given['memory'])}")
    if not isinstance(given["parameters"], Mapping | None):
        raise ValueError(f"parameters must be a dict or None, got {shown(given['parameters'])}")
    if type(given["batch_size"]) is not int or given["batch_size"] < 1:
        raise ValueError(f"batch_size must be a whole number >= 1, got {shown(given['batch_size'])}")
    if given["random_state"] is not None and type(given["random_state"]) is not int:
        raise ValueError(f"random_state must be a whole number or None, got {shown(given['random_state'])}")


def rows_of(X: Any) -> Rows:
    """Validated input as rows: bytes stay bytes, all other numbers become float32."""
    wanted = np.uint8 if X.dtype == np.uint8 else np.float32
    rows: Rows
    with np.errstate(over="ignore"):
        if isinstance(X, (sparse.csr_array, sparse.csr_matrix)):
            X.check_format(full_check=True)
            rows = sparse.csr_array(X).astype(wanted)
            finite = bool(np.isfinite(rows.data).all())
        else:
            rows = torch.from_numpy(np.ascontiguousarray(X, dtype=wanted))
            finite = bool(torch.isfinite(rows).all())
    if not finite:
        raise ValueError(TOO_LARGE)
    return rows
