"""Timing things against each other on a noisy machine, and saying what came out."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence


def best_seconds(actions: Sequence[Callable[[], object]], calls: int, rounds: int = 15) -> list[float]:
    """Seconds per call of each action: the best of several rounds, taken in turns so that all meet the same noise."""
    for action in actions:
        action()
    best = [float("inf")] * len(actions)
    for _ in range(rounds):
        for i, action in enumerate(actions):
            start = time.perf_counter()
            for _ in range(calls):
                action()
            best[i] = min(best[i], (time.perf_counter() - start) / calls)
    return best


def report(*lines: tuple[str, float, str]) -> None:
    """Print figures as JSON: what, how much, and what was wanted."""
    keys = ("figure", "measured", "wanted")
    print(json.dumps([dict(zip(keys, line, strict=True)) for line in lines]))
