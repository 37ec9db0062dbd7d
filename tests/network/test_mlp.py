"""The network against a plain ``nn.Sequential`` with the same weights, for every kind of input."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import sparse
from torch import nn

from smartcl.data.spec import InputSpec
from smartcl.network.inputs import Prepared, prepare
from smartcl.network.mlp import MLP

FEATURES = np.array([1, 2, 5, 6])
SPEC = InputSpec(n_features=8, n_classes=3)
SPARSE = InputSpec(n_features=8, n_classes=3, sparse=True)


def sequential(network: MLP, first: torch.Tensor) -> nn.Sequential:
    """The same function out of PyTorch's own layers; ``first`` is the first layer's ``[D, width]`` weight."""
    layers: list[nn.Module] = [nn.Linear(*first.shape)]
    with torch.no_grad():
        layers[0].weight.copy_(first.T)  # type: ignore[operator, union-attr]
        layers[0].bias.copy_(network.first.bias)  # type: ignore[operator, union-attr]
    for layer in network.layers:
        layers += [nn.ReLU(), layer]
    return nn.Sequential(*layers)


def dense_network(hidden: tuple[int, ...] = (5, 4), spec: InputSpec = SPEC) -> tuple[MLP, nn.Sequential]:
    network = MLP(spec, hidden, np.random.default_rng(0))
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.copy_(torch.from_numpy(np.random.default_rng(1).normal(size=tuple(parameter.shape))))
    return network, sequential(network, network.full_weights()["first.weight"])


def random_rows(n: int, seed: int = 0) -> torch.Tensor:
    """Rows that are zero outside ``FEATURES``; the second and the last are empty."""
    x = torch.zeros(n, 8)
    x[:, FEATURES] = torch.from_numpy(np.random.default_rng(seed).normal(size=(n, 4)).astype(np.float32))
    x[1] = x[-1] = 0.0
    return x


def kinds(x: torch.Tensor) -> dict[str, Prepared]:
    return {
        "dense": prepare(x, SPEC),
        "columns": prepare(x[:, FEATURES], SPEC, FEATURES),
        "sparse": prepare(sparse.csr_array(x.numpy()), SPEC),
    }


@pytest.mark.parametrize("kind", ["dense", "columns", "sparse"])
@pytest.mark.parametrize("hidden", [(6,), (5, 4), (3, 4, 2)])
def test_logits(kind: str, hidden: tuple[int, ...]) -> None:
    network, reference = dense_network(hidden)
    x = random_rows(7)
    torch.testing.assert_close(network(kinds(x)[kind]), reference(x), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    "parts", [("dense", "columns"), ("sparse", "sparse"), ("columns", "dense", "columns"), ("columns", "columns")]
)
def test_parts_follow_each_other(parts: tuple[str, ...]) -> None:
    network, reference = dense_network()
    rows = [random_rows(3 + i, seed=i) for i in range(len(parts))]
    logits = network(*(kinds(x)[kind] for x, kind in zip(rows, parts, strict=True)))
    torch.testing.assert_close(logits, reference(torch.cat(rows)), rtol=1e-6, atol=1e-6)


def test_gradients_of_the_kinds_agree() -> None:
    network, _ = dense_network()
    x = random_rows(7)
    slopes = []
    for part in kinds(x).values():
        network.zero_grad()
        network(part).square().sum().backward()
        slopes.append([parameter.grad.clone() for parameter in network.parameters() if parameter.grad is not None])
    for slope in slopes[1:]:
        torch.testing.assert_close(slope, slopes[0], rtol=1e-5, atol=1e-5)


def test_rows_without_any_value() -> None:
    network, reference = dense_network()
    empty = prepare(sparse.csr_array((2, 8), dtype=np.float32), SPARSE)
    torch.testing.assert_close(network(empty), reference(torch.zeros(2, 8)), rtol=1e-6, atol=1e-6)


def test_features_are_what_the_head_reads() -> None:
    network, reference = dense_network()
    x = random_rows(5)
    torch.testing.assert_close(network.features(x), reference[:-1](x), rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(network.features(x, "logits"), reference(x), rtol=1e-6, atol=1e-6)


def test_new_classes_leave_the_old_logits() -> None:
    network, reference = dense_network()
    x = random_rows(6)
    before = reference(x)
    network.add_classes(5, np.random.default_rng(2))
    after = network(x)
    assert after.shape == (6, 5)
    torch.testing.assert_close(after[:, :3], before, rtol=1e-6, atol=1e-6)
    assert torch.equal(network.head.bias[3:], torch.zeros(2))
    assert float(network.head.weight[3:].detach().abs().max()) <= np.sqrt(6 / (4 + 5))


def test_initial_weights_are_xavier_uniform() -> None:
    network = MLP(InputSpec(n_features=300, n_classes=10), (200, 50), np.random.default_rng(0))
    for name, weight in network.full_weights().items():
        if name.endswith("bias"):
            assert torch.equal(weight, torch.zeros_like(weight))
        else:
            bound = float(np.sqrt(6 / sum(weight.shape)))
            assert 0.98 * bound < float(weight.abs().max()) <= bound
            assert abs(float(weight.mean())) < 0.1 * bound
            assert float(weight.square().mean()) == pytest.approx(bound**2 / 3, rel=0.1)


def test_only_the_given_generator_is_drawn_from() -> None:
    before = torch.get_rng_state()
    first, again = (MLP(SPEC, (5, 4), np.random.default_rng(3)).full_weights() for _ in range(2))
    other = MLP(SPEC, (5, 4), np.random.default_rng(4)).full_weights()
    assert torch.equal(torch.get_rng_state(), before)
    for name in first:
        assert torch.equal(first[name], again[name])
    assert not torch.equal(first["first.weight"], other["first.weight"])


def test_the_widths_are_checked() -> None:
    with pytest.raises(ValueError, match="hidden"):
        MLP(SPEC, (), np.random.default_rng(0))


class TestRowTable:
    @pytest.fixture(autouse=True)
    def _small(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("smartcl.network.mlp.ROW_TABLE_WEIGHTS", 0)

    def network(self) -> MLP:
        network = MLP(SPARSE, (5, 4), np.random.default_rng(0))
        assert network.table is not None
        return network

    def test_logits(self) -> None:
        network, x = self.network(), random_rows(7)
        learned = network(kinds(x)["sparse"])
        assert network.table is not None
        assert len(network.table) == len(FEATURES)
        rows, places = network.table.peek(torch.arange(8))
        reference = sequential(network, rows[places])
        torch.testing.assert_close(learned, reference(x), rtol=1e-6, atol=1e-6)
        with torch.no_grad():
            assert torch.equal(network(kinds(x)["sparse"]), learned)

    def test_unseen_features_add_nothing(self) -> None:
        network, x = self.network(), random_rows(7)
        with torch.no_grad():
            before = network(kinds(x)["sparse"])
        torch.testing.assert_close(before, network.head.bias.expand(7, 3).detach())
        assert network.table is not None
        assert len(network.table) == 0

    def test_rows_without_any_value_can_be_learned_from(self) -> None:
        network = self.network()
        network(prepare(sparse.csr_array((2, 8), dtype=np.float32), SPARSE)).sum().backward()
        assert network.table is not None
        network.table.apply_gradient()
        assert len(network.table) == 0

    def test_dense_rows_are_refused(self) -> None:
        with pytest.raises(ValueError, match="CSR"):
            self.network()(torch.zeros(1, 8))
