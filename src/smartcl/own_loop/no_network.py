"""Stand-in for the network of a selector that works without one."""

from __future__ import annotations

from contextlib import suppress
from copy import deepcopy
from typing import NoReturn

import numpy as np

from smartcl.memory.pool import Pool, Selector


class NetworkNeededError(ValueError):
    """A selector asked a network about samples in a memory that has none."""


class NoNetwork:
    """Stands for the network's view of samples: whoever looks is told that there is none.

    >>> from smartcl.selection.gss_greedy import GSSGreedy
    >>> check_needs_no_network(GSSGreedy())
    Traceback (most recent call last):
    smartcl.own_loop.no_network.NetworkNeededError: GSSGreedy asks a network about samples, a memory alone has none: ...
    """

    def __init__(self, selector: Selector) -> None:
        self._selector = type(selector).__name__

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise NetworkNeededError(
            f"{self._selector} asks a network about samples, a memory alone has none: "
            "use Reservoir, FairReservoir, Balanced or TaskShares"
        )


def check_needs_no_network(selector: Selector) -> None:
    """Refuse a selector that asks a network, by letting a copy of it choose two of four samples.

    What else it may need, such as columns, the samples that are added will show.
    """
    labels, nothing = np.array([0, 1, 0, 1]), np.zeros(4, dtype=np.float32)
    pool = Pool(np.ones(4, dtype=np.int64), labels, nothing, n_memory=2, geometry=NoNetwork(selector))
    with suppress(KeyError):
        deepcopy(selector).select(pool, room=2, rng=np.random.default_rng(0))
