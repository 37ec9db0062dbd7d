"""DER++: its loss term by term, and logits that are those of the moment a sample was stored."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F

from helpers import SMALL, small_batches, small_spec
from smartcl.data.batch import Batch
from smartcl.learners.der import Dark, dark_distance
from smartcl.learners.extra_columns import logits_column
from smartcl.learners.methods import METHODS
from smartcl.learners.weights import Labelled

derpp = METHODS["der++"].learner


def test_the_distance_leaves_out_classes_not_known_then():
    draw = torch.Generator().manual_seed(0)
    logits, stored = torch.randn(5, 4, generator=draw).requires_grad_(), torch.randn(5, 2, generator=draw)
    expected = F.mse_loss(logits[:, :2], stored)
    padded = F.pad(stored, (0, 2), value=-torch.inf)
    torch.testing.assert_close(dark_distance(logits, padded), expected)
    torch.testing.assert_close(dark_distance(logits, stored), expected)
    (slope,) = torch.autograd.grad(dark_distance(logits, padded), logits)
    assert not slope[:, 2:].any()


def test_a_step_is_the_sum_of_three_terms():
    learner = derpp(small_spec(), 10**5, alpha=0.3, beta=0.6, replay=10, **SMALL)
    first, second = small_batches(2)
    learner.observe(first)
    network = learner.model.network
    stored = torch.tensor(learner.memory.store.extra["logits"]).float()
    replayed = F.cross_entropy(network(first.x), first.y)
    expected = F.cross_entropy(network(second.x), second.y) + 0.6 * replayed
    expected = expected + 0.3 * (network(first.x) - stored).square().mean()
    ours = learner.dark_loss(Labelled(second.x, second.y), Labelled(first.x, first.y), Dark(first.x, stored))
    torch.testing.assert_close(ours, expected)


def test_without_its_terms_nothing_is_replayed():
    silent, forgetful = (derpp(small_spec(), memory, alpha=0.0, beta=0.0, **SMALL) for memory in (10**5, 100))
    for batch in small_batches(1):
        silent.observe(batch)
        forgetful.observe(batch)
    for mine, theirs in zip(silent.model.network.parameters(), forgetful.model.network.parameters(), strict=True):
        assert torch.equal(mine, theirs)


def test_logits_are_those_of_the_moment_of_storing():
    learner = derpp(small_spec(), 10**5, **SMALL)
    first, second = small_batches(2)
    learner.observe(first)
    with torch.no_grad():
        then = learner.model.network(first.x).half().numpy()
    learner.observe(second)
    assert np.array_equal(learner.memory.store.extra["logits"][:10], then)
    assert learner.memory.store.columns.width == 1 + 4 + 2 * 2, "label, key and two half-precision logits are charged"


def test_logits_beyond_half_precision_are_cut():
    column = logits_column(torch.tensor([[1e9, -1e9, 0.5]]), n_classes=3)
    assert column.tolist() == [[65504.0, -65504.0, 0.5]]


def test_classes_may_be_added_and_the_budget_holds():
    learner = derpp(small_spec(), 900, **SMALL)
    first, second, third = small_batches(3)
    learner.observe(first)
    learner.add_classes(4)
    assert learner.memory.store.nbytes <= 900
    for batch in (second, third):
        learner.observe(Batch(batch.x, batch.y + 2))
        assert learner.memory.store.nbytes <= 900
    old = learner.memory.store.labels < 2
    assert old.any()
    assert np.isneginf(learner.memory.store.extra["logits"][old][:, 2:]).all()
    assert all(value.isfinite().all() for value in learner.model.network.parameters())
