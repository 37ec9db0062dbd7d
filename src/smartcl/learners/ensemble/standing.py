"""Standing of the members of an ensemble: the weight of each, how often it is right, and what it costs."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from smartcl.memory.budget import format_bytes


@dataclass(frozen=True)
class Standing:
    """One member.

    ``weight`` is its share of all weights. ``accuracy`` is that of its answers to the newest rows, each given before
    the row was learned. ``time_share`` is its part of the time that all members took in this process.
    """

    name: str
    weight: float
    accuracy: float | None
    nbytes: int
    time_share: float | None

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def __str__(self) -> str:
        right = "no answer yet" if self.accuracy is None else f"{self.accuracy:.1%} right"
        spent = "" if self.time_share is None else f", {self.time_share:.0%} of the time"
        return f"{self.name}: weight {self.weight:.2f}, {right}, {format_bytes(self.nbytes)}{spent}"


class Standings(tuple[Standing, ...]):
    """All members, a line each.

    >>> Standings([Standing("ridge", 0.75, 0.9, 2048, None)])
    ridge: weight 0.75, 90.0% right, 2.05 kB
    """

    __slots__ = ()

    def __new__(cls, standings: Iterable[Standing]) -> Standings:
        return super().__new__(cls, standings)

    def __repr__(self) -> str:
        return "\n".join(map(str, self))


class Stopwatch:
    """The time that members have taken in this process. It is no part of a learner's state."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        """Inside, time is this member's."""
        start = time.perf_counter()
        yield
        self.seconds[name] += time.perf_counter() - start

    def shares(self) -> dict[str, float]:
        """Each member's part of the time of all."""
        seconds = dict(self.seconds)
        total = sum(seconds.values())
        return {name: own / total for name, own in seconds.items()} if total else {}
