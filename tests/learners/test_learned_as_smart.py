"""Memories of others under smart's training: the training is smart's own, the memory is theirs."""

from __future__ import annotations

import pytest
import torch

from helpers import small_batches, small_spec
from smartcl.learners.der import dark_distance
from smartcl.learners.method_settings import SmartTraining
from smartcl.learners.methods import METHODS, build_learner
from smartcl.selection.reservoir import Everything

QUICK = {"hidden": (12,), "lr": 1e-2, "iterations": 3, "replay": 10}
NAMES = ("er-smart", "der++-smart", "joint-smart")


@pytest.mark.parametrize("method", NAMES)
def test_the_training_is_what_smart_has(method: str) -> None:
    smart, theirs = METHODS["smart"].parameters, METHODS[method].parameters
    assert SmartTraining().as_dict() == {name: smart[name] for name in SmartTraining().as_dict()}
    assert {name: theirs[name] for name in SmartTraining().as_dict()} == SmartTraining().as_dict()


def test_with_one_memory_er_joint_and_smart_are_one_learner() -> None:
    """The memory is all that differs: with a policy that keeps everything, nothing does."""
    learners = [build_learner(name, small_spec(), 10**6, 0, **QUICK) for name in ("smart", "er-smart", "joint-smart")]
    for learner in learners:
        learner.memory.selector = Everything()
    for batch in small_batches(4):
        for learner in learners:
            learner.observe(batch)
    answers = [learner.predict_proba(small_batches(seed=5)[0].x) for learner in learners]
    assert all(torch.equal(answers[0], each) for each in answers[1:])


@torch.no_grad()
def far_from_stored(dark: float) -> float:
    """How far the answers to stored samples are from the stored ones, with pulls of this strength."""
    learner = build_learner("der++-smart", small_spec(), 10**6, 0, **{**QUICK, "iterations": 20}, dark=dark)
    for batch in small_batches(3):
        with torch.enable_grad():
            learner.observe(batch)
    rows, stored = learner.draw_dark(20)
    return float(dark_distance(learner.model.network(rows), stored))


def test_stored_logits_pull_by_their_strength() -> None:
    assert far_from_stored(5.0) < far_from_stored(0.0) / 2
