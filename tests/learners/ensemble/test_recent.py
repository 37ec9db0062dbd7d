"""The newest stored samples: what is read piece by piece is what is read anew, whatever the memory did between."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from smartcl.learners.ensemble.recent import Newest, Reader, learnable, merged, roles, wanted
from smartcl.memory import Observation, SampleStore
from smartcl.memory.pool import DORMANT, HELD_OUT, REPLAYED

N_FEATURES = 4


class CountingReader(Reader):
    """Counts the rows that are read from the memory."""

    def read(self, store, at):
        counts.append(len(at))
        return super().read(store, at)


counts: list[int] = []


def doubled(x):
    return 2 * x.numpy() if isinstance(x, torch.Tensor) else 2 * x


def with_batch(store, rng, count, is_sparse):
    """The store with so many rows of random roles at its end; each row's first value is its number in the stream."""
    x = rng.normal(size=(count, N_FEATURES)).astype(np.float32)
    rows = sparse.csr_array(x) if is_sparse else torch.from_numpy(x)
    role = rng.choice(np.array([REPLAYED, REPLAYED, REPLAYED, HELD_OUT, DORMANT], np.uint8), count)
    packed = store.pack(rows, rng.integers(0, 3, count)).with_extra(role=role)
    return store.join(packed)


def assert_same(mine, theirs, store):
    np.testing.assert_array_equal(mine.at, theirs.at)
    for name in ("x", "values"):
        a, b = (getattr(each, name) for each in (mine, theirs))
        np.testing.assert_array_equal(*(each.toarray() if sparse.issparse(each) else each for each in (a, b)))
    ours, expected = (each.samples(store, lambda store, at: at.astype(np.float32)) for each in (mine, theirs))
    np.testing.assert_array_equal(ours.y, expected.y)
    np.testing.assert_array_equal(ours.weight, expected.weight)


@given(st.integers(0, 2**32 - 1), st.booleans(), st.booleans(), st.integers(1, 25))
def test_what_is_read_piece_by_piece_is_what_is_read_anew(seed, is_sparse, raw, most):
    """Over random batches of which the memory keeps random samples, old ones and new."""
    rng = np.random.default_rng(seed)
    store, reader = SampleStore.empty(N_FEATURES, is_sparse), Reader(most, doubled, raw)
    newest = Newest.of(store, reader)
    for _ in range(6):
        before, count = len(store), int(rng.integers(1, 12))
        joined = with_batch(store, rng, count, is_sparse)
        keep = np.flatnonzero(rng.random(len(joined)) < rng.choice([0.3, 0.8, 1.0]))
        store = joined.take(keep)
        seen = Observation(keep[keep < before], keep[keep >= before] - before)
        newest = newest.after(seen, store, reader)
        assert_same(newest, Newest.of(store, reader), store)


@pytest.mark.parametrize("is_sparse", [False, True])
def test_only_new_rows_are_read(is_sparse):
    rng = np.random.default_rng(0)
    store, reader = (
        with_batch(SampleStore.empty(N_FEATURES, is_sparse), rng, 60, is_sparse),
        CountingReader(40, doubled, raw=True),
    )
    newest = Newest.of(store, reader)
    counts.clear()
    joined = with_batch(store, rng, 10, is_sparse)
    newest.after(Observation(np.arange(60), np.arange(10)), joined, reader)
    assert sum(counts) == (roles(joined)[60:] == REPLAYED).sum()


def test_the_newest_are_those_at_the_end_that_may_be_learned():
    store = with_batch(SampleStore.empty(N_FEATURES, False), np.random.default_rng(1), 50, False)
    role = store.extra["role"]
    expected = [at for at in range(50) if role[at] == REPLAYED]
    assert learnable(store).tolist() == expected
    assert wanted(store, 7).tolist() == expected[-7:]
    assert len(learnable(SampleStore.empty(N_FEATURES, False))) == 0


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_two_sets_of_rows_merge_in_the_order_that_is_asked_for(seed, is_sparse):
    rng = np.random.default_rng(seed)
    x, is_old = rng.normal(size=(9, 3)), rng.random(9) < 0.5
    old, new = x[is_old], x[~is_old]
    got = merged(*(sparse.csr_array(each) if is_sparse else each for each in (old, new)), is_old)
    np.testing.assert_array_equal(got.toarray() if is_sparse else got, x)
