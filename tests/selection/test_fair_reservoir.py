"""A reservoir that no class drops out of, against the rule written out sample by sample."""

from __future__ import annotations

from time import process_time

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest

from smartcl.memory.pool import Pool
from smartcl.selection.fair_shares import FairReservoir, fair_fit
from smartcl.selection.reservoir import Reservoir


def pool_of(labels: np.ndarray, sizes: np.ndarray, scores: np.ndarray | None = None, n_memory: int = 0) -> Pool:
    scores = np.zeros(len(labels), np.float32) if scores is None else scores
    return Pool(sizes, labels, scores, n_memory, None)


def one_by_one(labels: np.ndarray, keys: np.ndarray, room: int) -> set[int]:
    """For samples of one byte: deal half the room in turns, then the rest by key."""
    queues = {label: sorted(np.flatnonzero(labels == label), key=lambda i: keys[i]) for label in set(labels.tolist())}
    half, kept, turn = room // 2, set(), 0
    while True:
        dealt = {queue[turn] for queue in queues.values() if turn < len(queue)}
        if not dealt or len(kept) + len(dealt) > half:
            break
        kept |= dealt
        turn += 1
    for i in sorted(range(len(labels)), key=lambda i: keys[i]):
        if len(kept) < room:
            kept.add(i)
    return kept


@given(st.lists(st.integers(0, 4), min_size=1, max_size=60), st.integers(0, 60), st.integers(0, 2**32 - 1))
def test_it_is_the_rule_written_out(labels, room, seed):
    y = np.array(labels)
    keys = np.random.default_rng(seed).exponential(size=len(y)).astype(np.float32)
    assert set(fair_fit(y, keys, np.ones(len(y), np.int64), room, np.zeros(len(y), bool)).tolist()) == one_by_one(
        y, keys, room
    )


@given(st.integers(0, 2**32 - 1), st.integers(100, 4000))
def test_where_no_class_is_rare_it_is_the_reservoir(seed, room):
    rng = np.random.default_rng(seed)
    labels, sizes = np.arange(200) % 2, rng.integers(5, 30, 200)
    scores = rng.exponential(size=200).astype(np.float32)
    ours, theirs = (
        policy.select(pool_of(labels, sizes, scores, 150), room, np.random.default_rng(seed))
        for policy in (FairReservoir(), Reservoir())
    )
    if min(sizes[theirs.keep[labels[theirs.keep] == label]].sum() for label in (0, 1)) >= room / 4:
        np.testing.assert_array_equal(ours.keep, theirs.keep)


def stream(labels: np.ndarray, room: int, rng: np.random.Generator) -> np.ndarray:
    """The places in the stream that are in memory at its end, of samples of ten bytes in batches of 50."""
    held, scores = np.zeros(0, np.int64), np.zeros(0, np.float32)
    for new in np.array_split(np.arange(len(labels)), len(labels) // 50):
        places = np.append(held, new)
        unscored = np.append(scores, np.zeros(len(new), np.float32))
        chosen = FairReservoir().select(
            pool_of(labels[places], np.full(len(places), 10), unscored, len(held)), room, rng
        )
        held, scores = places[chosen.keep], chosen.scores
        assert 10 * len(held) <= room
    return held


def test_of_a_rare_class_all_stay_up_to_half_its_share_and_of_each_a_uniform_choice():
    rng, common, rare = np.random.default_rng(0), [], []
    for _ in range(60):
        labels = (rng.random(3000) < 0.01).astype(np.int64)
        held = stream(labels, 1000, rng)
        mine = held[labels[held] == 1]
        assert len(mine) == min(25, labels.sum())
        rare.append(mine / 3000)
        common.append(held[labels[held] == 0] / 3000)
    for places in (rare, common):
        assert kstest(np.concatenate(places), "uniform").pvalue > 0.01


def test_a_thousand_classes_take_no_longer_than_two():
    def seconds(n_classes: int) -> float:
        rng = np.random.default_rng(0)
        pool = pool_of(rng.integers(0, n_classes, 50_000), rng.integers(5, 30, 50_000))
        start = process_time()
        for _ in range(3):
            FairReservoir().select(pool, 200_000, rng)
        return process_time() - start

    assert seconds(1000) < 5 * seconds(2) + 0.5


def test_what_sleeps_is_ensured_to_nobody():
    labels = np.repeat([0, 1], [50, 4])
    keys = np.linspace(0, 5, 54).astype(np.float32)
    kept = labels[fair_fit(labels, keys, np.full(54, 10), 300, dormant=labels == 1)]
    assert kept.sum() == 0
