"""What has come of each class, by loops over the stream; and what follows from it for a loss."""

from __future__ import annotations

import math
from dataclasses import replace
from time import process_time

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from helpers import SMALL, small_batches, small_spec
from smartcl.data.batch import Batch
from smartcl.learners.class_counts import MISSED_TURNS, ClassCounts, overstated, standing
from smartcl.learners.methods import build_learner
from smartcl.learners.sceptic import Sceptic
from smartcl.saving.saved import Saved, StateError

streams = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=9), min_size=1, max_size=12)


def counted(batches: list[list[int]], n_classes: int = 4) -> ClassCounts:
    counts = ClassCounts.none(n_classes)
    for batch in batches:
        counts = counts.add(np.array(batch))
    return counts


@given(streams)
def test_the_counts_by_loops(batches):
    counts = counted(batches)
    ends = np.cumsum([len(batch) for batch in batches])
    for label in range(4):
        own = [i for i, batch in enumerate(batches) if label in batch]
        assert counts.seen[label] == sum(batch.count(label) for batch in batches)
        assert counts.first[label] == (ends[own[0]] - len(batches[own[0]]) if own else 0)
        assert counts.last[label] == (ends[own[-1]] if own else 0)
    loaded = ClassCounts.from_state(Saved(counts.state_dict()), 4)
    np.testing.assert_array_equal(loaded.absence, counts.absence)


@given(streams)
def test_where_every_class_comes_with_every_batch_nothing_changes(batches):
    counts = counted([[0, 1, *batch] for batch in batches], n_classes=4)
    present = np.array([0, 1, *batches[-1]])
    stored = np.array([1, 0, 3, 2])
    got = standing(counts, stored, present)
    assert got is None or (got[:, np.unique(present)] == 0).all()


def test_a_class_that_stays_away_counts_by_its_stored_samples():
    counts = counted([[0, 1] * 25] * 20 + [[2, 3] * 25] * 20)
    got = standing(counts, np.array([5, 40, 9, 0]), np.array([2, 3]))
    assert got is not None
    expected = [2 * math.log(5 / 500), 2 * math.log(40 / 500), 0, 0]
    np.testing.assert_allclose(got, [expected, expected], rtol=1e-5)


def test_a_rare_class_is_not_one_that_stays_away():
    rng = np.random.default_rng(0)
    batches = [(rng.random(50) < 0.01).astype(int).tolist() for _ in range(200)]
    absences = [counted(batches[:n]).absence[1] for n in range(20, 200, 20)]
    assert max(absences) < 7 / MISSED_TURNS
    assert counted([*batches, *[[0] * 50] * 100]).absence[1] == 1


def test_what_is_overstated_is_the_share_in_memory_over_that_in_the_stream():
    counts = counted([[0] * 49 + [1]] * 40, n_classes=2)
    got = overstated(counts, np.array([60, 20]), 0.5)
    assert got is not None
    np.testing.assert_allclose(got, [0, math.log(0.25 / 0.02)], rtol=1e-5)
    assert overstated(counted([[0, 1]] * 40, n_classes=2), np.array([70, 10]), 0.5) is None


def test_a_class_that_has_just_begun_is_not_rare():
    counts = counted([[0, 1] * 25] * 200 + [[2, 3] * 25])
    assert overstated(counts, np.array([40, 40, 0, 0]), 0.5) is None


@pytest.mark.parametrize(
    "damage",
    [
        {"total": 5},
        {"seen": np.array([-1, 7])},
        {"last": np.array([9, 6])},
        {"first": np.array([-1, 0])},
        {"first": np.array([6, 0])},
        {"seen": np.array([3.0, 3.0])},
        {"seen": np.array([6])},
    ],
)
def test_counts_that_no_stream_gives_are_refused(damage):
    state = counted([[0, 1, 0], [1, 0, 1]], n_classes=2).state_dict()
    ClassCounts.from_state(Saved(state), 2)
    with pytest.raises(StateError):
        ClassCounts.from_state(Saved({**state, **damage}), 2)


def by_class(labels: list[int], seed: int) -> Batch:
    x = small_batches(seed=seed)[0].x
    y = np.resize(labels, len(x))
    return Batch(x, small_batches(seed=seed)[0].y.new_tensor(y))


def test_a_learner_stopped_between_tasks_goes_on_alike():
    """Of two learners that learn four classes two at a time, one is saved and loaded inside the second task."""
    learners = [build_learner("smart", replace(small_spec(), n_classes=4), 900, **SMALL) for _ in range(2)]
    batches = [by_class([0, 1], n) for n in range(4)] + [by_class([2, 3], n) for n in range(4, 8)]
    for number, batch in enumerate(batches):
        if number == 6:
            fresh = build_learner("smart", replace(small_spec(), n_classes=4), 900, **SMALL)
            fresh.load_state_dict(learners[1].state_dict())
            learners[1] = fresh
        for learner in learners:
            learner.observe(batch)
    first, second = learners
    assert isinstance(first, Sceptic)
    assert first.standing is not None
    assert (first.predict_proba(batches[0].x) == second.predict_proba(batches[0].x)).all()


def test_a_batch_that_is_refused_is_not_counted():
    learner = build_learner("smart", small_spec(), 900, **SMALL)
    learner.observe(small_batches()[0])
    before = learner.counts
    x, y = small_batches()[1].x, small_batches()[1].y
    learner.remember = lambda batch: 1 / 0  # type: ignore[assignment]
    with pytest.raises(ZeroDivisionError):
        learner.observe(Batch(x, y))
    assert learner.counts is before


def seconds_a_batch(n_classes: int) -> float:
    spec = replace(small_spec(), n_classes=n_classes)
    learner = build_learner("smart", spec, 20_000, **SMALL)
    rng, spent = np.random.default_rng(0), []
    for _ in range(12):
        x = torch.from_numpy(rng.normal(size=(50, 20)).astype(np.float32))
        batch = Batch(x, torch.from_numpy(rng.integers(0, n_classes, 50)))
        start = process_time()
        learner.observe(batch)
        spent.append(process_time() - start)
    assert len(np.unique(learner.memory.store.labels)) > min(n_classes, 200) * 0.5
    return float(np.median(spent[4:]))


def test_a_thousand_classes_are_learned_at_a_cost_linear_in_them_at_most():
    assert seconds_a_batch(1000) < 10 * seconds_a_batch(100) + 0.05
