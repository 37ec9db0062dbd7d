"""What fits a room, for every policy alike."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from smartcl.memory.pool import longest_fit


@given(st.lists(st.integers(1, 50), min_size=1, max_size=30), st.integers(0, 400), st.integers(0, 2**32 - 1))
def test_the_longest_fit(sizes: list[int], room: int, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(sizes))
    expected, left = [], room
    for position in order:
        if sizes[position] <= left:
            expected.append(position)
            left -= sizes[position]
        elif left <= room / 8:
            break
    np.testing.assert_array_equal(longest_fit(order, np.array(sizes), room), sorted(expected))


@given(st.lists(st.integers(1, 100), min_size=1, max_size=30), st.integers(800, 1500))
def test_samples_small_beside_the_room_are_a_run(sizes: list[int], room: int) -> None:
    costs = np.cumsum(sizes)
    np.testing.assert_array_equal(
        longest_fit(np.arange(len(sizes)), np.array(sizes), room), np.flatnonzero(costs <= room)
    )


def test_a_sample_of_most_of_the_room_sends_nobody_away_for_nothing() -> None:
    sizes = np.array([10] * 50 + [400])
    for place in range(51):
        order = np.insert(np.arange(50), place, 50)
        kept = longest_fit(order, sizes, room=500)
        assert sizes[kept].sum() > 430
        assert (50 in kept) == (place <= 10)
