"""The two ends: nothing kept, and everything."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from helpers import SMALL, assert_same_state, small_batches, small_spec
from smartcl.learners.learner import Learner
from smartcl.learners.methods import METHODS
from smartcl.learners.recipe import Recipe
from smartcl.learners.weights import Labelled
from smartcl.memory.budget import UNBOUNDED
from smartcl.selection.reservoir import Everything

finetune, joint, er = (METHODS[name].learner for name in ("finetune", "joint", "er"))


def test_finetuning_is_plain_training_on_each_batch_in_turn():
    learner = finetune(small_spec(), 900, **SMALL)
    reference = finetune(small_spec(), 900, **SMALL)
    for batch in small_batches():
        assert len(learner.observe(batch).stored) == 0
        for _ in range(3):
            reference.model.descend(reference.loss([Labelled(batch.x, batch.y)]))
    assert len(learner.memory) == learner.memory.store.nbytes == 0
    assert_same_state(learner.model.state_dict(), reference.model.state_dict())


def test_joint_keeps_every_sample_whatever_the_budget():
    learner, batches = joint(small_spec(), 100, **SMALL), small_batches()
    for batch in batches:
        learner.observe(batch)
    assert learner.memory.budget.nbytes == UNBOUNDED
    got = learner.memory.store.gather(np.arange(60))
    assert torch.equal(got.x, torch.cat([batch.x for batch in batches]))
    assert torch.equal(got.y, torch.cat([batch.y for batch in batches]))


@pytest.mark.parametrize("alternating", [False, True])
def test_joint_is_replay_with_room_for_all(alternating):
    settings = {**SMALL, "replay": 100, "lr": 1e-3, "joint": not alternating}
    ours, plain = joint(small_spec(), 100, **settings), er(small_spec(), "1MB", **settings)
    for batch in small_batches():
        ours.observe(batch)
        plain.observe(batch)
    x = small_batches(seed=3)[0].x
    torch.testing.assert_close(ours.predict_proba(x), plain.predict_proba(x), atol=1e-4, rtol=0)


def test_everything_does_not_fit_a_bounded_memory():
    learner = Learner(small_spec(), 900, Recipe((12,), iterations=1), Everything(), whole=True)
    learner.observe(small_batches()[0])
    before = learner.state_dict()
    with pytest.raises(RuntimeError, match="Everything kept"):
        learner.observe(small_batches()[1])
    assert_same_state(learner.state_dict(), before)
