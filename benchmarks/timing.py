"""Timing things against each other on a noisy machine, and saying what came out."""

from __future__ import annotations

import json
import operator
import re
import time
from collections.abc import Callable, Sequence

COMPARISONS = {"<=": operator.le, "<": operator.lt, ">=": operator.ge, ">": operator.gt, "": operator.eq}


def best_seconds(actions: Sequence[Callable[[], object]], calls: int, rounds: int = 15) -> list[float]:
    """CPU seconds per call of each action: the best of several rounds, in turns so that all meet the same noise."""
    for action in actions:
        action()
    best = [float("inf")] * len(actions)
    for _ in range(rounds):
        for i, action in enumerate(actions):
            start = time.process_time()
            for _ in range(calls):
                action()
            best[i] = min(best[i], (time.process_time() - start) / calls)
    return best


def falls_short(measured: float, wanted: str) -> bool:
    """Whether a figure is not what was wanted, such as ``<= 1.2``, ``>= 50,000`` or ``0``; anything else is no target.

    >>> falls_short(1.3, "<= 1.2"), falls_short(60_000, ">= 50,000"), falls_short(3, "-"), falls_short(1, "0")
    (True, False, False, True)
    """
    target = re.match(r"(<=|>=|<|>|)\s*([\d.,]+(?:e-?\d+)?)", wanted)
    return target is not None and not COMPARISONS[target[1]](measured, float(target[2].replace(",", "")))


def report(*lines: tuple[str, float, str]) -> None:
    """Print figures as JSON: what, how much, and what was wanted."""
    keys = ("figure", "measured", "wanted")
    print(json.dumps([dict(zip(keys, line, strict=True)) for line in lines]))
