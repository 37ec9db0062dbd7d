"""A network as a member: when it takes steps, when it rests, and that the one that has learned is another."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
import torch
from made_samples import plain

from helpers import assert_same_state
from smartcl.data.batch import Batch
from smartcl.data.spec import InputSpec
from smartcl.learners.class_counts import ClassCounts
from smartcl.learners.ensemble.drift import CHANGED, NEW_TASK, Change
from smartcl.learners.ensemble.member import Past, Recent
from smartcl.learners.ensemble.network import NetworkMember
from smartcl.learners.ensemble.rows import Samples, View
from smartcl.learners.ensemble.settings import LATER, LONG_ROWS, SETTLED_ROWS, WIDE
from smartcl.learners.learner import Learner
from smartcl.learners.recipe import Recipe
from smartcl.memory.schematic_memory import SchematicMemory
from smartcl.network.inputs import prepare
from smartcl.saving.saved import Saved
from smartcl.selection.fair_shares import FairReservoir
from smartcl.selection.recent_and_past import RecentAndPast

NARROW, BROAD = InputSpec(n_features=4, n_classes=2), InputSpec(n_features=WIDE, n_classes=2)


def member(spec=NARROW):
    recipe = Recipe(hidden=(6,), lr=1e-2, iterations=3, replay=10)
    return NetworkMember.of("network", Learner(spec, "1MB", recipe, FairReservoir()))


def past(spec=NARROW, adds=True, seen=(10**6, 10**6), stored=40):
    """Beside a memory of a few rows."""
    memory = SchematicMemory(spec, "1MB", RecentAndPast(), whole=False, patience=3)
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(stored, spec.n_features)).astype(np.float32), rng.integers(0, 2, stored)
    batch = Batch(torch.from_numpy(x), torch.from_numpy(y))
    beside = {"role": np.zeros(stored, np.uint8)}
    memory.select(memory.candidates(batch, np.ones(spec.n_features, dtype=bool), beside), None, rng)
    counts = replace(ClassCounts.none(2), seen=np.array(seen), total=10**6)
    recent = Recent(x, x, y)
    stored_samples = Samples(View(torch.from_numpy(x), prepare=lambda x: x, scale=plain, features=lambda v: v), y)
    return Past(
        spec, memory, recent, counts, None, lambda v: v, np.random.default_rng(1), stored_samples.taken, adds=adds
    )


def batch_of(spec=NARROW, rows=50, seed=0):
    x = torch.from_numpy(np.random.default_rng(seed).normal(size=(rows, spec.n_features)).astype(np.float32))
    view = View(x, lambda rows: prepare(rows, spec), plain, lambda values: values)
    return Samples(view, (x[:, 0] > 0).numpy().astype(np.int64))


def steps_taken(adds, rows, spec=NARROW, known=None):
    """After each batch of fifty rows, whether the network has moved, and the member at the end."""
    known, moved = known or member(spec), []
    state = past(spec, adds)
    for number in range(rows // 50):
        after = known.learn(batch_of(spec, seed=number), state)
        moved.append(after.learner is not known.learner)
        known = after
    return np.array(moved), known


def test_on_narrow_rows_it_waits_then_tries_and_rests_if_it_adds_nothing():
    moved, known = steps_taken(adds=False, rows=SETTLED_ROWS + SETTLED_ROWS + 500)
    first, last = np.flatnonzero(moved)[[0, -1]]
    assert (first + 1) * 50 == SETTLED_ROWS
    assert (last + 1) * 50 == SETTLED_ROWS + SETTLED_ROWS - 50
    assert moved[first : last + 1].all()
    assert known.resting
    assert known.next_trial == LATER * (SETTLED_ROWS + SETTLED_ROWS)


def test_one_that_adds_something_goes_on():
    moved, known = steps_taken(adds=True, rows=SETTLED_ROWS + 2 * SETTLED_ROWS)
    assert moved[SETTLED_ROWS // 50 - 1 :].all()
    assert not known.resting


def test_the_next_trial_comes_when_several_times_as_many_rows_have_come():
    _, known = steps_taken(adds=False, rows=SETTLED_ROWS + SETTLED_ROWS + 50)
    soon = replace(known, rows=known.next_trial - 100)
    moved, _ = steps_taken(adds=False, rows=200, known=soon)
    assert moved.tolist() == [False, True, True, True]


def test_on_wide_rows_it_begins_at_once_and_has_longer():
    known = replace(member(BROAD), rows=LONG_ROWS - 150)
    assert not member(BROAD).resting
    moved, known = steps_taken(adds=False, rows=250, spec=BROAD, known=known)
    assert moved.tolist() == [True, True, False, False, False]
    assert known.resting


@pytest.mark.parametrize("spec", [NARROW, BROAD])
def test_a_class_never_seen_begins_a_trial_on_wide_rows(spec):
    resting = replace(member(spec), resting=True, rows=10**4, next_trial=10**6)
    new = past(spec, adds=False, seen=(10**6, 30))
    after = resting.learn(batch_of(spec), new)
    assert after.resting == (spec is NARROW)
    assert (after.learner is resting.learner) == (spec is NARROW)


def test_it_learns_and_the_one_before_stays_as_it_was():
    known = replace(member(), resting=False)
    before = deepcopy(known.state_dict())
    after, state = known, past()
    for number in range(80):
        after = after.learn(batch_of(seed=number), state)
    assert_same_state(known.state_dict(), before)
    rows = batch_of(seed=1000, rows=400)
    answers = after.answers(rows.rows, state)
    assert answers.shape == (400, 1, 2)
    np.testing.assert_allclose(np.exp(answers).sum(axis=2), 1, rtol=1e-5)
    # the stored labels are random and a sixth of what it learns
    assert (answers[:, 0].argmax(axis=1) == rows.y).mean() > 0.85


def test_what_has_changed_begins_anew_and_a_new_task_wakes_it_on_wide_rows():
    learned = replace(member(), resting=False).learn(batch_of(), past())
    changed = learned.after_change(Change(1, CHANGED, 0.3, 5.0, 1.0), past())
    assert changed.learner is not learned.learner
    assert not np.allclose(changed.answers(batch_of().rows, past()), learned.answers(batch_of().rows, past()))
    resting = replace(learned, resting=True)
    assert resting.after_change(Change(1, CHANGED, 0.3, 5.0, 1.0), past()) is resting
    assert resting.after_change(Change(1, NEW_TASK, 0.3, 5.0, 0.1), past()) is resting
    broad = replace(member(BROAD), resting=True, rows=7000)
    woken = broad.after_change(Change(1, NEW_TASK, 0.3, 5.0, 0.1), past(BROAD))
    assert (woken.resting, woken.began) == (False, 7000)


def test_later_classes_find_room():
    learned = replace(member(), resting=False).learn(batch_of(), past())
    wider = learned.widened(3, np.random.default_rng(0))
    assert wider.answers(batch_of().rows, past()).shape == (50, 1, 3)
    assert learned.answers(batch_of().rows, past()).shape == (50, 1, 2)


def test_a_saved_state_goes_on_the_same():
    learned = replace(member(), resting=False)
    for number in range(5):
        learned = learned.learn(batch_of(seed=number), past())
    again = member().loaded(Saved(learned.state_dict()))
    on = [each.learn(batch_of(seed=9), past()) for each in (learned, again)]
    assert_same_state(on[0].state_dict(), on[1].state_dict())
