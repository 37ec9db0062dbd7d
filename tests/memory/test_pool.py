"""In which order samples stand, and what fits a room, for every policy alike."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from smartcl.memory.pool import longest_fit, sorted_by


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


@given(st.data(), st.integers(0, 40))
def test_the_order_is_that_of_lexsort(data: st.DataObject, length: int) -> None:
    some = st.sampled_from([-np.inf, -2.5, -1e-30, 0.0, 1e-40, 1e-30, 0.5, 0.50000006, 1.0, 70000.0, np.inf])
    keys = data.draw(arrays(np.float32, length, elements=some))
    doubted = data.draw(arrays(np.bool_, length))
    labels = data.draw(arrays(np.int64, length, elements=st.sampled_from([-1, 0, 1, 2, 255, 300, 65536, 70000])))
    for groups in ((), (doubted,), (labels,), (doubted, labels), (~doubted, doubted)):
        assert sorted_by(keys, *groups).tolist() == np.lexsort((keys, *groups)).tolist()


def test_a_hundred_thousand_keys_with_many_alike() -> None:
    rng = np.random.default_rng(0)
    keys = (rng.standard_exponential(100_000, dtype=np.float32) * 1000).round() / np.float32(1000)
    labels = rng.integers(0, 12, len(keys))
    assert np.array_equal(sorted_by(keys, labels), np.lexsort((keys, labels)))
