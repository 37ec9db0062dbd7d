"""Algorithm 1: budget, determinism, all or nothing, resuming."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from helpers import SMALL, assert_same_state, small_batches, small_spec
from smartcl.data.batch import Batch
from smartcl.learners.learner import Learner
from smartcl.learners.methods import METHODS, build_learner
from smartcl.learners.recipe import Recipe
from smartcl.learners.weights import Labelled
from smartcl.memory import Schema
from smartcl.selection.reservoir import Reservoir

#: A group lasso that kills most of the small stream's useless features, not the useful one.
STRONG = {"alpha": 4.0, "form": "decoupled"}

PRESETS = ["smart", "smart-paper", "er", "gss-greedy"]


def small(method: str, memory: str | int = 900, sparse_rows: bool = False, seed: int = 0, **more: object) -> Learner:
    return build_learner(method, small_spec(sparse_rows), memory, seed, **{**SMALL, **more})


@pytest.mark.parametrize("method", PRESETS)
def test_a_seed_decides_everything(method):
    one, other, different = small(method), small(method), small(method, seed=1)
    for batch in small_batches():
        for learner in (one, other, different):
            learner.observe(batch)
    assert_same_state(one.state_dict(), other.state_dict())
    x = small_batches()[0].x
    assert not torch.equal(one.predict_proba(x), different.predict_proba(x))


def test_whole_and_schematic_stores_of_the_same_samples_train_alike():
    whole = Learner(small_spec(), "1MB", Recipe((12,), iterations=3), Reservoir(), whole=True)
    schematic = Learner(small_spec(), "1MB", Recipe((12,), iterations=3), Reservoir(), whole=False)
    for batch in small_batches():
        whole.observe(batch)
        schematic.observe(batch)
    assert len(whole.memory) == len(schematic.memory) == 60
    x = small_batches(seed=7)[0].x
    assert torch.equal(whole.predict_proba(x), schematic.predict_proba(x))


def test_the_joint_step_is_one_step_on_the_union():
    one = Learner(small_spec(), "1MB", Recipe((12,), iterations=1, replay=10), Reservoir())
    other = Learner(small_spec(), "1MB", Recipe((12,), iterations=1, replay=10), Reservoir())
    first, second = small_batches(2)
    one.observe(first)
    other.observe(first)
    one.observe(second)
    union = Batch(torch.cat([second.x, first.x]), torch.cat([second.y, first.y]))
    other.model.descend(other.loss([Labelled(union.x, union.y)]))
    for mine, theirs in zip(one.model.network.parameters(), other.model.network.parameters(), strict=True):
        torch.testing.assert_close(mine, theirs, atol=1e-6, rtol=0)


def test_alternating_steps_take_two():
    joint = Learner(small_spec(), "1MB", Recipe((12,), iterations=4), Reservoir())
    alternating = Learner(small_spec(), "1MB", Recipe((12,), iterations=4, joint=False), Reservoir())
    steps = []
    for learner in (joint, alternating):
        for batch in small_batches(2):
            learner.observe(batch)
        steps.append(learner.model.optimizer.steps)
    assert steps == [8, 12]


def test_nothing_is_forgotten_while_everything_fits():
    learner = small("smart", "1MB", alpha=1e4, form="decoupled")
    for batch in small_batches():
        learner.observe(batch)
    assert int((learner.model.network.group_norms() > 0).sum()) < 20, "the penalty must have killed features"
    assert len(learner.memory.store.schema) == 20
    assert len(learner.memory) == 60


def test_under_pressure_dead_features_go_first_and_make_room_for_samples():
    strict, none = small("smart", 1500, **STRONG, patience=1), small("smart", 1500, alpha=0.0)
    for batch in small_batches(12, 20):
        strict.observe(batch)
        none.observe(batch)
    assert len(strict.memory.store.schema) < 20 == len(none.memory.store.schema)
    assert len(strict.memory) > len(none.memory)


def test_dropping_features_changes_no_logit_bit():
    learner = small("smart", "1MB", **STRONG)
    for batch in small_batches(12, 20):
        learner.observe(batch)
    alive = learner.model.network.group_norms() > 0
    assert 0 < int(alive.sum()) < 20
    x = small_batches(seed=3)[0].x
    with torch.no_grad():
        assert torch.equal(learner.model.network(x), learner.model.network(x * alive))


def test_a_revived_feature_is_missing_in_older_samples_and_gets_no_gradient_from_them():
    learner = small("smart", 1500, **STRONG, patience=1)
    for batch in small_batches(12, 20):
        learner.observe(batch)
    dead = int(np.flatnonzero(~learner.memory.store.schema.mask)[0])
    with torch.no_grad():
        learner.model.network.first.weight[dead] = 1.0
    learner.remember(small_batches(1, 3, seed=5)[0])
    store = learner.memory.store
    assert store.schema.mask[dead]
    rows, y, _ = learner.read_weighted(store, np.arange(5))
    learner.model.optimizer.zero_grad()
    learner.loss([Labelled(rows, y)]).backward()
    assert not learner.model.network.first.weight.grad[dead].any()


def test_an_offset_transform_keeps_missing_at_zero():
    spec = replace(small_spec(), offset=0.5, scale=2.0)
    learner = build_learner("smart", spec, 1500, 0, **{**SMALL, **STRONG, "patience": 1})
    for batch in small_batches(12, 20):
        learner.observe(batch)
    store = learner.memory.store
    back = Schema.of(np.ones(20, dtype=bool))
    returned = np.flatnonzero(~store.schema.mask)
    assert len(returned) > 0
    rows, *_ = learner.read_weighted(store.extend(back), np.arange(5))
    known = np.setdiff1d(np.arange(20), returned)
    assert not rows[:, returned].any(), "missing is zero after the transform, though zero itself is not"
    zeros = store.gather(np.arange(5)).x == 0
    assert bool((rows[:, known][zeros] == -1.0).all())


def test_new_classes_keep_what_was_known():
    learner = small("smart")
    for batch in small_batches():
        learner.observe(batch)
    x = small_batches(seed=3)[0].x
    with torch.no_grad():
        before = learner.model.predictor(x)
    learner.add_classes(4)
    with torch.no_grad():
        torch.testing.assert_close(learner.model.predictor(x)[:, :2], before)
    batch = small_batches()[0]
    learner.observe(Batch(batch.x, torch.full((10,), 3)))
    assert learner.predict_proba(x).shape == (10, 4)


@pytest.mark.parametrize("method", list(METHODS))
def test_every_method_says_what_it_is(method):
    assert METHODS[method].summary.endswith(".")
    assert METHODS[method].citation


@pytest.mark.parametrize("method", ["der++", "icarl", "gem", "gdumb"])
def test_what_is_stored_beside_a_sample_is_found_out_once_a_batch(method, monkeypatch):
    """And once more before the first, to know what a sample will cost."""
    learner, calls = build_learner(method, small_spec(), 900, hidden=(12,)), []
    found = type(learner).extra_columns
    monkeypatch.setattr(type(learner), "extra_columns", lambda self, b: (calls.append(len(b)), found(self, b))[1])
    for batch in small_batches(3):
        learner.observe(batch)
    assert calls == [10] * 4


@pytest.mark.parametrize("method", ["icarl", "gem", "a-gem"])
@pytest.mark.parametrize("task", [None, -1, 2**16])
def test_a_later_batch_without_a_task_is_refused_before_it_is_learned(method, task, monkeypatch):
    learner, (first, later) = build_learner(method, small_spec(), 900, hidden=(12,)), small_batches(2)
    learner.observe(first)
    monkeypatch.setattr(type(learner), "learn", lambda *_: pytest.fail("learned"))
    with pytest.raises(ValueError, match="task must"):
        learner.observe(replace(later, task=task))
