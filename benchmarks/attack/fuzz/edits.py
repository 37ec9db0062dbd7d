"""Changes of a saved state that bytes describe: which entry, and what comes in its place."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

#: Bytes of one change: the place of the entry, the kind of the change, and a number.
EDIT = struct.Struct("<HBq")
#: What may come in the place of an entry whatever it was.
STRANGE: tuple[Any, ...] = (
    *(None, True, False, -1, 0, 1, 2**31, 2**62, 2**70, 0.5, -1e308, 1e308, "", "x" * 500, "module:name", [], {}),
    *([1], [[]], {"a": 1}, np.zeros(0), np.full(3, np.inf), np.arange(5), np.zeros((2, 0)), torch.zeros(3)),
)


def changed(state: dict[str, Any], data: bytes) -> int:
    """Change a state as the bytes say; how many changes there were."""
    edits = [EDIT.unpack_from(data, at) for at in range(0, len(data) - EDIT.size + 1, EDIT.size)][:4]
    for place, kind, number in edits:
        entries = list(_entries(state))
        if not entries:
            break
        _change(*entries[place % len(entries)], kind, number)
    return len(edits)


def _change(container: Any, key: Any, kind: int, number: int) -> None:
    value = container[key]
    if kind < len(STRANGE):
        container[key] = STRANGE[kind]
    elif kind < 40:
        container[key] = number
    elif kind < 50:
        container[key] = float(np.array(number, "<i8").view("<f8"))
    elif kind < 60:
        del container[key]
    elif isinstance(value, list) and value:
        container[key] = value[: number % len(value)] if kind % 2 else [*value, value[number % len(value)]]
    elif isinstance(value, np.ndarray | torch.Tensor) and value.shape:
        container[key] = _array_changed(np.array(value), kind, number, isinstance(value, torch.Tensor))
    elif isinstance(value, int | float):
        container[key] = value + (number % 7) - 3
    elif isinstance(value, str):
        container[key] = value[: number % (len(value) + 1)]


def _array_changed(values: np.ndarray[Any, Any], kind: int, number: int, is_tensor: bool) -> Any:
    """One value other, one row fewer, one row twice, or another type."""
    if kind % 4 == 0 and values.size:
        flat = values.reshape(-1).view(np.uint8)
        flat[number % flat.size] ^= 1 << (number // 7 % 8)
    elif kind % 4 == 1:
        values = values[: number % (len(values) + 1)]
    elif kind % 4 == 2 and len(values):
        values = np.concatenate([values, values[number % len(values) :][:1]])
    else:
        values = values.astype(np.float64 if number % 2 else np.int32)
    return torch.from_numpy(values.copy()) if is_tensor else values


def _entries(tree: Any) -> Iterator[tuple[Any, Any]]:
    """All entries of dicts and lists, parts before what is in them."""
    items = list(tree.items()) if isinstance(tree, dict) else list(enumerate(tree)) if isinstance(tree, list) else []
    for key, value in items:
        yield tree, key
        yield from _entries(value)
