"""MAS against per-sample and per-mini-batch gradients in a loop."""

from __future__ import annotations

import pytest
import torch
from gradient_loops import KINDS, assert_close_by_name, mean_of, move, network_and_rows, sample_gradients

from smartcl.regularizers.mas import MAS, batch_sensitivity, sample_sensitivity

Y = torch.zeros(1, dtype=torch.long)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("chunk", [4, 100])
def test_per_sample(kind: str, chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    network, rows, singles = network_and_rows(kind, 11, monkeypatch)
    gradients = sample_gradients(network, singles, lambda logits: logits.square().sum())
    assert_close_by_name(sample_sensitivity(network, rows, chunk), mean_of(gradients, torch.abs, len(singles)))


@pytest.mark.parametrize("kind", KINDS)
def test_per_mini_batch(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Mini-batches of 4, 4 and 3 samples, each the mean of its samples' gradients before the absolute value."""
    network, rows, singles = network_and_rows(kind, 11, monkeypatch)
    batches = [
        mean_of(sample_gradients(network, part, lambda logits: logits.square().mean()), lambda g: g, len(part))
        for part in (singles[:4], singles[4:8], singles[8:])
    ]
    expected = mean_of(iter(batches), torch.abs, 3)
    assert_close_by_name(batch_sensitivity(network, rows, batch=4), expected)


@pytest.mark.parametrize("per_sample", [True, False])
def test_importance_adds_up_and_the_anchor_is_the_latest(per_sample: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    network, rows, _ = network_and_rows("dense", 40, monkeypatch)
    mas, expected = MAS(2.0, per_sample), {}
    for task in range(2):
        move(network, seed=task)
        sensitivity = sample_sensitivity(network, rows) if per_sample else batch_sensitivity(network, rows)
        for name, value in sensitivity.items():
            expected[name] = expected.get(name, 0) + value.double()
        mas.consolidate(network, rows, Y)
    assert_close_by_name(mas.importance, expected)
    assert mas.penalty(network).item() == 0.0
