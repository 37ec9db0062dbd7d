"""The quadratic penalty on a network that grew, and on the rows of a row table."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import sparse

from smartcl.data.spec import InputSpec
from smartcl.network.inputs import SparseInput, prepare
from smartcl.network.mlp import MLP
from smartcl.regularizers.regularizer import QuadraticPenalty
from smartcl.saving.saved import Saved

SPARSE = InputSpec(n_features=12, n_classes=2, sparse=True)


def move(network: MLP, rng: np.random.Generator) -> None:
    with torch.no_grad():
        for parameter in network.parameters():
            parameter += torch.from_numpy(rng.normal(size=tuple(parameter.shape)).astype(np.float32))


def anchored(network: MLP, strength: float = 0.5) -> QuadraticPenalty:
    """A penalty with a random importance for every weight."""
    rng = np.random.default_rng(5)
    penalty = QuadraticPenalty(strength)
    weights = network.full_weights()
    importance = {name: torch.from_numpy(rng.random(tuple(w.shape)).astype(np.float32)) for name, w in weights.items()}
    penalty.anchor_at(network, importance)
    return penalty


def test_weights_at_their_anchors_cost_nothing_until_they_move() -> None:
    network = MLP(InputSpec(n_features=4, n_classes=2), (3,), np.random.default_rng(0))
    penalty = anchored(network)
    assert penalty.penalty(network).item() == 0.0
    move(network, np.random.default_rng(1))
    assert penalty.penalty(network).item() > 0.0


def test_after_growth_new_weights_are_free() -> None:
    network, rng = MLP(InputSpec(n_features=4, n_classes=2), (3,), np.random.default_rng(0)), np.random.default_rng(1)
    penalty = anchored(network)
    old = {name: value.clone() for name, value in network.full_weights().items()}
    network.add_classes(5, rng)
    move(network, rng)
    expected = 0.0
    for name, value in network.full_weights().items():
        change = value[tuple(slice(0, size) for size in old[name].shape)] - old[name]
        expected += 0.5 * float((penalty.importance[name] * change**2).sum())
    assert penalty.penalty(network).item() == pytest.approx(expected, rel=1e-5)

    slopes = torch.autograd.grad(penalty.penalty(network), list(network.parameters()))
    for parameter in network.parameters():
        parameter.grad = torch.ones_like(parameter)
    penalty.add_gradient(network)
    for parameter, slope in zip(network.parameters(), slopes, strict=True):
        assert parameter.grad is not None
        torch.testing.assert_close(parameter.grad, 1 + slope, rtol=1e-5, atol=1e-6)
    assert network.head.weight.grad is not None
    assert torch.equal(network.head.weight.grad[2:], torch.ones(3, 3))


def rows_of(features: list[int]) -> SparseInput:
    x = np.zeros((2, 12), dtype=np.float32)
    x[:, features] = 1.0
    part = prepare(sparse.csr_array(x), SPARSE)
    assert isinstance(part, SparseInput)
    return part


def test_rows_of_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """Known rows in the batch are pulled to their anchors, new rows are free, and the rest has no gradient at all."""
    monkeypatch.setattr("smartcl.network.mlp.ROW_TABLE_WEIGHTS", 0)
    network, rng = MLP(SPARSE, (3,), np.random.default_rng(0)), np.random.default_rng(1)
    table = network.table
    assert table is not None
    for features in ([8, 3], [1, 3, 10]):
        network(rows_of(features)).square().sum().backward()
        table.apply_gradient()
    penalty = anchored(network)
    anchor_of = dict(zip([3, 8, 1, 10], penalty.anchors["first.weight"], strict=True))
    importance_of = dict(zip([3, 8, 1, 10], penalty.importance["first.weight"], strict=True))
    network.zero_grad()
    network(rows_of([1, 3, 8])).square().sum().backward()
    table.apply_gradient()
    move(network, rng)

    rows, places = table.peek(torch.tensor(list(anchor_of)))
    current = dict(zip(anchor_of, rows[places], strict=True))
    expected = sum(float((importance_of[f] * (current[f] - anchor_of[f]) ** 2).sum()) for f in anchor_of)
    for name, value in network.named_parameters():
        expected += (penalty.importance[name] * (value - penalty.anchors[name]) ** 2).sum().item()
    assert penalty.penalty(network).item() == pytest.approx(0.5 * expected, rel=1e-5)

    table.commit()
    batch = [3, 10, 0, 11]
    network(rows_of(batch)).square().sum().backward()
    rows, leaf = table.active
    assert rows.tolist() == [0, 3, 4, 5]
    assert leaf.grad is not None
    before = leaf.grad.clone()
    penalty.add_gradient(network)
    for place, feature in enumerate(batch):
        pull = torch.zeros(3)
        if feature in anchor_of:
            pull = 2 * 0.5 * importance_of[feature] * (leaf[place].detach() - anchor_of[feature])
            assert bool((pull != 0).any())
        torch.testing.assert_close(leaf.grad[place], before[place] + pull, rtol=1e-5, atol=1e-6)


def test_rows_that_wake_between_steps_and_new_anchors_are_not_taken_for_those_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("smartcl.network.mlp.ROW_TABLE_WEIGHTS", 0)
    network = MLP(SPARSE, (3,), np.random.default_rng(0))
    table = network.table
    assert table is not None
    kept = anchored(network)
    assert not len(kept.anchors["first.weight"]), "nothing was seen yet"

    def moved_by(penalty: QuadraticPenalty) -> torch.Tensor:
        _, leaf = table.active
        leaf.grad = torch.zeros_like(leaf)
        penalty.add_gradient(network)
        return leaf.grad

    for step, features in enumerate([[1, 3], [1, 3], [3, 8], [0, 1], [0, 1]]):
        network(rows_of(features)).square().sum().backward()
        table.apply_gradient()
        fresh = QuadraticPenalty(kept.strength)
        fresh.load_state_dict(Saved(kept.state_dict()), network)
        assert torch.equal(moved_by(kept), moved_by(fresh))
        assert bool(moved_by(kept).any()) == (step >= 2), "rows have moved since they were anchored"
        if step in (1, 3):
            kept.anchor_at(network, {name: torch.ones_like(w) for name, w in network.full_weights().items()})


def test_a_saved_penalty_goes_on() -> None:
    network = MLP(InputSpec(n_features=4, n_classes=2), (3,), np.random.default_rng(0))
    penalty, loaded = anchored(network), QuadraticPenalty(0.5)
    loaded.load_state_dict(Saved(penalty.state_dict()), network)
    move(network, np.random.default_rng(1))
    assert torch.equal(loaded.penalty(network), penalty.penalty(network))
