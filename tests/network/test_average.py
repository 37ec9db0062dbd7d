"""The moving average of the weights, against the recursion written out."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from smartcl.data.spec import InputSpec
from smartcl.network.average import WeightAverage
from smartcl.network.mlp import MLP


def random_network() -> MLP:
    return MLP(InputSpec(n_features=4, n_classes=2), (3,), np.random.default_rng(0))


def move(network: MLP, rng: np.random.Generator) -> None:
    with torch.no_grad():
        for parameter in network.parameters():
            parameter += torch.from_numpy(rng.normal(size=tuple(parameter.shape)).astype(np.float32))


def test_follows_the_recursion() -> None:
    network, rng = random_network(), np.random.default_rng(1)
    average = WeightAverage(network, decay=0.8)
    expected = {name: value.double().numpy() for name, value in network.full_weights().items()}
    for step in range(1, 60):
        move(network, rng)
        average.update(network)
        decay = min(0.8, (1 + step) / (10 + step))
        for name, value in network.full_weights().items():
            expected[name] = decay * expected[name] + (1 - decay) * value.double().numpy()
    for name, value in average.network.full_weights().items():
        np.testing.assert_allclose(value.numpy(), expected[name], rtol=1e-5, atol=1e-5)


def test_looking_seldom_gives_nearly_the_same_average() -> None:
    network, rng = random_network(), np.random.default_rng(1)
    often, seldom = WeightAverage(network, decay=0.99), WeightAverage(network, decay=0.99, every=4)
    for _ in range(400):
        move(network, rng)
        often.update(network)
        seldom.update(network)
    for a, b, now in zip(*(n.full_weights().values() for n in (often.network, seldom.network, network)), strict=True):
        assert float((a - b).norm()) < 0.25 * float((a - now).norm())


def test_moves_on_its_own() -> None:
    network = random_network()
    average = WeightAverage(network, decay=0.8)
    before = average.network(torch.ones(1, 4))
    move(network, np.random.default_rng(1))
    assert torch.equal(average.network(torch.ones(1, 4)), before)
    assert not any(parameter.requires_grad for parameter in average.network.parameters())


def test_growth_keeps_the_average_and_starts_new_weights_where_they_are() -> None:
    network, rng = random_network(), np.random.default_rng(1)
    average = WeightAverage(network, decay=0.8)
    move(network, rng)
    average.update(network)
    before = average.network(torch.ones(1, 4))
    network.add_classes(3, rng)
    average.resize(network)
    torch.testing.assert_close(average.network(torch.ones(1, 4))[:, :2], before, rtol=1e-6, atol=1e-6)
    assert torch.equal(average.network.head.weight[2], network.head.weight[2])
    average.update(network)
    assert average.step == 2


@pytest.mark.parametrize("decay", [0.0, 1.0, -0.1, float("nan")])
def test_the_decay_is_checked(decay: float) -> None:
    with pytest.raises(ValueError, match="average must lie"):
        WeightAverage(random_network(), decay)
