"""SI against the path integral kept in double precision by a separate training loop."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from scipy import sparse

from helpers import assert_same_state
from smartcl.data.spec import InputSpec
from smartcl.network.inputs import Prepared, prepare
from smartcl.network.mlp import MLP
from smartcl.network.optim import Adam
from smartcl.regularizers.si import SI
from smartcl.saving.saved import Saved

FEATURES = 8


def batches(count: int, spec: InputSpec, features: int = FEATURES) -> list[tuple[Prepared, torch.Tensor]]:
    """Labelled rows; with ``features`` below all, the others stay unseen."""
    rng = np.random.default_rng(0)
    result = []
    for _ in range(count):
        x = rng.normal(size=(6, FEATURES)).astype(np.float32) * (rng.random((6, FEATURES)) < 0.7)
        x[:, features:] = 0
        y = torch.from_numpy((x[:, 0] > 0).astype(np.int64))
        result.append((prepare(sparse.csr_array(x) if spec.sparse else torch.from_numpy(x), spec), y))
    return result


def step(network: MLP, optimizer: Adam, si: SI, rows: Prepared, y: torch.Tensor) -> dict[str, torch.Tensor]:
    """One training step as a learner makes it; returns the gradient of the loss alone."""
    optimizer.zero_grad()
    F.cross_entropy(network(rows), y).backward()
    slopes = {name: leaf.grad.double().clone() for name, leaf, _ in network.slots() if leaf.grad is not None}
    si.add_gradient(network)
    optimizer.step()
    si.after_step(network, optimizer)
    return slopes


def doubles(network: MLP) -> dict[str, torch.Tensor]:
    return {name: value.double().clone() for name, value in network.full_weights().items()}


def test_it_is_the_path_integral_of_the_loss_alone() -> None:
    spec = InputSpec(FEATURES, 2)
    network = MLP(spec, (5, 4), np.random.default_rng(0))
    si, optimizer = SI(30.0, damping=0.05), Adam(network, lr=0.02)
    importance = {name: torch.zeros_like(value) for name, value in doubles(network).items()}
    start = doubles(network)
    for _ in range(3):
        gain = {name: torch.zeros_like(value) for name, value in start.items()}
        for rows, y in batches(7, spec):
            before = doubles(network)
            slopes = step(network, optimizer, si, rows, y)
            after = doubles(network)
            for name, slope in slopes.items():
                gain[name] -= slope * (after[name] - before[name])
        now = doubles(network)
        for name in gain:
            importance[name] += (gain[name] / ((now[name] - start[name]) ** 2 + 0.05)).clamp(min=0)
        si.consolidate(network, *batches(1, spec)[0])
        start = now
    assert any(bool((gain[name] < 0).any()) for name in gain), "clipping must have been needed"
    for name, value in importance.items():
        torch.testing.assert_close(si.importance[name].double(), value, rtol=1e-4, atol=1e-5 * float(value.max()))
        assert torch.equal(si.anchors[name].double(), start[name])


def test_a_row_table_follows_the_dense_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows first seen in the second half start their way there; rows in between sleep, and move without a gradient."""
    spec = InputSpec(FEATURES, 2, sparse=True)
    stream = [*batches(4, spec, features=3), *batches(4, spec)]
    dense = MLP(spec, (5,), np.random.default_rng(0))
    monkeypatch.setattr("smartcl.network.mlp.ROW_TABLE_WEIGHTS", 0)
    wide = MLP(spec, (5,), np.random.default_rng(1))
    table = wide.table
    assert table is not None
    table.activate(torch.arange(3))
    table.activate(torch.arange(FEATURES))
    table.commit()
    with torch.no_grad():
        table.idle.weight[:FEATURES] = dense.full_weights()["first.weight"]
        for name, value in wide.named_parameters():
            value.copy_(dict(dense.named_parameters())[name])
    penalties = []
    for network in (dense, wide):
        si, optimizer = SI(30.0), Adam(network, lr=0.02)
        optimizer.schedule_rows(0.0, 0.0)
        for number, (rows, y) in enumerate(stream):
            step(network, optimizer, si, rows, y)
            if number % 3 == 2:
                si.consolidate(network, rows, y)
            table.commit()
        penalties.append(si)
    for name, value in penalties[0].importance.items():
        torch.testing.assert_close(penalties[1].importance[name], value, rtol=1e-3, atol=1e-4 * float(value.max()))


def test_new_rows_and_classes_start_where_they_are_first_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("smartcl.network.mlp.ROW_TABLE_WEIGHTS", 0)
    spec = InputSpec(FEATURES, 2, sparse=True)
    network = MLP(spec, (5,), np.random.default_rng(0))
    si, optimizer = SI(1.0), Adam(network, lr=0.02)
    for rows, y in batches(2, spec, features=3):
        step(network, optimizer, si, rows, y)
    first = si.anchors["first.weight"]
    network.add_classes(4, np.random.default_rng(1))
    optimizer.resize()
    grown = network.head.weight.detach().clone()
    for rows, y in batches(2, spec):
        step(network, optimizer, si, rows, y)
    assert torch.equal(si.anchors["first.weight"][: len(first)], first)
    assert len(si.anchors["first.weight"]) == len(si.gain["first.weight"]) > len(first)
    assert torch.equal(si.anchors["layers.0.weight"][2:], grown[2:])
    si.consolidate(network, *batches(1, spec)[0])
    assert all(bool((value >= 0).all()) for value in si.importance.values())


def test_a_state_given_away_does_not_change() -> None:
    spec = InputSpec(FEATURES, 2)
    network = MLP(spec, (5,), np.random.default_rng(0))
    si, optimizer = SI(1.0), Adam(network, lr=0.02)
    stream = batches(6, spec)
    for rows, y in stream[:3]:
        step(network, optimizer, si, rows, y)
    state = si.state_dict()
    kept = {part: {name: value.clone() for name, value in state[part].items()} for part in state}
    for rows, y in stream[3:]:
        step(network, optimizer, si, rows, y)
    assert_same_state(state, kept)
    assert not torch.equal(si.gain["first.weight"], state["gain"]["first.weight"])
    si.load_state_dict(Saved(state), network)
    step(network, optimizer, si, *stream[3])
    assert_same_state(state, kept)


def test_damping_is_checked() -> None:
    with pytest.raises(ValueError, match="damping must be positive, got 0"):
        SI(1.0, damping=0.0)
