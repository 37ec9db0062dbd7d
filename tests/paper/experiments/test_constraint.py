"""Eq. 2 along training, against gradients by autograd."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from helpers import SMALL, small_batches, small_spec
from smartcl.learners.methods import build_learner
from smartcl.network.inputs import prepare
from smartcl.paper.experiments.constraint import ConstraintProbe
from smartcl.paper.scores.bounds import l2_bound


def gradient(learner, rows, y):
    network = learner.model.network
    network.zero_grad()
    F.cross_entropy(network(rows), y).backward()
    kept = network.alive()
    pieces = [p.grad[kept] if name == "first.weight" else p.grad for name, p in network.named_parameters()]
    return torch.cat([piece.flatten() for piece in pieces])


def test_the_cosine_and_the_bound_are_those_of_autograds_gradients():
    learner, probe = build_learner("er", small_spec(), 900, **SMALL), ConstraintProbe()
    *before, last = small_batches()
    probe.look(learner, last, 1)
    assert probe.history["batches"] == []  # nothing stored yet, nothing to compare with
    for batch in before:
        learner.observe(batch)
    state = learner.rng.bit_generator.state
    probe.look(learner, last, 7)
    assert learner.rng.bit_generator.state == state
    new = gradient(learner, prepare(last.x, learner.spec), last.y)
    old = gradient(learner, *learner.read_weighted(learner.memory.store, np.arange(len(learner.memory)))[:2])
    history = probe.history
    assert history["batches"] == [7]
    assert history["cosine"][0] == pytest.approx(float(F.cosine_similarity(new, old, dim=0)), abs=1e-5)
    assert history["rise"][0] == pytest.approx(float(old.sum()), abs=1e-4)
    assert history["l2_bound"][0] == pytest.approx(l2_bound(new, old), rel=1e-4)
