"""Digits in the orders that are hardest to learn, from fewer rows than ``python -m benchmarks attack`` takes."""

from __future__ import annotations

import pytest

from benchmarks.attack.digits import accuracy


@pytest.mark.parametrize("stream", ["sorted by class", "sorted by class, all announced", "one row first"])
def test_digits_are_learned_in_any_order(stream: str) -> None:
    assert accuracy(stream, rows=750) >= 0.85
