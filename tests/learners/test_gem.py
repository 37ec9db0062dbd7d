"""GEM and A-GEM against a generic QP solver and against gradients taken one by one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import piqp
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from contract import assert_keeps_the_contract, assert_unchanged_by_an_interrupt
from helpers import SMALL, assert_same_state, small_batches, small_spec
from smartcl.data.batch import Batch
from smartcl.learners.gem import JITTER, project, project_on_one
from smartcl.learners.methods import METHODS
from smartcl.learners.weights import Labelled
from smartcl.network import mlp

gem, agem = METHODS["gem"].learner, METHODS["a-gem"].learner


def memories(seed: int, tasks: int, rank: int, scale: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """A gradient of a batch and of each task, of which only ``rank`` are independent, with some of them opposed."""
    rng = np.random.default_rng(seed)
    stored = rng.normal(size=(tasks, rank)) @ rng.normal(size=(rank, 30))
    return scale * rng.normal(size=30), scale * stored


def solved_by_piqp(K: np.ndarray, c: np.ndarray, margin: float) -> np.ndarray:
    n = len(c)
    solver = piqp.DenseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = 1e-11
    regularised = K + JITTER * np.trace(K) / n * np.eye(n)
    solver.setup(regularised, c, x_l=np.full(n, margin), x_u=np.full(n, np.inf))
    assert solver.solve() == piqp.PIQP_SOLVED
    return np.array(solver.result.x)


@pytest.mark.parametrize("margin", [0.0, 0.5])
@pytest.mark.parametrize("seed", range(10))
def test_the_projection_solves_the_dual_problem(seed, margin):
    g, stored = memories(seed, tasks=1 + seed % 6, rank=6)
    K, c = stored @ stored.T, stored @ g
    np.testing.assert_allclose(project(K, c, margin), solved_by_piqp(K, c, margin), atol=1e-6)


@given(
    seed=st.integers(0, 10**6),
    tasks=st.integers(1, 8),
    rank=st.integers(1, 3),
    scale=st.sampled_from([1e-12, 1e-3, 1.0, 1e6]),
    margin=st.sampled_from([0.0, 0.5]),
)
@settings(max_examples=40, deadline=None)
def test_any_memory_can_be_projected_on_and_is_not_opposed(seed, tasks, rank, scale, margin):
    g, stored = memories(seed, tasks, rank, scale)
    K = (stored @ stored.T).astype(np.float32).astype(np.float64)
    v = project(K, stored @ g, margin)
    assert (v >= margin).all()
    allowed = 1.01 * JITTER * np.trace(K) / tasks * v
    assert (stored @ (g + v @ stored) >= -allowed - 1e-6 * np.trace(K)).all()


def test_the_scale_of_the_loss_does_not_matter():
    g, stored = memories(0, tasks=4, rank=4)
    K, c = stored @ stored.T, stored @ g
    np.testing.assert_allclose(project(1e-8 * K, 1e-8 * c), project(K, c), rtol=1e-9)


def test_a_task_whose_gradients_cancel_out_to_less_than_rounding_is_no_obstacle():
    """Its square may then be negative: that of a task of flu-2013 was, and a run ended there."""
    g, stored = memories(1, tasks=3, rank=3)
    K, c = stored @ stored.T, stored @ g
    K[1], K[:, 1] = 0.0, 0.0
    without = K.copy()
    K[1, 1] = -0.1 * np.trace(K)
    v = project(K, c, margin=0.5)
    expected = solved_by_piqp(without + JITTER * (np.trace(K) - np.trace(without)) / 3 * np.eye(3), c, 0.5)
    np.testing.assert_allclose(v, expected, rtol=1e-3)


def test_a_memory_without_gradient_asks_for_no_more_than_the_margin():
    assert project(np.zeros((2, 2)), np.zeros(2), margin=0.5).tolist() == [0.5, 0.5]


def test_one_mean_gradient_is_made_orthogonal():
    g, stored = memories(3, tasks=1, rank=1)
    stored *= -np.sign(stored @ g)
    v = project_on_one(stored @ stored.T, stored @ g)
    assert abs(float(stored[0] @ (g + v @ stored))) < 1e-12


def gradients(learner, batch: Batch) -> torch.Tensor:
    """The flat gradient of the mean loss, by autograd."""
    network = learner.model.network
    loss = F.cross_entropy(network(batch.x), batch.y)
    return torch.cat([part.flatten() for part in torch.autograd.grad(loss, list(network.parameters()))])


def opposed(build, steps=1, **settings):
    """A learner of three tasks that fit its memory, and a batch of a fourth with the labels of the first turned.

    It will take so many steps on it.
    """
    learner = build(small_spec(), 10**6, 0, **{**SMALL, "hidden": (12, 7), "iterations": 20, **settings})
    first, *others = small_batches(3)
    for task, batch in enumerate((first, *others)):
        learner.observe(Batch(batch.x, batch.y, task))
    learner.recipe = learner.recipe.__class__(**{**learner.recipe.__dict__, "iterations": steps})
    past = [Batch(batch.x, batch.y) for batch in (first, *others)]
    return learner, past, Batch(first.x + 0.1, 1 - first.y, task=3)


def stepped(learner, gradient: torch.Tensor) -> dict[str, torch.Tensor]:
    """The weights after the optimizer follows this flat gradient."""
    network, optimizer = learner.model.network, learner.model.optimizer
    sizes = [p.numel() for p in network.parameters()]
    for parameter, part in zip(network.parameters(), gradient.split(sizes), strict=True):
        parameter.grad = part.reshape(parameter.shape).clone()
    optimizer.step()
    return {name: value.detach().clone() for name, value in network.named_parameters()}


@pytest.mark.parametrize("steps", [1, 3])
def test_gem_follows_the_projected_gradient(steps):
    learner, _, batch = opposed(gem, steps)
    reference, past, _ = opposed(gem)
    for _ in range(steps):
        stored = torch.stack([gradients(reference, task) for task in past]).double().numpy()
        g = gradients(reference, batch).double().numpy()
        assert (stored @ g < 0).any(), "the batch must oppose a task"
        turned = g + solved_by_piqp(stored @ stored.T, stored @ g, margin=0.5) @ stored
        expected = stepped(reference, torch.from_numpy(turned).float())
    learner.observe(batch)
    for name, value in learner.model.network.named_parameters():
        torch.testing.assert_close(value.detach(), expected[name], atol=1e-5, rtol=0)


def test_an_agem_step_is_orthogonal_to_the_mean_it_opposed():
    learner, past, batch = opposed(agem, replay=30)
    union = Batch(torch.cat([task.x for task in past]), torch.cat([task.y for task in past]))
    mean, g = gradients(learner, union).double(), gradients(learner, batch).double()
    assert mean @ g < 0, "the batch must oppose the memory"
    reference, _, _ = opposed(agem, replay=30)
    expected = stepped(reference, (g - (mean @ g) / (mean @ mean) * mean).float())
    learner.observe(batch)
    for name, value in learner.model.network.named_parameters():
        torch.testing.assert_close(value.detach(), expected[name], atol=1e-5, rtol=0)


@pytest.mark.parametrize("first_layer", ["dense", "sparse", "table"])
@pytest.mark.parametrize("build", [gem, agem])
def test_turned_slopes_are_those_of_the_turned_loss(build, first_layer, monkeypatch):
    """Whatever the first layer is, a step by known slopes is the step that autograd makes of the loss."""
    if first_layer == "table":
        monkeypatch.setattr(mlp, "ROW_TABLE_WEIGHTS", 0)
    spec = replace(small_spec(), sparse=first_layer != "dense")
    first, *others = small_batches(3)
    told, asked = (build(spec, 10**6, 0, **{**SMALL, "hidden": (12, 7), "iterations": 3}) for _ in range(2))
    turned = []

    def by_loss(new, guard):
        loss = asked.turned_loss(asked.model.network, new, guard)
        turned.append(loss is not None)
        return None if loss is None else (loss, None)

    monkeypatch.setattr(asked, "turned", by_loss)
    for task, (x, y) in enumerate([*((b.x, b.y) for b in (first, *others)), (first.x + 0.1, 1 - first.y)]):
        rows = x if first_layer == "dense" else sparse.csr_array(x.numpy())
        for learner in (told, asked):
            learner.observe(Batch(rows, y, task))
    assert any(turned)
    for name, value in asked.model.network.full_weights().items():
        torch.testing.assert_close(told.model.network.full_weights()[name], value, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("build", [gem, agem])
def test_a_step_that_opposes_nothing_is_a_plain_step(build):
    learner, past, _ = opposed(build)
    plain, _, _ = opposed(build)
    agreeing = Batch(torch.cat([b.x for b in past]), torch.cat([b.y for b in past]), task=3)
    plain.model.descend(plain.loss([Labelled(agreeing.x, agreeing.y)]))
    learner.observe(agreeing)
    assert_same_state(
        dict(learner.model.network.named_parameters()),
        dict(plain.model.network.named_parameters()),
    )


def test_a_schematic_memory_will_do():
    assert_keeps_the_contract(lambda spec, memory, seed: gem(spec, memory, seed, whole=False, **SMALL))


@pytest.mark.parametrize("build", [gem, agem])
def test_a_batch_without_task_is_refused(build):
    learner = build(small_spec(), 900, **SMALL)
    first, second = small_batches(2)
    learner.observe(first)
    before = learner.state_dict()
    for task, message in {None: "task must be given", -1: "task must lie in", 2**16: "task must lie in"}.items():
        with pytest.raises(ValueError, match=message):
            learner.observe(Batch(second.x, second.y, task))
    assert_same_state(learner.state_dict(), before)
    assert_unchanged_by_an_interrupt(learner, second)


def test_a_negative_margin_is_refused():
    with pytest.raises(ValueError, match="margin must be a number in"):
        gem(small_spec(), 900, margin=-0.1)


def test_a_memory_without_gradient_opposes_nothing():
    assert project_on_one(np.array([[0.0]]), np.array([0.0])) == [0.0]
    assert project_on_one(np.array([[1e-40]]), np.array([-1e-20])) == [0.0]
