"""NCC against the formulas with the N x N matrix written out, in double precision."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch

from smartcl.data.spec import InputSpec
from smartcl.network.mlp import MLP
from smartcl.regularizers.ncc import NCC, neuron_importance, weight_importance

X, Y = torch.zeros(1, 7), torch.zeros(1, dtype=torch.long)


def slow_neuron_importance(theta: np.ndarray) -> np.ndarray:
    n, m = theta.shape
    h = np.abs(np.tanh(theta))
    p = np.zeros(n)
    for i in range(n):
        for j in range(n):
            p[i] += (sum(h[i, k] * h[j, k] for k in range(m)) / m) ** 2
    return p


def slow_weight_importance(thetas: list[np.ndarray], normalised: bool) -> list[np.ndarray]:
    neurons = [slow_neuron_importance(theta) for theta in thetas]
    if normalised:
        neurons = [p / len(p) for p in neurons]
        largest = max(p.mean() for p in neurons)
        neurons = [p / largest for p in neurons]
    neurons.append(np.ones(thetas[-1].shape[1]))
    return [p[:, None] * q[None, :] for p, q in pairwise(neurons)]


def random_network() -> MLP:
    network = MLP(InputSpec(n_features=7, n_classes=3), (6, 4), np.random.default_rng(0))
    move(network, np.random.default_rng(1))
    return network


def move(network: MLP, rng: np.random.Generator) -> None:
    with torch.no_grad():
        for parameter in network.parameters():
            parameter += torch.from_numpy(rng.normal(size=tuple(parameter.shape)).astype(np.float32))


def test_neuron_importance() -> None:
    theta = np.random.default_rng(0).normal(size=(9, 5))
    expected = slow_neuron_importance(theta)
    np.testing.assert_allclose(neuron_importance(torch.from_numpy(theta)).numpy(), expected, rtol=1e-12)
    np.testing.assert_allclose(neuron_importance(torch.from_numpy(theta).float()).numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("normalised", [True, False])
def test_consolidation_protects_by_the_formula(normalised: bool) -> None:
    network = random_network()
    ncc = NCC(2.0, normalised)
    ncc.consolidate(network, X, Y)
    weights = {name: value.double().numpy() for name, value in network.full_weights().items()}
    chain = [weights["first.weight"], weights["layers.0.weight"].T, weights["layers.1.weight"].T]
    first, second, third = slow_weight_importance(chain, normalised)
    expected = {"first.weight": first, "layers.0.weight": second.T, "layers.1.weight": third.T}
    assert ncc.importance.keys() == expected.keys()
    for name, importance in expected.items():
        np.testing.assert_allclose(ncc.importance[name].numpy(), importance, rtol=2e-6)

    anchors = {name: weights[name] for name in expected}
    move(network, np.random.default_rng(2))
    moved = {name: value.double().numpy() for name, value in network.full_weights().items()}
    penalty = 2.0 * sum((expected[name] * (moved[name] - anchors[name]) ** 2).sum() for name in expected)
    assert ncc.penalty(network).item() == pytest.approx(penalty, rel=1e-5)


def test_gradient_is_autograds() -> None:
    network, ncc = random_network(), NCC(0.7)
    ncc.consolidate(network, X, Y)
    move(network, np.random.default_rng(2))
    network(torch.ones(2, 7)).square().sum().backward()
    data = [parameter.grad.clone() for parameter in network.parameters() if parameter.grad is not None]
    ncc.add_gradient(network)
    slopes = torch.autograd.grad(ncc.penalty(network), list(network.parameters()), allow_unused=True)
    for parameter, before, slope in zip(network.parameters(), data, slopes, strict=True):
        assert parameter.grad is not None
        torch.testing.assert_close(parameter.grad, before if slope is None else before + slope, rtol=1e-5, atol=1e-5)


def test_dead_weights_do_not_divide_by_zero() -> None:
    for importance in weight_importance([torch.zeros(4, 3), torch.zeros(3, 2)]):
        assert torch.equal(importance, torch.zeros_like(importance))


def test_many_inputs_need_no_square_matrix() -> None:
    """200,000 x 200,000 numbers would be 160 GB."""
    theta = torch.from_numpy(np.random.default_rng(0).normal(size=(200_000, 8)).astype(np.float32))
    p = neuron_importance(theta)
    h = theta[:5].double().tanh().abs() @ theta.double().tanh().abs().T
    np.testing.assert_allclose(p[:5].numpy(), ((h / 8) ** 2).sum(dim=1).numpy(), rtol=1e-4)
