"""Bytes of a network before it is made, so that one too large is refused, and bytes of a whole learner by part."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import pairwise

from smartcl.data.spec import InputSpec
from smartcl.memory.budget import format_bytes
from smartcl.network.mlp import ROW_TABLE_WEIGHTS

#: What is held of every weight: the weight, Adam's two moments, the average, and a copy to go back to.
COPIES = 5
WEIGHT_NBYTES = 4
#: A row table has rows for the features seen; this is the assumed number of them.
TABLE_ROWS = 10_000


def check_size(hidden: Sequence[int], spec: InputSpec) -> None:
    """Refuse hidden layers that need more memory than the machine has."""
    needed, there = network_nbytes(hidden, spec), machine_nbytes()
    if there is not None and needed > there:
        raise ValueError(
            f"hidden must fit the machine's {there / 1e9:,.0f} GB: {spec.n_features} features and layers of "
            f"{', '.join(map(str, hidden))} need about {needed / 1e9:,.0f} GB"
        )


def network_nbytes(hidden: Sequence[int], spec: InputSpec) -> int:
    """Of all copies of all weights.

    >>> network_nbytes((400, 400), InputSpec(n_features=784, n_classes=2))
    9504040
    """
    rows = spec.n_features
    if spec.sparse and rows * hidden[0] > ROW_TABLE_WEIGHTS:
        rows = min(rows, TABLE_ROWS)
    layers = pairwise([rows, *hidden, spec.n_classes])
    return COPIES * WEIGHT_NBYTES * sum(inputs * outputs + outputs for inputs, outputs in layers)


def machine_nbytes() -> int | None:
    """The machine's memory, where the system tells."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


class StateSize(dict[str, int]):
    """Bytes by the name of a part: the memory, and what stands beside it.

    >>> size = StateSize({"memory": 1000, "ridge": 3000, "neighbours": 0})
    >>> size, size.total
    (4 kB: memory 1 kB, ridge 3 kB, 4000)
    """

    @property
    def total(self) -> int:
        """The bytes of all parts together."""
        return sum(self.values())

    def __repr__(self) -> str:
        parts = ", ".join(f"{name} {format_bytes(size)}" for name, size in self.items() if size)
        return f"{format_bytes(self.total)}: {parts}"
