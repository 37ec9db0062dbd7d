"""Rounded products against exact ones, and when they are rounded at all."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from smartcl.data.spec import InputSpec
from smartcl.learners.methods import build_learner
from smartcl.learners.sceptic import FULL_DOUBT, Sceptic
from smartcl.network import arithmetic
from smartcl.network.arithmetic import ROUNDED_FROM, rounding
from smartcl.network.inputs import NarrowInput
from smartcl.network.mlp import MLP

#: Half the distance of two neighbouring bfloat16 numbers, as a share of them.
ROUNDED_BY = 2**-9


def gradients(network: MLP, parts: list[torch.Tensor | NarrowInput], how: str) -> tuple[torch.Tensor, torch.Tensor]:
    """The logits, and the slope of their sum at the first layer's weights."""
    network.zero_grad()
    with rounding(how):
        logits = network(*parts)
    logits.sum().backward()
    return logits.detach(), network.first.weight.grad.clone()


def relative(found: torch.Tensor, exact: torch.Tensor) -> float:
    return float((found - exact).norm() / exact.norm())


def test_rounded_answers_and_slopes_are_the_exact_ones_but_for_the_rounding() -> None:
    rng, spec = np.random.default_rng(0), InputSpec(300, 3)
    network = MLP(spec, (64, 64), rng)
    whole = torch.from_numpy(rng.normal(size=(40, 300)).astype(np.float32))
    some = NarrowInput(whole[:20, 100:], torch.arange(100, 300))
    for parts in ([whole], [whole, some]):
        (exact, slope), (found, found_slope) = (gradients(network, parts, how) for how in ("float32", "bfloat16"))
        assert found.dtype == found_slope.dtype == torch.float32
        assert 0 < relative(found, exact) < 4 * ROUNDED_BY
        assert 0 < relative(found_slope, slope) < 0.1  # here and there a unit is switched on or off


def test_the_values_of_a_narrow_table_are_never_rounded() -> None:
    """Two rows that differ by less than a bfloat16 tells apart."""
    rows = torch.full((2, ROUNDED_FROM - 1), 1.0)
    rows[1, 0] += 2**-12
    layer = MLP(InputSpec(ROUNDED_FROM - 1, 2), (8,), np.random.default_rng(0)).first
    with rounding("bfloat16"):
        first, second = layer(rows)
    assert not torch.equal(first, second)


@pytest.mark.parametrize(
    ("made_for_it", "doubt", "rounds"), [(True, 0.1, True), (True, 0.9, False), (False, 0.1, False)]
)
def test_auto_rounds_where_the_processor_is_made_for_it_and_labels_are_believed(
    monkeypatch: pytest.MonkeyPatch, made_for_it: bool, doubt: float, rounds: bool
) -> None:
    monkeypatch.setattr(arithmetic, "multiplies_short_numbers", lambda: made_for_it)
    learner = build_learner("smart", InputSpec(4, 2), 1000, arithmetic="auto")
    assert isinstance(learner, Sceptic)
    learner.contradicted = doubt * FULL_DOUBT
    with rounding(learner.arithmetic):
        assert torch.is_autocast_enabled("cpu") == rounds


def test_nothing_is_rounded_unless_asked_for() -> None:
    learner = build_learner("smart", InputSpec(4, 2), 1000)
    assert isinstance(learner, Sceptic)
    learner.contradicted = 0.0
    with rounding(learner.arithmetic):
        assert not torch.is_autocast_enabled("cpu")


def test_a_release_of_torch_that_does_not_know_its_processor_rounds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(torch.cpu, "get_capabilities", raising=False)
    assert not arithmetic.multiplies_short_numbers.__wrapped__()
