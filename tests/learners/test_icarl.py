"""iCaRL: distillation and nearest means by their formulas, exemplars of a task from all of its samples."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from helpers import SMALL, assert_same_state, small_batches, small_spec
from smartcl.data.batch import Batch
from smartcl.learners.icarl import distillation, nearest_mean
from smartcl.learners.methods import METHODS
from smartcl.network import mlp
from smartcl.selection.herding import herd

icarl = METHODS["icarl"].learner


def union(batches: list[Batch]) -> Batch:
    return Batch(torch.cat([b.x for b in batches]), torch.cat([b.y for b in batches]), batches[0].task)


@given(st.integers(0, 10**6))
def test_distillation_differs_from_kl_divergence_by_the_entropy_of_what_was_stored(seed):
    draw = torch.Generator().manual_seed(seed)
    logits, stored = torch.randn(6, 4, generator=draw), 3 * torch.randn(6, 4, generator=draw)
    target = stored.softmax(dim=1)
    entropy = -(target * target.log()).sum(dim=1).mean()
    kl = F.kl_div(logits.log_softmax(dim=1), target, reduction="batchmean")
    torch.testing.assert_close(distillation(logits, stored), kl + entropy, atol=1e-5, rtol=1e-5)


def test_a_class_not_known_then_is_left_out():
    logits = torch.randn(5, 4, generator=torch.Generator().manual_seed(0)).requires_grad_()
    stored = torch.randn(5, 2, generator=torch.Generator().manual_seed(1))
    padded = F.pad(stored, (0, 2), value=-torch.inf)
    expected = distillation(logits[:, :2], stored)
    torch.testing.assert_close(distillation(logits, padded), expected)
    torch.testing.assert_close(distillation(logits, stored), expected)
    (slope,) = torch.autograd.grad(distillation(logits, padded), logits)
    assert slope.isfinite().all()
    assert not slope[:, 2:].any()


@given(seed=st.integers(0, 10**6), classes=st.integers(1, 7))
def test_the_nearest_mean_decides_the_label(seed, classes):
    rng = np.random.default_rng(seed)
    features, means = rng.normal(size=(9, 3)), rng.normal(size=(classes, 3))
    labels = rng.integers(0, 3, classes)
    answer = nearest_mean(*(torch.from_numpy(a) for a in (features, means, labels)), n_labels=4)
    for row, feature in zip(answer, features, strict=True):
        assert int(row.argmax()) == labels[np.linalg.norm(means - feature, axis=1).argmin()]
    torch.testing.assert_close(answer.sum(dim=1), torch.ones(9, dtype=torch.float64))
    unseen = np.setdiff1d(np.arange(4), labels)
    assert not answer[:, unseen].any()


def test_when_a_task_ends_its_exemplars_are_herded_from_all_of_it():
    learner = icarl(small_spec(), 2000, **SMALL)
    batches = small_batches(6, 20)
    first, second = union(batches[:3]), union(batches[3:])
    for task in (first, second):
        for start in range(0, 60, 20):
            learner.observe(task.take(np.arange(start, start + 20)))
        before = len(learner.memory)
        seen = learner.end_task(task)
        assert len(seen.kept) + len(seen.stored) == len(learner.memory) <= before + 1
    store = learner.memory.store
    assert store.nbytes <= 2000
    assert np.unique(store.extra["task"]).tolist() == [0, 1]
    for label in (0, 1):
        members = np.flatnonzero((second.y == label).numpy())
        with torch.no_grad():
            features = F.normalize(learner.model.network.features(second.x[members]))
        mine = np.flatnonzero((store.extra["task"] == 1) & (store.labels == label))
        expected = second.x[members[herd(features, len(mine))]]
        order = np.argsort(store.extra["score"][mine])
        assert torch.equal(store.gather(mine[order]).x, expected)


def test_exemplars_are_stored_with_the_logits_of_their_time():
    learner = icarl(small_spec(), 10**5, **SMALL)
    first, second = small_batches(2)
    learner.observe(first)
    with torch.no_grad():
        then = learner.model.network(first.x).half().numpy()
    learner.observe(Batch(second.x, second.y, 1))
    stored = learner.memory.store.extra["logits"][:10]
    assert np.array_equal(stored[:, :2], then)
    assert np.isneginf(stored[:, 2:]).all(), "the classes of the second task were not known"


def test_only_other_tasks_are_distilled():
    with_memory, without = icarl(small_spec(), 10**5, **SMALL), icarl(small_spec(), 100, **SMALL)
    for batch in small_batches(3):
        for learner in (with_memory, without):
            learner.observe(Batch(batch.x, batch.y, 7))
    for mine, theirs in zip(with_memory.model.network.parameters(), without.model.network.parameters(), strict=True):
        assert torch.equal(mine, theirs)


def test_a_step_is_cross_entropy_on_the_new_and_distillation_on_the_old():
    learner, reference = (icarl(small_spec(), 10**5, strength=0.7, **{**SMALL, "iterations": 1}) for _ in range(2))
    first, second = small_batches(2)
    learner.observe(first)
    reference.observe(first)
    learner.observe(Batch(second.x, second.y, 1))
    reference.meet(1, second.y)
    network, numbers = (
        reference.model.network,
        {label: 2 + i for i, label in enumerate(second.y.unique_consecutive()[:2].tolist())},
    )
    targets = torch.tensor([numbers[label] for label in second.y.tolist()])
    stored = torch.tensor(reference.memory.store.extra["logits"]).float()
    old = -(stored.softmax(dim=1) * network(first.x)[:, :2].log_softmax(dim=1)).sum(dim=1).mean()
    reference.model.descend(F.cross_entropy(network(second.x), targets) + 0.7 * old)
    for mine, theirs in zip(learner.model.network.parameters(), network.parameters(), strict=True):
        torch.testing.assert_close(mine, theirs, atol=1e-5, rtol=0)


def test_each_task_and_label_has_an_output_from_its_first_sample_on():
    learner = icarl(small_spec(), 10**4, **SMALL)
    batch = small_batches(1)[0]
    ones, zeros = (batch.take(np.flatnonzero((batch.y == label).numpy())) for label in (1, 0))
    for task, part in ((3, ones), (3, zeros), (8, ones)):
        learner.observe(Batch(part.x, part.y, task))
    assert learner.classes == ((3, 1), (3, 0), (8, 1))
    assert learner.model.network.head.out_features == 3
    assert learner.predict_proba(batch.x).shape == (10, 2)


@pytest.mark.parametrize("layer", ["penultimate", "logits"])
def test_prediction_is_by_the_nearest_mean_of_exemplars(layer):
    learner = icarl(small_spec(), 1500, layer=layer, **SMALL)
    for batch in small_batches():
        learner.observe(batch)
    x, store = small_batches(seed=5)[0].x, learner.memory.store
    got = store.gather(np.arange(len(store)))
    with torch.no_grad():
        network = learner.model.network
        unit = np.linalg.norm if layer == "penultimate" else lambda *_, **__: 1.0
        stored, features = (network.features(rows, layer).numpy() for rows in (got.x, x))
        stored, features = (f / unit(f, axis=1, keepdims=True) for f in (stored, features))
    means, labels = [], []
    for task in (0, 1):
        for label in (0, 1):
            chosen = stored[(store.extra["task"] == task) & (store.labels == label)].mean(axis=0)
            means.append(chosen / unit(chosen))
            labels.append(label)
    expected = [labels[int(np.linalg.norm(np.array(means) - f, axis=1).argmin())] for f in features]
    assert learner.predict_proba(x).argmax(dim=1).tolist() == expected


def test_before_the_first_batch_all_labels_are_alike():
    learner = icarl(small_spec(), 900, **SMALL)
    learner.add_classes(4)
    assert torch.equal(learner.predict_proba(small_batches()[0].x), torch.full((10, 4), 0.25))


@pytest.mark.parametrize("wide", [False, True])
def test_an_interrupt_takes_new_classes_back(wide, monkeypatch):
    if wide:
        monkeypatch.setattr(mlp, "ROW_TABLE_WEIGHTS", 0)
    learner, untouched = (icarl(small_spec(wide), 900, average=0.9, **SMALL) for _ in range(2))
    batches = small_batches(4, sparse_rows=wide)
    for each in (learner, untouched):
        each.observe(batches[0])
    before = learner.state_dict()
    for hear in (learner.observe, learner.end_task):
        with monkeypatch.context() as patch:
            patch.setattr("smartcl.selection.herding.herd", lambda *_, **__: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                hear(batches[2])
        assert_same_state(learner.state_dict(), before)
    for each in (learner, untouched):
        each.observe(batches[2])
        each.end_task(batches[2])
    assert_same_state(learner.state_dict(), untouched.state_dict())


def test_another_layer_is_refused():
    with pytest.raises(ValueError, match="layer must be"):
        icarl(small_spec(), 900, layer="first")


def test_a_batch_without_task_is_refused():
    learner = icarl(small_spec(), 900, **SMALL)
    first, second = small_batches(2)
    learner.observe(first)
    before = learner.state_dict()
    for hear in (learner.observe, learner.end_task):
        with pytest.raises(ValueError, match="task must be given with every batch"):
            hear(Batch(second.x, second.y))
    assert_same_state(learner.state_dict(), before)


def test_classes_may_be_added_and_the_budget_holds():
    learner = icarl(small_spec(), 900, **SMALL)
    first, second, third = small_batches(3)
    learner.observe(Batch(first.x, first.y, 0))
    learner.add_classes(4)
    assert learner.memory.store.nbytes <= 900
    for task, batch in enumerate((second, third), start=1):
        learner.observe(Batch(batch.x, batch.y + 2, task))
        assert learner.memory.store.nbytes <= 900
    old = learner.memory.store.extra["logits"][learner.memory.store.extra["task"] == 0]
    assert old.shape[1] == 6
    assert np.isneginf(old[:, 2:]).all()
    assert all(value.isfinite().all() for value in learner.model.network.parameters())
    assert learner.predict_proba(first.x).shape == (10, 4)
