"""Adam on a network that may grow, against ``torch.optim.Adam`` and its formula."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest
import torch

from helpers import assert_same_state
from smartcl.data.spec import InputSpec
from smartcl.network.mlp import MLP
from smartcl.network.optim import Adam

LR = 1e-2


def random_network(n_classes: int = 3) -> MLP:
    return MLP(InputSpec(n_features=6, n_classes=n_classes), (5, 4), np.random.default_rng(0))


def random_slopes(network: MLP, rng: np.random.Generator) -> list[torch.Tensor]:
    return [torch.from_numpy(rng.normal(size=tuple(p.shape)).astype(np.float32)) for p in network.parameters()]


def step(adam: Adam, slopes: list[torch.Tensor]) -> None:
    for parameter, slope in zip(adam.network.parameters(), slopes, strict=True):
        parameter.grad = slope.clone()
    adam.step()


def test_it_is_torch_adam() -> None:
    network = random_network()
    twin = deepcopy(network)
    adam = Adam(network, LR)
    reference = torch.optim.Adam(twin.parameters(), lr=LR, foreach=False)
    rng = np.random.default_rng(1)
    for _ in range(30):
        slopes = random_slopes(network, rng)
        step(adam, slopes)
        for parameter, slope in zip(twin.parameters(), slopes, strict=True):
            parameter.grad = slope
        reference.step()
    for mine, theirs in zip(network.parameters(), twin.parameters(), strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-5, atol=1e-6)


def test_zero_grad_forgets_the_gradients() -> None:
    adam = Adam(random_network(), LR)
    step(adam, random_slopes(adam.network, np.random.default_rng(1)))
    adam.zero_grad()
    assert all(parameter.grad is None for parameter in adam.network.parameters())


def test_the_metric_is_the_formula() -> None:
    network = random_network()
    adam, rng = Adam(network, LR), np.random.default_rng(1)
    square = 0.0
    for _ in range(7):
        slopes = random_slopes(network, rng)
        step(adam, slopes)
        square = 0.999 * square + 0.001 * slopes[0].double().numpy() ** 2
    expected = (np.sqrt(square / (1 - 0.999**7)) + 1e-8) / LR
    before = deepcopy(adam.state_dict())
    np.testing.assert_allclose(adam.metric("first.weight").numpy(), expected, rtol=1e-5)
    assert_same_state(adam.state_dict(), before)


def test_growth_keeps_the_moments() -> None:
    """Old weights go on as if nothing had grown; new ones follow Adam's formula from zero moments at this step."""
    network = random_network()
    adam, rng = Adam(network, LR), np.random.default_rng(1)
    for _ in range(5):
        step(adam, random_slopes(network, rng))
    narrow = deepcopy(network)
    narrow_adam = Adam(narrow, LR)
    narrow_adam.load_state_dict(adam.state_dict())
    network.add_classes(5, rng)
    adam.resize()
    started = network.head.weight[3:].detach().clone()
    moved = torch.zeros(2, 4)
    mean, square = torch.zeros(2, 4), torch.zeros(2, 4)
    for t in range(6, 10):
        slopes = random_slopes(network, rng)
        step(adam, slopes)
        step(narrow_adam, [slope[: p.shape[0]] for slope, p in zip(slopes, narrow.parameters(), strict=True)])
        mean, square = 0.9 * mean + 0.1 * slopes[-2][3:], 0.999 * square + 0.001 * slopes[-2][3:] ** 2
        moved -= LR * (mean / (1 - 0.9**t)) / ((square / (1 - 0.999**t)).sqrt() + 1e-8)
    for mine, theirs in zip(network.parameters(), narrow.parameters(), strict=True):
        torch.testing.assert_close(mine[: theirs.shape[0]], theirs, rtol=1e-6, atol=1e-7)
    torch.testing.assert_close(network.head.weight[3:].detach(), started + moved, rtol=1e-5, atol=1e-6)


def test_growth_before_the_first_step() -> None:
    adam, rng = Adam(random_network(), LR), np.random.default_rng(1)
    adam.network.add_classes(4, rng)
    adam.resize()
    before = adam.network.head.weight.detach().clone()
    step(adam, random_slopes(adam.network, rng))
    torch.testing.assert_close((adam.network.head.weight - before).abs(), torch.full((4, 4), LR), rtol=1e-3, atol=0)


@pytest.mark.parametrize("steps", [0, 4])
def test_a_saved_optimizer_goes_on_bit_for_bit(steps: int) -> None:
    network = random_network()
    adam, rng = Adam(network, LR), np.random.default_rng(1)
    for _ in range(steps):
        step(adam, random_slopes(network, rng))
    twin = deepcopy(network)
    loaded = Adam(twin, LR)
    step(loaded, random_slopes(twin, rng))
    for mine, theirs in zip(twin.parameters(), network.parameters(), strict=True):
        mine.data.copy_(theirs)
    saved = adam.state_dict()
    loaded.load_state_dict(saved)
    for _ in range(3):
        slopes = random_slopes(network, rng)
        step(adam, slopes)
        step(loaded, slopes)
    for mine, theirs in zip(network.parameters(), twin.parameters(), strict=True):
        assert torch.equal(mine, theirs)


def test_a_row_table_moves_with_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """All features in every step: then the table's rows are those of a dense layer."""
    monkeypatch.setattr("smartcl.network.mlp.ROW_TABLE_WEIGHTS", 0)
    spec = InputSpec(n_features=6, n_classes=3, sparse=True)
    network = MLP(spec, (5, 4), np.random.default_rng(0))
    assert network.table is not None
    adam = Adam(network, LR)
    adam.schedule_rows(shrink=0.0, average=0.0)
    features = torch.arange(6)
    weight = torch.nn.Parameter(network.table.activate(features)[0].detach().clone())
    reference = torch.optim.Adam([weight], lr=LR)
    rng = np.random.default_rng(1)
    for _ in range(10):
        leaf, _ = network.table.activate(features)
        leaf.grad = torch.from_numpy(rng.normal(size=(6, 5)).astype(np.float32))
        weight.grad = leaf.grad.clone()
        step(adam, random_slopes(network, rng))
        reference.step()
    torch.testing.assert_close(network.table.rows(), weight.detach(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("lr", [0.0, -1.0, float("nan")])
def test_the_learning_rate_is_checked(lr: float) -> None:
    with pytest.raises(ValueError, match="lr must be positive"):
        Adam(random_network(), lr)
