"""Memories put together: cut to the smallest keys, they are the reservoir of the joined stream, sample by sample."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from smartcl.data import Batch, InputSpec
from smartcl.memory import SampleStore, Schema
from smartcl.memory.grading import learn_code
from smartcl.memory.levels import Levels
from smartcl.memory.pool import Offer, Pool
from smartcl.memory.schematic_memory import SchematicMemory
from smartcl.memory.union import drawn_alike, each_once, sample_keys, united
from smartcl.selection.fair_shares import FairReservoir
from smartcl.selection.recent_and_past import RecentAndPast
from smartcl.selection.reservoir import Reservoir

BATCH = 6
#: What a row of one value, its label and its key take.
ROW_BYTES = 14


class Dealt:
    """A generator that deals known keys, in order."""

    def __init__(self, keys):
        self.keys, self.at = keys, 0

    def standard_exponential(self, count, dtype):
        self.at += count
        return self.keys[self.at - count : self.at]


def memory_of(selector, samples):
    spec = InputSpec(n_features=1, n_classes=4)
    return SchematicMemory(spec, samples * ROW_BYTES, selector, whole=False, patience=3)


def streamed(selector, samples, rows, y, rng, recent=0.0):
    """A memory that rows went through; the value of a row is its number, from 1 on."""
    memory = memory_of(selector, samples)
    for start in range(0, len(rows), BATCH):
        part = slice(start, start + BATCH)
        batch = Batch(torch.from_numpy(rows[part, None].astype(np.float32) + 0.1), torch.from_numpy(y[part]))
        candidates = memory.candidates(batch, np.ones(1, dtype=bool), {})
        memory.select(candidates, None, rng, Offer(recent=recent))
    return memory


def merged(memories, selector, samples, recent=0.0):
    whole = memory_of(selector, samples)
    stores = [memory.store for memory in memories]
    ages = [np.arange(len(store), 0, -1) / memory.offered for store, memory in zip(stores, memories, strict=True)]
    offered = sum(memory.offered for memory in memories)
    whole.take_in(united(stores, ages, whole.limit), offered, np.random.default_rng(0), Offer(recent=recent))
    assert whole.nbytes <= whole.limit
    return whole


def numbers(memory):
    store = memory.store
    return set(store.gather(np.arange(len(store))).x[:, 0].round().int().tolist()) if len(store) else set()


@pytest.mark.parametrize(("selector", "recent"), [(Reservoir(), 0.0), (FairReservoir(), 0.0), (RecentAndPast(), 0.5)])
@given(seed=st.integers(0, 2**32 - 1), shards=st.integers(2, 4), samples=st.integers(2, 6))
@settings(max_examples=8, deadline=None)
def test_merged_memories_hold_what_one_machine_holds(selector, recent, seed, shards, samples):
    """With the same keys drawn and rows that came to the shards in turns; in any order, and merged by and by.

    A reservoir holds the very same samples. A fair one holds of each class those with the smallest keys, and as many;
    its shares are rounded to whole samples whenever a class begins, so a few may be of another class.
    """
    rng, samples = np.random.default_rng(seed), 2 * shards * samples
    rows = np.arange(1, 1 + 6 * shards * BATCH)
    y = rng.choice(4, len(rows), p=[0.6, 0.3, 0.09, 0.01])
    keys = rng.permutation(np.arange(1, 1 + len(rows)) / 16).astype(np.float32)
    one = numbers(streamed(selector, samples, rows, y, Dealt(keys), recent))
    parts = [
        streamed(selector, samples, rows[k::shards], y[k::shards], Dealt(keys[k::shards]), recent)
        for k in range(shards)
    ]
    whole = numbers(merged(parts, selector, samples, recent))
    assert numbers(merged(parts[::-1], selector, samples, recent)) == whole
    by_and_by = merged([merged(parts[:1], selector, samples, recent), *parts[1:]], selector, samples, recent)
    assert numbers(by_and_by) == whole
    if isinstance(selector, Reservoir):
        assert whole == one
        assert sorted(keys[np.array(sorted(whole)) - 1]) == sorted(keys)[: len(whole)]
    else:
        assert len(whole) == len(one)
        assert len(whole - one) <= 4
    if isinstance(selector, FairReservoir):
        for label in range(4):
            kept = [keys[row - 1] for row in whole if y[row - 1] == label]
            assert sorted(kept) == sorted(keys[y == label])[: len(kept)]


def test_kept_samples_are_distributed_as_those_of_one_machine():
    """Over 2,000 repetitions, for each shard and class: 2% more or less would be noticed."""
    repetitions, shards, size, room = 2000, 3, 20, 120
    y = np.tile([0, 0, 0, 0, 1], shards * size // 5)
    row = np.arange(len(y))
    group = 2 * (row // size) + y
    kept = np.zeros((2, len(y)))
    policy = FairReservoir()

    def selected(at, keys, rng):
        pool = Pool(np.full(len(at), 10), y[at], keys, len(keys), None)
        if len(keys) < len(at):
            pool = replace(pool, scores=np.append(keys, np.zeros(len(at) - len(keys), np.float32)))
        chosen = policy.select(pool, room, rng)
        return at[chosen.keep], chosen.scores

    none = np.zeros(0, np.float32)
    for seed in range(repetitions):
        rng = np.random.default_rng(seed)
        held = [selected(row[k * size : (k + 1) * size], none, rng) for k in range(shards)]
        both = [np.concatenate(part) for part in zip(*held, strict=True)]
        kept[0, selected(*both, rng)[0]] += 1
        at, keys = row[:0], none
        for k in range(shards):
            at, keys = selected(np.append(at, row[k * size : (k + 1) * size]), keys, rng)
        kept[1, at] += 1
    shares = np.stack([np.bincount(group, each) / np.bincount(group) for each in kept]) / repetitions
    error = np.sqrt(2 * shares.max() * (1 - shares.min()) / (repetitions * np.bincount(group).min()))
    assert 2 * error < 0.02
    assert np.abs(shares[0] - shares[1]).max() < 4 * error


def packed(values, score, mask=None, **extra):
    store = SampleStore.empty(n_features=len(values[0]), sparse=False)
    if mask is not None:
        store = store.restrict(Schema.of(np.array(mask)))
    rows = torch.tensor(values, dtype=torch.float32)
    return store.join(store.pack(rows, [0] * len(values), score=np.array(score, np.float32), **extra))


def test_what_a_store_never_had_is_missing_there_not_zero():
    all_features, one = packed([[1.0, 2.0]], [0.1]), packed([[3.0, 9.0]], [0.2], mask=[True, False])
    got = united([all_features, one], [np.zeros(1), np.ones(1)], 1000).gather(np.arange(2))
    assert got.x[0, 0] == 3.0
    assert got.missing is not None
    assert got.missing.tolist() == [[False, True], [False, False]]


def test_values_are_held_at_the_coarser_precision():
    rng = np.random.default_rng(0)
    stores = [packed(rng.random((80, 6)).tolist(), rng.random(80)) for _ in range(3)]
    coded = [
        store.recode(learn_code(store, Levels(np.linspace(0.05, 0.95, count).astype(np.float32), exact=False), 10_000))
        for store, count in zip(stores[:2], (15, 3), strict=True)
    ]
    whole = united([*coded, stores[2]], [np.zeros(80)] * 3, 10_000)
    assert whole.code is not None
    assert len(whole.code.levels) == 3
    assert set(np.unique(whole.gather(np.arange(240)).x.numpy()).astype(float).round(2).tolist()) <= {0.05, 0.5, 0.95}
    assert whole.nbytes < sum(store.nbytes for store in stores)


def test_samples_of_a_common_base_are_kept_once():
    base = packed([[1.0], [2.0]], [0.1, 0.2])
    one, two = base.join(packed([[3.0]], [0.3])), base.take(np.array([1])).join(packed([[4.0]], [0.4]))
    whole = united([one, two], [np.arange(3, 0, -1.0), np.arange(2, 0, -1.0)], 1000)
    once = whole.take(each_once(sample_keys(whole), sample_keys(base)))
    assert sorted(once.gather(np.arange(len(once))).x[:, 0].tolist()) == [1.0, 2.0, 3.0, 4.0]


def test_one_seed_is_noticed():
    def drawn(seed):
        return packed(np.random.default_rng(9).random((50, 1)).tolist(), np.random.default_rng(seed).random(50))

    assert drawn_alike([drawn(0), drawn(0)])
    assert not drawn_alike([drawn(0), drawn(1)])
