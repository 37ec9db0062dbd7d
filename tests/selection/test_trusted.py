"""The reservoir that drops contradicted samples first."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from smartcl.memory.pool import DORMANT, REPLAYED, Pool
from smartcl.selection import trusted
from smartcl.selection.fair_shares import FairReservoir
from smartcl.selection.reservoir import Reservoir
from smartcl.selection.trusted import Trusted


class Answers:
    """A network that gives these labels, and counts how often it is asked."""

    def __init__(self, labels, distrust=0.0, spared=0):
        self.labels, self.asked, self.distrust, self.spared = labels, 0, distrust, spared

    def features(self, index, layer):
        assert layer == "logits"
        self.asked += len(index)
        return torch.nn.functional.one_hot(torch.from_numpy(self.labels[index]), 2).float()


def pool_of(labels, answers, n_memory, scores=None):
    n = len(labels)
    scores = np.zeros(n, np.float32) if scores is None else scores
    return Pool(np.full(n, 10), labels, scores, n_memory, Answers(answers))


def test_it_is_the_reservoir_where_nothing_is_contradicted():
    labels = np.random.default_rng(0).integers(0, 2, 50)
    scores = np.random.default_rng(1).exponential(size=50).astype(np.float32)
    mine = Trusted().select(pool_of(labels, labels, 30, scores), 200, np.random.default_rng(2))
    theirs = Reservoir().select(pool_of(labels, labels, 30, scores), 200, np.random.default_rng(2))
    np.testing.assert_array_equal(mine.keep, theirs.keep)
    np.testing.assert_array_equal(mine.scores, theirs.scores)


def test_of_each_label_contradicted_samples_leave_first():
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 2, 60)
    wrong = rng.random(60) < 0.3
    scores = rng.exponential(size=60).astype(np.float32)
    answers = np.where(wrong, 1 - labels, labels)
    for room in range(0, 600, 70):
        keep = Trusted().select(pool_of(labels, answers, 40, scores), room, np.random.default_rng(4)).keep
        assert len(keep) == room // 10
        for label in (0, 1):
            mine = keep[labels[keep] == label]
            assert wrong[mine].sum() == max(0, len(mine) - (~wrong & (labels == label)).sum())


def test_a_rare_label_keeps_what_is_ensured_to_it_though_it_is_contradicted():
    rng = np.random.default_rng(5)
    labels = (rng.random(200) < 0.1).astype(np.int64)
    answers = np.zeros(200, np.int64)  # the network never says 1
    scores = rng.exponential(size=200).astype(np.float32)
    mine = Trusted().select(pool_of(labels, answers, 150, scores), 800, np.random.default_rng(6)).keep
    fair = FairReservoir().select(pool_of(labels, answers, 150, scores), 800, np.random.default_rng(6)).keep
    assert labels[mine].sum() == labels[fair].sum() == min(20, labels.sum())


def test_under_budget_the_network_is_not_asked():
    pool = pool_of(np.zeros(5, np.int64), np.ones(5, np.int64), 2)
    assert len(Trusted().select(pool, 50, np.random.default_rng(0)).keep) == 5
    assert pool.geometry.asked == 0


def test_of_a_large_memory_only_a_part_is_examined(monkeypatch):
    monkeypatch.setattr(trusted, "EXAMINED", 20)
    labels = np.zeros(110, np.int64)
    pool = pool_of(labels, labels, 100)
    Trusted().select(pool, 900, np.random.default_rng(0))
    assert pool.geometry.asked == 30


def pool_with_room(n_wrong, distrust=1.0, spared=0, n=90, n_new=10):
    labels = np.zeros(n, dtype=np.int64)
    answers = labels.copy()
    answers[np.random.default_rng(0).choice(n - n_new, n_wrong, replace=False)] = 1
    return Pool(
        np.full(n, 10), labels, np.arange(1, n + 1, dtype=np.float32), n - n_new, Answers(answers, distrust, spared)
    )


def test_who_sleeps_is_not_sent_away_while_there_is_room():
    pool = pool_with_room(20)
    roles = np.where(pool.geometry.labels == 1, DORMANT, REPLAYED).astype(np.uint8)
    pool = replace(pool, extra={"role": roles})
    assert len(Trusted().select(pool, 10_000, np.random.default_rng(0)).keep) == 90


def test_distrusted_labels_leave_though_there_is_room_as_many_as_come():
    pool = pool_with_room(20)
    kept = Trusted().select(pool, 10_000, np.random.default_rng(0)).keep
    gone = np.setdiff1d(np.arange(90), kept)
    assert len(gone) == 10
    assert (pool.geometry.labels[gone] == 1).all()


@pytest.mark.parametrize(
    ("n_wrong", "distrust", "spared", "stay"), [(20, 0.5, 0, 85), (40, 1.0, 0, 90), (20, 1.0, 90, 90)]
)
def test_few_leave_where_few_are_distrusted_none_where_most_are_contradicted_or_all_are_new(
    n_wrong, distrust, spared, stay
):
    pool = pool_with_room(n_wrong, distrust, spared)
    assert len(Trusted().select(pool, 10_000, np.random.default_rng(0)).keep) == stay
