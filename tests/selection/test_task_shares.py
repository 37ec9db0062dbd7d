"""Equal shares by their definition, and each task's samples as an unbiased sample of it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartcl.memory.pool import Pool
from smartcl.selection.task_shares import TaskShares, fair_prefixes, fair_share, positions_by

demands = st.lists(st.integers(1, 60), min_size=1, max_size=6)


@given(asked=demands, room=st.integers(0, 250))
def test_a_fair_share_is_the_largest_that_fits(asked, room):
    fitting = [share for share in range(max(asked) + 1) if sum(min(share, one) for one in asked) <= room]
    assert fair_share(np.array(asked), room) == max(fitting)


@given(counts=st.lists(st.integers(1, 9), min_size=1, max_size=5), room=st.integers(0, 300), seed=st.integers(0, 99))
def test_prefixes_fit_and_leave_no_room_for_one_more_of_anybody(counts, room, seed):
    rng = np.random.default_rng(seed)
    sizes, owner = rng.integers(5, 15, sum(counts)), np.repeat(np.arange(len(counts)), counts)
    orders = [rng.permutation(np.flatnonzero(owner == group)) for group in range(len(counts))]
    keep = fair_prefixes(orders, sizes, room)
    left = room - sizes[keep].sum()
    assert left >= 0
    for order in orders:
        taken = len(np.intersect1d(order, keep))
        assert set(order[:taken]) <= set(keep)
        share = fair_share(np.array([sizes[order].sum() for order in orders]), room)
        assert taken == len(order) or sizes[order[: taken + 1]].sum() > share
        assert taken == len(order) or sizes[order[taken]] > left or sizes[order[:taken]].sum() > share


@given(st.lists(st.integers(0, 4), min_size=1, max_size=30))
def test_positions_by_number(numbers):
    expected = [[i for i, n in enumerate(numbers) if n == number] for number in sorted(set(numbers))]
    assert [index.tolist() for index in positions_by(np.array(numbers))] == expected


def fed(per_task: int, tasks: int, room: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The tasks and the ids of what is stored of samples of ten bytes that came five at a time."""
    task, ids, keys = np.zeros(0, int), np.zeros(0, int), np.zeros(0, np.float32)
    for start in range(0, per_task * tasks, 5):
        n_memory = len(ids)
        task = np.concatenate([task, np.full(5, start // per_task)])
        ids = np.concatenate([ids, np.arange(start, start + 5)])
        scores = np.concatenate([keys, np.zeros(5, np.float32)])
        pool = Pool(np.full(len(ids), 10), np.zeros(len(ids), int), scores, n_memory, None, {"task": task})
        chosen = TaskShares().select(pool, room, rng)
        task, ids, keys = task[chosen.keep], ids[chosen.keep], chosen.scores
    return task, ids


@pytest.mark.parametrize(("tasks", "counts"), [(1, [12]), (2, [6, 6]), (3, [4, 4, 4]), (5, [3, 3, 2, 2, 2])])
def test_every_task_seen_has_the_same_share(tasks, counts):
    task, _ = fed(20, tasks, room=125, rng=np.random.default_rng(0))
    assert np.bincount(task).tolist() == counts


def test_within_its_task_every_sample_is_equally_likely_to_be_stored():
    rng = np.random.default_rng(0)
    stored = np.zeros(40)
    runs = 1500
    for _ in range(runs):
        stored[fed(20, 2, room=80, rng=rng)[1]] += 1
    deviation = np.sqrt(runs * 0.2 * 0.8)
    assert np.abs(stored - runs * 0.2).max() < 4.5 * deviation
