"""Gradients the slow way: one sample, one backward pass, whatever the kind of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
import torch
from scipy import sparse

from smartcl.data.spec import InputSpec
from smartcl.network.inputs import NarrowInput, Prepared, prepare
from smartcl.network.mlp import MLP

FEATURES, CLASSES = 9, 3
KINDS = ["dense", "columns", "sparse", "table"]


def network_and_rows(kind: str, count: int, monkeypatch: pytest.MonkeyPatch) -> tuple[MLP, Prepared, list[Prepared]]:
    """A network with random weights, ``count`` rows for it, and the same rows one by one."""
    rng = np.random.default_rng(3)
    x = (rng.normal(size=(count, FEATURES)) * (rng.random((count, FEATURES)) < 0.6)).astype(np.float32)
    if kind == "table":
        monkeypatch.setattr("smartcl.network.mlp.ROW_TABLE_WEIGHTS", 0)
    spec = InputSpec(FEATURES, CLASSES, sparse=kind in ("sparse", "table"))
    network = MLP(spec, (6, 5), rng)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter += torch.from_numpy(0.3 * rng.normal(size=tuple(parameter.shape)).astype(np.float32))
    if kind == "columns":
        features = torch.tensor([7, 2, 5, 0])
        values = torch.from_numpy(x)[:, features]
        return network, NarrowInput(values, features), [NarrowInput(value[None], features) for value in values]
    if kind == "dense":
        return network, torch.from_numpy(x), list(torch.from_numpy(x).split(1))
    singles = [prepare(sparse.csr_array(x[i : i + 1]), spec) for i in range(count)]
    if network.table is not None:
        network.table.activate(torch.tensor([4, 8]))
        network.table.activate(torch.arange(FEATURES))
    return network, prepare(sparse.csr_array(x), spec), singles


def sample_gradients(
    network: MLP, singles: list[Prepared], loss: Callable[[torch.Tensor], torch.Tensor]
) -> Iterator[dict[str, torch.Tensor]]:
    """The gradient of each sample's loss by name, over all weights as ``full_weights`` has them."""
    shapes = {name: value.shape for name, value in network.full_weights().items()}
    for single in singles:
        value = loss(network(single))
        slots = list(network.slots())
        slopes = torch.autograd.grad(value, [leaf for _, leaf, _ in slots])
        gradient = {name: torch.zeros(shape, dtype=torch.float64) for name, shape in shapes.items()}
        for (name, _, rows), slope in zip(slots, slopes, strict=True):
            gradient[name][slice(None) if rows is None else rows] = slope.double()
        yield gradient


def mean_of(
    gradients: Iterator[dict[str, torch.Tensor]], transform: Callable[[torch.Tensor], torch.Tensor], count: int
) -> dict[str, torch.Tensor]:
    """The mean of ``transform`` of each gradient."""
    total: dict[str, torch.Tensor] = {}
    for gradient in gradients:
        for name, value in gradient.items():
            total[name] = total.get(name, torch.zeros_like(value)) + transform(value) / count
    return total


def assert_close_by_name(actual: dict[str, torch.Tensor], expected: dict[str, torch.Tensor]) -> None:
    assert actual.keys() == expected.keys()
    for name, value in expected.items():
        scale = float(value.abs().max())
        assert scale > 0, name
        torch.testing.assert_close(actual[name].double(), value, rtol=1e-5, atol=1e-5 * scale, msg=name)


def move(network: MLP, seed: int, scale: float = 1.0) -> None:
    rng = np.random.default_rng(seed)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter += scale * torch.from_numpy(rng.normal(size=tuple(parameter.shape)).astype(np.float32))
