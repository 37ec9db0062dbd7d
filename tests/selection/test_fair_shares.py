"""Equal shares by their definition; within a share, an unbiased sample of all that came for it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smartcl.memory.pool import Pool
from smartcl.selection.fair_shares import (
    Balanced,
    TaskShares,
    balanced_fit,
    fair_prefixes,
    fair_share,
    positions_by,
)

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


# --- classes in equal numbers ----------------------------------------------------


def pool_of(labels: np.ndarray, sizes: np.ndarray | None = None, n_memory: int = 0, **extra: np.ndarray) -> Pool:
    n = len(labels)
    sizes = np.full(n, 10) if sizes is None else sizes
    return Pool(sizes, labels, np.zeros(n, np.float32), n_memory, None, extra)  # type: ignore[arg-type]


def stream(labels: np.ndarray, room: int, batch: int, seed: int, tasks: np.ndarray | None = None) -> np.ndarray:
    """Positions in the stream of what is in memory at its end."""
    held, scores, rng = np.zeros(0, int), np.zeros(0, np.float32), np.random.default_rng(seed)
    for start in range(0, len(labels), batch):
        candidates = np.concatenate([held, np.arange(start, min(start + batch, len(labels)))])
        extra = {} if tasks is None else {"task": tasks[candidates]}
        padded = np.concatenate([scores, np.zeros(len(candidates) - len(held), np.float32)])
        pool = Pool(np.full(len(candidates), 10), labels[candidates], padded, len(held), None, extra)  # type: ignore[arg-type]
        chosen = Balanced().select(pool, room, rng)
        held, scores = candidates[chosen.keep], chosen.scores
    return held


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 40)), min_size=1, max_size=40), st.integers(1, 400))
def test_no_group_could_be_larger_while_another_is_smaller(samples: list[tuple[int, int]], room: int) -> None:
    """Who was sent away was in a largest group when it left, so no group ends two behind what it gave up to."""
    labels, sizes = (np.array(column) for column in zip(*samples, strict=True))
    keep = Balanced().select(pool_of(labels, sizes), room, np.random.default_rng(0)).keep
    assert sizes[keep].sum() <= room
    possible = np.bincount(labels[sizes <= room], minlength=4)
    kept = np.bincount(labels[keep], minlength=4)
    shrunk = kept < possible
    if shrunk.any():
        assert kept.max() <= kept[shrunk].min() + 1


def test_everything_stays_while_it_fits() -> None:
    labels = np.array([0, 0, 0, 1])
    assert Balanced().select(pool_of(labels), 40, np.random.default_rng(0)).keep.tolist() == [0, 1, 2, 3]


def test_labels_are_balanced_over_a_stream() -> None:
    labels = np.repeat([0, 1, 2], [300, 50, 150])
    held = stream(labels, room=600, batch=25, seed=0)
    assert np.bincount(labels[held]).tolist() == [20, 20, 20]


def test_tasks_are_balanced_where_they_are_stored() -> None:
    labels = np.tile([0, 1], 200)
    tasks = np.repeat([0, 1, 2, 3], 100)
    held = stream(labels, room=400, batch=20, seed=0, tasks=tasks)
    counts = np.zeros((4, 2), int)
    np.add.at(counts, (tasks[held], labels[held]), 1)
    assert (counts == 5).all()


def test_within_a_group_early_and_late_are_alike() -> None:
    """One group of 200, a memory of 20: each quarter of the stream holds a quarter of the places."""
    quarters = np.zeros(4)
    for seed in range(60):
        held = stream(np.zeros(200, int), room=200, batch=10, seed=seed)
        quarters += np.bincount(held // 50, minlength=4)
    expected = 60 * 20 / 4
    assert np.all(np.abs(quarters - expected) < 4 * np.sqrt(expected * 0.75))


def test_a_giant_drives_nobody_out() -> None:
    labels, sizes = np.array([0, 0, 1]), np.array([10, 10, 1000])
    assert Balanced().select(pool_of(labels, sizes), 25, np.random.default_rng(0)).keep.tolist() == [0, 1]


def test_nothing_fits() -> None:
    keys = np.zeros(2, np.float32)
    assert balanced_fit(np.array([0, 1]), keys, np.array([10, 10]), room=5).tolist() == []
