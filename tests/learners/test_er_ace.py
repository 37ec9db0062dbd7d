"""ER-ACE: only present classes compete on new samples; with all present it is experience replay."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from helpers import SMALL, small_batches
from smartcl.data.batch import Batch
from smartcl.data.spec import InputSpec
from smartcl.learners.er_ace import present_cross_entropy
from smartcl.learners.methods import METHODS
from smartcl.learners.weights import Labelled

er_ace, er = METHODS["er-ace"].learner, METHODS["er"].learner

FOUR_CLASSES = InputSpec(n_features=20, n_classes=4)


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_absent_classes_neither_compete_nor_move(smoothing):
    logits = torch.randn(6, 5, generator=torch.Generator().manual_seed(0)).requires_grad_()
    y = torch.tensor([1, 3, 3, 1, 1, 3])
    loss = present_cross_entropy(logits, y, smoothing)
    expected = F.cross_entropy(logits[:, [1, 3]], (y == 3).long(), label_smoothing=smoothing)
    torch.testing.assert_close(loss, expected)
    if not smoothing:
        masked = logits.masked_fill(torch.tensor([True, False, True, False, True]), -torch.inf)
        torch.testing.assert_close(loss, F.cross_entropy(masked, y))
    (slope,) = torch.autograd.grad(loss, logits)
    assert not slope[:, [0, 2, 4]].any()


@pytest.mark.parametrize("joint", [True, False])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_with_every_class_in_every_batch_it_is_experience_replay(joint, smoothing):
    spec = InputSpec(n_features=20, n_classes=2)
    settings = {**SMALL, "lr": 1e-3, "joint": joint, "smoothing": smoothing}
    ours, plain = er_ace(spec, 900, **settings), er(spec, 900, **settings)
    for batch in small_batches():
        assert len(batch.y.unique()) == 2
        ours.observe(batch)
        plain.observe(batch)
    for mine, theirs in zip(ours.model.network.parameters(), plain.model.network.parameters(), strict=True):
        torch.testing.assert_close(mine, theirs, atol=1e-4, rtol=0)


@pytest.mark.parametrize("joint", [True, False])
def test_new_classes_do_not_push_old_ones_away(joint):
    ours, plain = (build(FOUR_CLASSES, 10**5, joint=joint, **{**SMALL, "replay": 0}) for build in (er_ace, er))
    first, second = small_batches(2)
    for learner in (ours, plain):
        learner.observe(first)
        before = learner.model.network.head.bias.detach()[:2].clone()
        learner.model.optimizer.forget()
        learner.observe(Batch(second.x, second.y + 2))
        unmoved = torch.equal(learner.model.network.head.bias.detach()[:2], before)
        assert unmoved == (learner is ours)


def test_the_joint_loss_is_a_mean_over_all_samples():
    learner = er_ace(FOUR_CLASSES, 10**5, **SMALL)
    first, second = small_batches(2)
    new = Labelled(second.x[:4], second.y[:4] + 2)
    network = learner.model.network
    fresh = F.cross_entropy(network(new[0])[:, 2:], second.y[:4], reduction="sum")
    replayed = F.cross_entropy(network(first.x), first.y, reduction="sum")
    torch.testing.assert_close(learner.asymmetric_loss(new, Labelled(first.x, first.y)), (fresh + replayed) / 14)
