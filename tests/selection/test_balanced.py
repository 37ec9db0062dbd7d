"""The balanced memory: even groups, random within a group, inside the room."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smartcl.memory.pool import Pool
from smartcl.selection.balanced import Balanced, balanced_fit
from smartcl.selection.nothing import Nothing

NO_GEOMETRY = None


def pool_of(labels: np.ndarray, sizes: np.ndarray | None = None, n_memory: int = 0, **notes: np.ndarray) -> Pool:
    n = len(labels)
    sizes = np.full(n, 10) if sizes is None else sizes
    return Pool(sizes, labels, np.zeros(n, np.float32), n_memory, NO_GEOMETRY, notes)  # type: ignore[arg-type]


def stream(labels: np.ndarray, room: int, batch: int, seed: int, tasks: np.ndarray | None = None) -> np.ndarray:
    """Positions in the stream of what is in memory at its end."""
    held, scores, rng = np.zeros(0, int), np.zeros(0, np.float32), np.random.default_rng(seed)
    for start in range(0, len(labels), batch):
        candidates = np.concatenate([held, np.arange(start, min(start + batch, len(labels)))])
        notes = {} if tasks is None else {"task": tasks[candidates]}
        padded = np.concatenate([scores, np.zeros(len(candidates) - len(held), np.float32)])
        pool = Pool(np.full(len(candidates), 10), labels[candidates], padded, len(held), NO_GEOMETRY, notes)  # type: ignore[arg-type]
        chosen = Balanced().select(pool, room, rng)
        held, scores = candidates[chosen.keep], chosen.scores
    return held


@settings(max_examples=100, deadline=None)
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


def test_tasks_are_balanced_where_they_are_noted() -> None:
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


@pytest.mark.parametrize("n_memory", [0, 3])
def test_nothing_keeps_nothing(n_memory: int) -> None:
    chosen = Nothing().select(pool_of(np.zeros(5, int), n_memory=n_memory), 1000, np.random.default_rng(0))
    assert len(chosen.keep) == len(chosen.scores) == 0
