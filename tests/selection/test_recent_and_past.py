"""Room for the newest samples and for all of the past: shares of bytes, held-out samples, and who leaves first."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from smartcl.memory.pool import DORMANT, HELD_OUT, REPLAYED, Offer, Pool
from smartcl.selection.recent_and_past import RESERVED, RecentAndPast, newest_fit

SIZE = 10


class Answers:
    """A network that gives these labels."""

    distrust, spared = 0.0, 0

    def __init__(self, labels):
        self.labels = labels

    def features(self, index, layer):
        return torch.nn.functional.one_hot(torch.from_numpy(self.labels[index]), 2).float()


def pool_of(count, n_memory=None, labels=None, role=None, scores=None, sizes=None, recent=0.5, answers=None):
    extra = {} if role is None else {"role": np.asarray(role, np.uint8)}
    return Pool(
        np.full(count, SIZE) if sizes is None else sizes,
        np.zeros(count, np.int64) if labels is None else labels,
        np.zeros(count, np.float32) if scores is None else scores,
        count // 2 if n_memory is None else n_memory,
        None if answers is None else Answers(answers),
        extra,
        Offer(recent=recent),
    )


def stream(rows, room, recent, seed, batch=10, labels=None, role=None):
    """The positions in the stream of what is in memory at its end."""
    rng, held, scores = np.random.default_rng(seed), np.zeros(0, np.int64), np.zeros(0, np.float32)
    for start in range(0, rows, batch):
        candidates = np.append(held, np.arange(start, start + batch))
        known = np.append(scores, np.zeros(batch, np.float32))
        pool = pool_of(
            len(candidates),
            len(held),
            None if labels is None else labels[candidates],
            None if role is None else role[candidates],
            known,
            recent=recent,
        )
        chosen = RecentAndPast().select(pool, room, rng)
        held, scores = candidates[chosen.keep], chosen.scores
    return held


@given(
    st.lists(st.integers(1, 40), min_size=1, max_size=40).map(np.array),
    st.integers(0, 600),
    st.floats(0, 1),
    st.integers(0, 2**32 - 1),
)
def test_never_more_than_the_room_and_in_order(sizes, room, recent, seed):
    rng = np.random.default_rng(seed)
    role = rng.integers(0, 3, len(sizes))
    pool = pool_of(len(sizes), sizes=sizes, role=role, labels=rng.integers(0, 3, len(sizes)), recent=recent)
    chosen = RecentAndPast().select(pool, room, rng)
    assert sizes[chosen.keep].sum() <= room
    assert (np.diff(chosen.keep) > 0).all()
    assert len(chosen.keep) == len(chosen.scores)
    if sizes.sum() <= room:
        assert len(chosen.keep) == len(sizes)
    newest = np.flatnonzero(newest_fit(sizes, int(recent * room)) & (role != DORMANT))
    assert np.isin(newest, chosen.keep).all()


@pytest.mark.parametrize("recent", [0.3, 0.5, 0.9])
def test_the_newest_have_their_share_and_the_past_the_rest(recent):
    """Of the 60 places the newest samples have ``recent``; who has the others is equally likely over the rest."""
    places = round(60 * recent)
    older = np.zeros(400)
    for seed in range(150):
        held = stream(400, 60 * SIZE, recent, seed)
        assert len(held) == 60
        np.testing.assert_array_equal(held[-places:], np.arange(400 - places, 400))
        older[held[:-places]] += 1
    halves = older[: (400 - places) // 2].sum(), older[(400 - places) // 2 : 400 - places].sum()
    assert abs(halves[0] - halves[1]) < 5 * np.sqrt(sum(halves))


def test_a_rare_class_of_the_past_stays():
    """One label in twenty, all of it long ago: it has half of an even share of what is left beside the newest."""
    labels = np.zeros(600, np.int64)
    labels[np.arange(0, 400, 13)] = 1
    ones = [int((labels[stream(600, 60 * SIZE, 0.5, seed, labels=labels)] == 1).sum()) for seed in range(10)]
    assert min(ones) >= 30 // 2 // 2


def test_held_out_samples_keep_a_tenth_of_the_room():
    """Whatever else comes after them: of the oldest 100 rows half were held out, then none."""
    role = np.full(1000, REPLAYED)
    role[:100:2] = HELD_OUT
    kept = [int((role[stream(1000, 100 * SIZE, 0.9, seed, role=role)] == HELD_OUT).sum()) for seed in range(5)]
    assert min(kept) >= int(RESERVED * 100)


def test_what_is_out_of_use_leaves_before_all_others():
    """Even from among the newest; if there is room for all others and some of it, only of it some leave."""
    rng = np.random.default_rng(0)
    role = rng.choice([REPLAYED, HELD_OUT, DORMANT], 60, p=[0.5, 0.1, 0.4])
    dormant = int((role == DORMANT).sum())
    for room in (60 - dormant, 60 - dormant + 5, 20):
        keep = RecentAndPast().select(pool_of(60, role=role), room * SIZE, rng).keep
        assert len(keep) == room
        assert (role[keep] == DORMANT).sum() == max(0, room - (60 - dormant))


def test_of_the_past_doubted_samples_leave_first_and_of_the_newest_none():
    rng = np.random.default_rng(1)
    labels = np.repeat([0, 1], 30)[rng.permutation(60)]
    wrong = rng.random(60) < 0.4
    scores = rng.exponential(size=60).astype(np.float32)
    pool = pool_of(60, 50, labels, scores=scores, recent=0.5, answers=np.where(wrong, 1 - labels, labels))
    keep = RecentAndPast().select(pool, 40 * SIZE, rng).keep
    np.testing.assert_array_equal(keep[-20:], np.arange(40, 60))
    past = keep[:-20]
    for label in (0, 1):
        mine = past[labels[past] == label]
        believed = int((~wrong[:40] & (labels[:40] == label)).sum())
        assert wrong[mine].sum() == max(0, len(mine) - believed)
