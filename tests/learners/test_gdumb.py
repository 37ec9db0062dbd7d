"""GDumb: a prediction is that of a network trained on the memory alone, and asking changes nothing."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from helpers import assert_same_state, small_batches, small_spec
from smartcl.data.batch import Batch
from smartcl.learners.methods import METHODS
from smartcl.network import mlp

gdumb = METHODS["gdumb"].learner

QUICK = {"hidden": (12,), "lr": 1e-2, "epochs": 3, "replay": 4}


def learned(memory=900, **settings):
    learner = gdumb(small_spec(), memory, **{**QUICK, **settings})
    for batch in small_batches():
        learner.observe(batch)
    return learner


def test_a_prediction_is_that_of_a_network_trained_on_the_memory_from_scratch():
    learner = learned()
    rng = deepcopy(learner.rng)
    network = mlp.MLP(learner.spec, (12,), rng)
    adam = torch.optim.Adam(network.parameters(), lr=1e-2, fused=True)
    got = learner.memory.store.gather(np.arange(len(learner.memory)))
    for _ in range(3):
        order = torch.from_numpy(rng.permutation(len(got.y)))
        for index in order.split(4):
            adam.zero_grad()
            F.cross_entropy(network(got.x[index]), got.y[index]).backward()
            adam.step()
    x = small_batches(seed=3)[0].x
    with torch.no_grad():
        torch.testing.assert_close(learner.predict_proba(x), network(x).softmax(dim=1))


def test_it_learns_what_the_memory_shows():
    x = small_batches(rows=200, seed=3)[0]
    answer = learned(memory="1MB", epochs=50).predict_proba(x.x).argmax(dim=1)
    assert (answer == x.y).float().mean() > 0.85


def test_asking_changes_nothing_and_trains_once():
    learner = learned()
    before, x = learner.state_dict(), small_batches(seed=3)[0].x
    first = learner.predict_proba(x)
    model = learner.trained()
    assert torch.equal(learner.predict_proba(x), first)
    assert learner.trained() is model
    assert_same_state(learner.state_dict(), before)
    learner.observe(small_batches(seed=4)[0])
    assert learner.trained() is not model


def test_a_class_added_is_in_the_answer():
    learner = learned()
    x = small_batches(seed=3)[0].x
    learner.predict_proba(x)
    learner.add_classes(3)
    assert learner.predict_proba(x).shape == (10, 3)


def test_without_samples_it_answers_all_the_same():
    answer = gdumb(small_spec(), 900, **QUICK).predict_proba(small_batches()[0].x)
    torch.testing.assert_close(answer.sum(dim=1), torch.ones(10))


@pytest.mark.parametrize("tasks", [True, False])
def test_the_memory_is_balanced_by_task_and_label_or_by_label(tasks):
    learner = gdumb(small_spec(), 1100, **QUICK)
    for number, batch in enumerate(small_batches(8, 20)):
        batch = batch.take(np.flatnonzero((batch.y == 0).numpy() | (np.arange(20) < 8)))
        learner.observe(Batch(batch.x, batch.y, int(number >= 6) if tasks else None))
    store = learner.memory.store
    groups = store.labels + (2 * store.extra["task"] if tasks else 0)
    counts = np.bincount(groups)
    assert len(counts) == (4 if tasks else 2)
    assert counts.max() - counts.min() <= 1


def test_task_ids_come_with_every_batch_or_with_none():
    first, second = small_batches(2)
    for task, other in ((0, None), (None, 0)):
        learner = gdumb(small_spec(), 900, **QUICK)
        learner.observe(Batch(first.x, first.y, task))
        before = learner.state_dict()
        with pytest.raises(ValueError, match="task must be given with every batch or with none"):
            learner.observe(Batch(second.x, second.y, other))
        assert_same_state(learner.state_dict(), before)


def test_at_least_one_epoch():
    with pytest.raises(ValueError, match="epochs must be a whole number from 1"):
        gdumb(small_spec(), 900, epochs=0)
