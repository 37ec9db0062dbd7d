"""The parts every policy shares."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from smartcl.selection.selector import longest_fit


@given(st.lists(st.integers(1, 50), min_size=1, max_size=30), st.integers(0, 400), st.integers(0, 2**32 - 1))
def test_the_longest_fit(sizes: list[int], room: int, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(sizes))
    expected, used = [], 0
    for position in order:
        used += sizes[position]
        if used > room:
            break
        expected.append(position)
    np.testing.assert_array_equal(longest_fit(order, np.array(sizes), room), sorted(expected))
