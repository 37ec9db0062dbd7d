"""Reservoir sampling: equal chances, a memory that does not depend on how the stream was cut; and no memory at all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from smartcl.memory.pool import Offer, Pool
from smartcl.selection.reservoir import Nothing, Reservoir

NO_GEOMETRY: Any = None


def fill(sizes: np.ndarray, room: int, rng: np.random.Generator, cuts: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """The positions in the stream that are in memory at its end, and their scores."""
    held, scores = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32)
    for new in np.split(np.arange(len(sizes)), cuts):
        candidates = np.append(held, new)
        unscored = np.append(scores, np.zeros(len(new), dtype=np.float32))
        pool = Pool(sizes[candidates], np.zeros(len(candidates), dtype=np.int64), unscored, len(held), NO_GEOMETRY)
        chosen = Reservoir().select(pool, room, rng)
        held, scores = candidates[chosen.keep], chosen.scores
        assert sizes[held].sum() <= room
    return held, scores


def assert_uniform(kept: np.ndarray) -> None:
    """``kept[run, position]``: every position of the stream is in memory equally often."""
    runs, length = kept.shape
    share = kept.mean()
    deviations = (kept.sum(axis=0) - runs * share) ** 2 / (runs * share * (1 - share))
    assert chi2.sf(deviations.sum() * (length - 1) / length, length - 1) > 0.01


def test_every_sample_is_equally_likely() -> None:
    rng = np.random.default_rng(0)
    kept = np.zeros((3000, 30))
    for run in kept:
        run[fill(np.full(30, 10), 85, rng, cuts=[4, 11, 12, 25])[0]] = 1
    assert np.all(kept.sum(axis=1) == 8)
    assert_uniform(kept)


def test_one_that_stands_for_five_is_five_times_as_likely() -> None:
    """Of 4,000 samples one in five of the second half is offered: both halves have half of the 40 places."""
    rng, second = np.random.default_rng(2), []
    for _ in range(500):
        held = scores = np.zeros(0, dtype=np.float32)
        for count, stands_for in ((2000, 1.0), (400, 5.0)):
            scores = np.concatenate([scores, np.zeros(count, dtype=np.float32)])
            origin = np.concatenate([held, np.full(count, stands_for)])
            pool = Pool(
                np.ones(len(origin), int), np.zeros(len(origin), int), scores, len(held), None, {}, Offer(stands_for)
            )
            chosen = Reservoir().select(pool, 40, rng)
            held, scores = origin[chosen.keep], chosen.scores
        second.append((held == 5.0).sum())
    assert abs(np.mean(second) - 20) < 4 * np.std(second) / np.sqrt(len(second)) + 0.5


def test_samples_of_one_size_are_as_likely_wherever_they_stand() -> None:
    """Sizes 1 to 9, three of each, in a random order each time."""
    rng = np.random.default_rng(1)
    kept = np.zeros((3000, 27))
    for run in kept:
        run[fill(rng.permutation(np.tile(np.arange(1, 10), 3)), 60, rng, cuts=[9, 18])[0]] = 1
    assert_uniform(kept)


streams = st.lists(st.integers(1, 20), min_size=1, max_size=40).map(np.array)


@given(streams, st.integers(0, 200), st.lists(st.integers(0, 40), max_size=10), st.integers(0, 2**32 - 1))
def test_what_stays_is_the_start_of_one_random_order(sizes: np.ndarray, room: int, cuts: list[int], seed: int) -> None:
    """However the stream is cut, memory holds what fits of all samples ordered by key.

    Besides it there may be later samples in the gap that the first one to fit no more has left.
    """
    held, _ = fill(sizes, room, np.random.default_rng(seed), sorted(min(cut, len(sizes)) for cut in cuts))
    keys = np.random.default_rng(seed).standard_exponential(len(sizes), dtype=np.float32)
    order = np.argsort(keys, kind="stable")
    fitting = int((np.cumsum(sizes[order]) <= room).sum())
    assert set(order[:fitting]) <= set(held)
    if fitting < len(sizes):
        gap = room - sizes[order[:fitting]].sum()
        assert gap < sizes[order[fitting]]
        assert sizes[held].sum() - sizes[order[:fitting]].sum() <= gap


@given(st.integers(0, 25), st.lists(st.integers(0, 40), max_size=10), st.integers(0, 2**32 - 1))
def test_equal_sizes_leave_no_gap(count: int, cuts: list[int], seed: int) -> None:
    sizes = np.full(40, 7)
    held, scores = fill(sizes, 7 * count + 3, np.random.default_rng(seed), sorted(cuts))
    at_once, same = fill(sizes, 7 * count + 3, np.random.default_rng(seed), [])
    np.testing.assert_array_equal(held, at_once)
    np.testing.assert_array_equal(scores, same)
    assert len(held) == count


def test_a_memory_that_shrinks_loses_the_largest_keys() -> None:
    rng = np.random.default_rng(0)
    held, scores = fill(np.full(20, 5), 50, rng, cuts=[])
    pool = Pool(np.full(10, 5), np.zeros(10, dtype=np.int64), scores, 10, NO_GEOMETRY)
    chosen = Reservoir().select(pool, 22, rng)
    np.testing.assert_array_equal(chosen.keep, np.sort(np.argsort(scores)[:4]))
    assert len(held) == 10


@pytest.mark.parametrize("n_memory", [0, 3])
def test_nothing_keeps_nothing(n_memory: int) -> None:
    pool = Pool(np.full(5, 10), np.zeros(5, int), np.zeros(5, np.float32), n_memory, NO_GEOMETRY)
    chosen = Nothing().select(pool, 1000, np.random.default_rng(0))
    assert len(chosen.keep) == len(chosen.scores) == 0
