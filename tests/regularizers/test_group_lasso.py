"""The group lasso: which features die in training, and that the dead ones change nothing."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from smartcl.data.spec import InputSpec
from smartcl.network.inputs import Prepared, prepare
from smartcl.network.mlp import MLP
from smartcl.network.optim import Adam
from smartcl.network.prox import prox_preconditioned, shrink_rows_
from smartcl.regularizers.group_lasso import FORMS, GroupLasso
from smartcl.saving.saved import Saved

SPEC = InputSpec(n_features=16, n_classes=2)
SPARSE = InputSpec(n_features=16, n_classes=2, sparse=True)
RELEVANT = 3


def train(lasso: GroupLasso, steps: int = 300, seed: int = 0) -> MLP:
    """Labels depend on the first three of sixteen features; new samples in each step."""
    rng = np.random.default_rng(seed)
    network = MLP(SPEC, (8,), rng)
    adam = Adam(network, lr=1e-2)
    for _ in range(steps):
        x = torch.from_numpy(rng.normal(size=(256, 16)).astype(np.float32))
        y = (x[:, :RELEVANT].sum(dim=1) > 0).long()
        adam.zero_grad()
        F.cross_entropy(network(x), y).backward()
        lasso.add_gradient(network)
        adam.step()
        lasso.after_step(network, adam)
        lasso.settle(network, adam)
    return network


@pytest.mark.parametrize(
    ("form", "strength", "threshold"), [("decoupled", 2.0, 0.0), ("exact", 0.03, 0.0), ("subgradient", 0.03, 0.03)]
)
def test_useless_features_reach_exactly_zero(form: str, strength: float, threshold: float) -> None:
    alive = train(GroupLasso(strength, form, threshold=threshold)).group_norms() > 0
    assert bool(alive[:RELEVANT].all())
    assert int(alive[RELEVANT:].sum()) <= 1


def test_the_subgradient_alone_gives_no_zero() -> None:
    norms = train(GroupLasso(0.03, "subgradient", threshold=0.0)).group_norms()
    assert bool((norms > 0).all())


@pytest.mark.parametrize("form", FORMS)
def test_no_strength_no_effect(form: str) -> None:
    plain, regularized = train(GroupLasso(0.0), steps=5), train(GroupLasso(0.0, form, threshold=10.0), steps=5)
    for mine, theirs in zip(plain.parameters(), regularized.parameters(), strict=True):
        assert torch.equal(mine, theirs)


def one_step() -> tuple[MLP, Adam, torch.Tensor]:
    network = MLP(SPEC, (8,), np.random.default_rng(0))
    adam = Adam(network, lr=1e-2)
    network(torch.ones(3, 16)).square().sum().backward()
    adam.step()
    return network, adam, network.full_weights()["first.weight"].clone()


def test_decoupled_shortens_every_row_by_lr_times_strength() -> None:
    network, adam, weight = one_step()
    GroupLasso(3.0).after_step(network, adam)
    shrink_rows_(weight, 1e-2 * 3.0)
    assert torch.equal(network.full_weights()["first.weight"], weight)
    assert GroupLasso(3.0).row_shrinkage(1e-2) == 1e-2 * 3.0


def test_exact_waits_for_the_end_of_the_batch_and_takes_the_strength_of_all_its_steps() -> None:
    network, adam, weight = one_step()
    lasso, loaded = GroupLasso(0.1, "exact"), GroupLasso(0.1, "exact")
    for _ in range(3):
        lasso.after_step(network, adam)
    assert torch.equal(network.full_weights()["first.weight"], weight)
    loaded.load_state_dict(Saved(lasso.state_dict()), network)
    loaded.settle(network, adam)
    first = next(network.parameters())
    expected = prox_preconditioned(weight, adam.metric("first.weight"), 0.1 * 3)
    assert torch.equal(first.detach(), expected)
    assert not torch.equal(first.detach(), weight)


def test_steps_may_be_settled_together_with_those_of_later_batches() -> None:
    network, adam, weight = one_step()
    lasso = GroupLasso(0.1, "exact", together=3)
    for steps in (1, 2):
        assert torch.equal(next(network.parameters()).detach(), weight)
        for _ in range(steps):
            lasso.after_step(network, adam)
        lasso.settle(network, adam)
    expected = prox_preconditioned(weight, adam.metric("first.weight"), 0.1 * 3)
    assert torch.equal(next(network.parameters()).detach(), expected)


def test_gradient_is_autograds() -> None:
    network, _, _ = one_step()
    lasso = GroupLasso(0.3, "subgradient")
    weight = next(network.parameters())
    with torch.no_grad():
        weight[2] = 0.0
    (slope,) = torch.autograd.grad(lasso.penalty(network), weight)
    assert weight.grad is not None
    before = weight.grad.clone()
    lasso.add_gradient(network)
    torch.testing.assert_close(weight.grad, before + slope, rtol=1e-6, atol=1e-6)
    rows = weight.detach().double().numpy()
    assert lasso.penalty(network).item() == pytest.approx(0.3 * sum(np.linalg.norm(row) for row in rows), rel=1e-6)


def on_row_table(lasso: GroupLasso, monkeypatch: pytest.MonkeyPatch) -> tuple[MLP, Adam]:
    """One step on the first eight features, then three more features seen before the transaction."""
    monkeypatch.setattr("smartcl.network.mlp.ROW_TABLE_WEIGHTS", 0)
    network = MLP(SPARSE, (8,), np.random.default_rng(0))
    adam = Adam(network, lr=1e-2)
    adam.schedule_rows(lasso.row_shrinkage(adam.lr), average=0.0)
    for features in (range(8, 11), range(8)):
        if features.start == 0:
            network.table.begin()
        x = np.eye(16, dtype=np.float32)[list(features)]
        network(prepare(sparse.csr_array(x), SPARSE)).square().sum().backward()
        lasso.add_gradient(network)
        adam.step()
        lasso.after_step(network, adam)
    return network, adam


def test_a_row_table_takes_the_exact_step_on_the_rows_that_are_active(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = []
    for strength in (0.0, 20.0):
        lasso = GroupLasso(strength, "exact")
        network, adam = on_row_table(lasso, monkeypatch)
        lasso.settle(network, adam)
        network.table.commit()
        tables.append((network, network.table))
    (_, plain), (network, table) = tables
    touched, sleeping = table._row_of[:8].long(), table._row_of[8:11].long()
    s = table.schedule
    metric = (plain.idle.square / (1 - s.betas[1] ** plain.step)).sqrt().add(s.eps) / s.lr
    expected = prox_preconditioned(plain.idle.weight[touched], metric[touched], 2 * 20.0)
    torch.testing.assert_close(table.idle.weight[touched], expected, rtol=1e-4, atol=1e-6)
    dead = (table.idle.weight[: len(table)] == 0).all(dim=1)
    assert 0 < int(dead[touched].sum()) < 8, "some rows must have died"
    assert not bool(table.idle.mean[: len(table)][dead].any()), "a dead row's momentum would revive it"
    torch.testing.assert_close(network.group_norms()[:11], table.rows().norm(dim=1)[table._row_of[:11].long()])
    assert torch.equal(network.alive(), (network.group_norms() > 0) | ~table.seen)
    assert bool(network.alive()[11:].all())
    assert len(sleeping) == 3


def test_on_rows_awake_the_subgradient_form_is_that_of_a_dense_layer(monkeypatch: pytest.MonkeyPatch) -> None:
    dense = MLP(SPARSE, (8,), np.random.default_rng(0))
    monkeypatch.setattr("smartcl.network.mlp.ROW_TABLE_WEIGHTS", 0)
    wide = MLP(SPARSE, (8,), np.random.default_rng(1))
    assert wide.table is not None
    wide.table.activate(torch.arange(16))
    wide.table.commit()
    start = dense.state_dict()
    wide.table.idle.weight[:16] = start.pop("first.weight")
    wide.load_state_dict(start)
    rows = prepare(sparse.csr_array(np.eye(16, dtype=np.float32)), SPARSE)
    for network in (dense, wide):
        lasso, adam = GroupLasso(3.0, "subgradient", threshold=0.15), Adam(network, lr=1e-2)
        adam.schedule_rows(0.0, 0.0)
        for _ in range(30):
            adam.zero_grad()
            network(rows).square().sum().backward()
            lasso.add_gradient(network)
            adam.step()
            lasso.after_step(network, adam)
        lasso.settle(network, adam)
    expected = dense.full_weights()["first.weight"]
    dead = (expected == 0).all(dim=1)
    assert 0 < int(dead.sum()) < 16
    torch.testing.assert_close(wide.full_weights()["first.weight"], expected, rtol=1e-4, atol=1e-6)
    wide.table.commit()
    assert torch.equal(wide.alive(), ~dead)


def test_the_form_is_checked() -> None:
    with pytest.raises(ValueError, match="form must be one of"):
        GroupLasso(0.1, "proximal")


def sparse_rows(x: torch.Tensor) -> Prepared:
    return prepare(sparse.csr_array(x.numpy()), SPARSE)


@given(st.integers(0, 2**32 - 1), st.sampled_from(["dense", "sparse", "row table"]))
def test_inputs_of_dead_features_change_no_bit(seed: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    spec = SPEC if kind == "dense" else SPARSE
    with pytest.MonkeyPatch.context() as patch:
        if kind == "row table":
            patch.setattr("smartcl.network.mlp.ROW_TABLE_WEIGHTS", 0)
        network = MLP(spec, (8, 5), rng)
    shrinkage = rng.uniform(0.15, 0.35) if kind == "row table" else rng.uniform(0.6, 1.0)
    lasso, adam = GroupLasso(float(shrinkage) / 1e-2), Adam(network, lr=1e-2)
    adam.schedule_rows(lasso.row_shrinkage(adam.lr), average=0.0)
    x = torch.from_numpy((rng.normal(size=(9, 16)) * (rng.random((9, 16)) < 0.3)).astype(np.float32))
    pieces = (x[:6], x[6:8], x[8:]) if kind == "row table" else (x,)
    for piece in pieces:
        adam.zero_grad()
        network(piece if kind == "dense" else sparse_rows(piece)).square().sum().backward()
        adam.step()
        lasso.after_step(network, adam)
    masked = x * (network.group_norms() > 0)
    with torch.no_grad():
        if kind == "dense":
            assert torch.equal(network(x), network(masked))
        else:
            assert torch.equal(network(sparse_rows(x)), network(sparse_rows(masked)))
