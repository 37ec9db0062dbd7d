"""Gradient geometry against one backward pass per sample, in double precision."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from scipy import sparse
from torch import nn

from smartcl.data.spec import InputSpec
from smartcl.network.gradients import (
    Trace,
    cosine_matrix,
    cosines_to_mean,
    mean_gradient,
    trace,
)
from smartcl.network.inputs import prepare
from smartcl.network.mlp import MLP

FEATURES = np.array([0, 2, 3, 7])
KINDS = ["dense", "columns", "sparse", "row table"]


def per_sample_gradients(module: nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    rows = []
    for i in range(len(x)):
        loss = F.cross_entropy(module(x[i : i + 1]), y[i : i + 1])
        rows.append(torch.cat([slope.flatten() for slope in torch.autograd.grad(loss, list(module.parameters()))]))
    return torch.stack(rows)


def random_samples(n: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    rng = np.random.default_rng(seed)
    x = np.zeros((n, 9), dtype=np.float32)
    x[:, FEATURES] = rng.normal(size=(n, 4)) * (rng.random((n, 4)) < 0.7)
    return torch.from_numpy(x), torch.from_numpy(rng.integers(0, 3, n))


class Case:
    """A network, rows as it takes them, and the same in plain layers of double precision."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.spec = InputSpec(n_features=9, n_classes=3, sparse=kind in ("sparse", "row table"))
        self.network = MLP(self.spec, (6, 5), np.random.default_rng(0))
        table = self.network.table
        assert (table is not None) == (kind == "row table")
        if table is not None:
            table.activate(torch.tensor([0, 2, 7]))
        with torch.no_grad():
            for value in self.network.parameters():
                value += torch.from_numpy(np.random.default_rng(1).normal(size=tuple(value.shape)).astype(np.float32))

    def trace(self, x: torch.Tensor, y: torch.Tensor) -> Trace:
        if self.spec.sparse:
            return trace(self.network, prepare(sparse.csr_array(x.numpy()), self.spec), y)
        if self.kind == "columns":
            return trace(self.network, prepare(x[:, FEATURES], self.spec, FEATURES), y)
        return trace(self.network, prepare(x, self.spec), y)

    def reference(self) -> nn.Module:
        if self.network.table is None:
            first = self.network.full_weights()["first.weight"]
        else:
            rows, places = self.network.table.peek(torch.arange(9))
            first = rows[places]
        layers: list[nn.Module] = [nn.Linear(9, 6), nn.ReLU(), nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 3)]
        sources = [(first.T, self.network.first.bias), *((layer.weight, layer.bias) for layer in self.network.layers)]
        with torch.no_grad():
            for layer, (weight, bias) in zip(layers[::2], sources, strict=True):
                layer.weight.copy_(weight)  # type: ignore[operator, union-attr]
                layer.bias.copy_(bias)  # type: ignore[operator, union-attr]
        return nn.Sequential(*layers).double()

    def gradients(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return per_sample_gradients(self.reference(), x.double(), y)


@pytest.fixture(params=KINDS)
def case(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Case:
    if request.param == "row table":
        monkeypatch.setattr("smartcl.network.mlp.ROW_TABLE_WEIGHTS", 0)
    return Case(request.param)


def assert_near(mine: torch.Tensor, reference: torch.Tensor) -> None:
    torch.testing.assert_close(mine.double(), reference, rtol=1e-5, atol=1e-5 * float(reference.abs().max()))


def test_gram_norms_and_cosines(case: Case) -> None:
    (x, y), (batch_x, batch_y) = random_samples(6, seed=1), random_samples(5, seed=2)
    mine, batch = case.trace(x, y), case.trace(batch_x, batch_y)
    g, b = case.gradients(x, y), case.gradients(batch_x, batch_y)
    assert_near(mine.gram(batch), g @ b.T)
    assert_near(mine.squared_norms(), g.square().sum(dim=1))
    cosines = cosines_to_mean(mine.gram(batch), mine.squared_norms(), batch.gram(batch))
    assert_near(cosines, F.cosine_similarity(g, b.mean(dim=0, keepdim=True)))
    matrix = cosine_matrix(mine.gram(batch), mine.squared_norms(), batch.squared_norms())
    assert_near(matrix, F.cosine_similarity(g[:, None], b[None], dim=2))


def test_a_trace_changes_nothing(case: Case) -> None:
    x, y = random_samples(4, seed=1)
    before = {name: value.clone() for name, value in case.network.full_weights().items()}
    case.trace(x, y)
    assert all(parameter.grad is None for parameter in case.network.parameters())
    assert all(torch.equal(value, before[name]) for name, value in case.network.full_weights().items())


def test_new_rows_against_a_memory_of_fewer_features() -> None:
    case, other = Case("dense"), Case("columns")
    (x, y), (kept_x, kept_y) = random_samples(4, seed=1), random_samples(3, seed=2)
    x = x + 1.0
    expected = case.gradients(x, y) @ case.gradients(kept_x, kept_y).T
    assert_near(case.trace(x, y).gram(other.trace(kept_x, kept_y)), expected)
    assert_near(other.trace(kept_x, kept_y).gram(case.trace(x, y)), expected.T)


def test_a_zero_gradient_has_no_direction() -> None:
    g = torch.tensor([[0.0, 0.0], [3.0, 4.0]])
    cosines = cosine_matrix(g @ g.T, g.square().sum(1), g.square().sum(1))
    torch.testing.assert_close(cosines, torch.tensor([[0.0, 0.0], [0.0, 1.0]]))


@pytest.mark.parametrize("kind", ["dense", "columns", "sparse"])
def test_the_mean_gradient_is_autograds(kind):
    rng = np.random.default_rng(0)
    spec = InputSpec(n_features=6, n_classes=3, sparse=kind == "sparse")
    network = MLP(spec, (5, 4), rng)
    x = rng.random((7, 6)).astype(np.float32) * (rng.random((7, 6)) < 0.5)
    y = torch.from_numpy(rng.integers(0, 3, 7))
    some = np.array([0, 2, 5])
    rows = {
        "dense": lambda: prepare(torch.from_numpy(x), spec),
        "columns": lambda: prepare(torch.from_numpy(x[:, some]), spec, some),
        "sparse": lambda: prepare(sparse.csr_array(x), spec),
    }[kind]()
    kept = torch.tensor([True, False, True, True, True, True])
    F.cross_entropy(network(rows), y).backward()
    expected = [p.grad[kept] if name == "first.weight" else p.grad for name, p in network.named_parameters()]
    got = mean_gradient(trace(network, rows, y), kept)
    assert torch.allclose(got, torch.cat([piece.flatten() for piece in expected]), atol=1e-6)
