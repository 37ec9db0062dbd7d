"""EWC against per-sample gradients in a loop, and against the sum of its terms written out."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from gradient_loops import KINDS, assert_close_by_name, mean_of, move, network_and_rows, sample_gradients

from smartcl.data.spec import InputSpec
from smartcl.network.mlp import MLP
from smartcl.regularizers.ewc import EWC, OnlineEWC, fisher_diagonal

Y = torch.zeros(1, dtype=torch.long)


def own_label(logits: torch.Tensor) -> torch.Tensor:
    return -F.log_softmax(logits, dim=1)[0, int(logits.argmax())]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("chunk", [4, 100])
def test_fisher_diagonal(kind: str, chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    network, rows, singles = network_and_rows(kind, 11, monkeypatch)
    expected = mean_of(sample_gradients(network, singles, own_label), torch.square, len(singles))
    assert_close_by_name(fisher_diagonal(network, rows, chunk), expected)


def test_it_is_the_models_label_not_the_given(monkeypatch: pytest.MonkeyPatch) -> None:
    network, rows, _ = network_and_rows("dense", 20, monkeypatch)
    importance = []
    for y in (torch.zeros(20, dtype=torch.long), torch.ones(20, dtype=torch.long)):
        ewc = EWC(1.0)
        ewc.consolidate(network, rows, y)
        importance.append(ewc.importance["first.weight"])
    assert torch.equal(*importance)


class Terms:
    """The penalty of Kirkpatrick et al. to the letter: every term kept."""

    def __init__(self, strength: float) -> None:
        self.strength = strength
        self.terms: list[tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]] = []

    def consolidate(self, network: MLP, rows: torch.Tensor) -> None:
        weights = {name: value.clone() for name, value in network.full_weights().items()}
        self.terms.append((fisher_diagonal(network, rows), weights))

    def penalty(self, network: MLP) -> torch.Tensor:
        total = torch.zeros((), dtype=torch.float64)
        for fisher, anchors in self.terms:
            for name, weight in network.named_parameters():
                block = weight[tuple(slice(0, size) for size in anchors[name].shape)]
                total = total + (fisher[name] * (block - anchors[name]) ** 2).double().sum()
        return self.strength * total


@pytest.mark.parametrize("growing", [False, True])
def test_one_quadratic_is_the_sum_of_all_terms(growing: bool) -> None:
    network = MLP(InputSpec(n_features=6, n_classes=2), (5, 4), np.random.default_rng(0))
    ewc, literal = EWC(7.0), Terms(7.0)
    for task in range(4):
        rows = torch.from_numpy(np.random.default_rng(task).normal(size=(30, 6)).astype(np.float32))
        if task == 1:
            rows[:, 2] = 0.0
        move(network, seed=task, scale=0.3)
        ewc.consolidate(network, rows, Y)
        literal.consolidate(network, rows)
        if growing and task == 1:
            network.add_classes(4, np.random.default_rng(9))
    move(network, seed=50, scale=0.3)
    assert ewc.penalty(network).item() == pytest.approx(literal.penalty(network).item(), rel=1e-5)

    slopes = torch.autograd.grad(literal.penalty(network), list(network.parameters()))
    for parameter in network.parameters():
        parameter.grad = torch.zeros_like(parameter)
    ewc.add_gradient(network)
    for parameter, slope in zip(network.parameters(), slopes, strict=True):
        torch.testing.assert_close(parameter.grad, slope, rtol=1e-4, atol=1e-5)


def test_the_online_form_adds_importance_and_moves_the_anchor() -> None:
    network = MLP(InputSpec(n_features=6, n_classes=2), (5,), np.random.default_rng(0))
    ewc, expected = OnlineEWC(7.0), {}
    for task in range(3):
        rows = torch.from_numpy(np.random.default_rng(task).normal(size=(30, 6)).astype(np.float32))
        move(network, seed=task, scale=0.3)
        for name, fisher in fisher_diagonal(network, rows).items():
            expected[name] = expected.get(name, 0) + fisher.double()
        ewc.consolidate(network, rows, Y)
    assert_close_by_name(ewc.importance, expected)
    assert ewc.penalty(network).item() == 0.0
    before = {name: value.clone() for name, value in network.full_weights().items()}
    move(network, seed=50)
    after = network.full_weights()
    literal = 7.0 * sum(float((expected[name] * (after[name] - before[name]) ** 2).sum()) for name in expected)
    assert ewc.penalty(network).item() == pytest.approx(literal, rel=1e-5)


def test_a_table_that_grew_keeps_the_importance_of_its_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    network, rows, _ = network_and_rows("table", 11, monkeypatch)
    ewc = EWC(1.0)
    for _ in range(2):
        ewc.consolidate(network, rows, Y)
    once = fisher_diagonal(network, rows)["first.weight"]
    torch.testing.assert_close(ewc.importance["first.weight"], 2 * once)
