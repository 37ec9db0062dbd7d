"""Proximal steps: their optimality conditions, and a general minimiser on small cases."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from smartcl.network.prox import group_lasso, prox_preconditioned, shrink_rows_, subgradient


@st.composite
def problems(draw: st.DrawFn) -> tuple[torch.Tensor, torch.Tensor, float]:
    """Rows at scales 1e-4..1e2, a metric of 1e-4..1e4, a strength of 1e-6..10 times what would kill the first row."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = draw(st.integers(1, 5)), draw(st.integers(1, 8))
    weight = rng.normal(size=shape) * 10.0 ** rng.uniform(-4, 2, (shape[0], 1))
    weight *= rng.random(shape) < draw(st.sampled_from([0.5, 1.0]))
    metric = 10.0 ** rng.uniform(*draw(st.sampled_from([(-4, 4), (-4, -3), (0, 0), (2, 4)])), shape)
    strength = 10.0 ** draw(st.floats(-6, 1)) * max(np.linalg.norm(metric[0] * weight[0]), 1e-6)
    return torch.from_numpy(weight), torch.from_numpy(metric), float(strength)


def assert_optimal(w: torch.Tensor, u: torch.Tensor, d: torch.Tensor, strength: float) -> None:
    """``0 ∈ d∘(u − w) + strength·∂‖u‖`` row by row, relative to the forces at work."""
    w, u, d = w.double(), u.double(), d.double()
    norm = u.norm(dim=1, keepdim=True)
    dead = norm[:, 0] == 0
    force = (d * w).norm(dim=1)
    assert bool((force[dead] <= strength * (1 + 1e-6)).all())
    residual = (d * (u - w) + strength * u / norm.clamp(min=1e-300)).norm(dim=1)
    assert bool((residual[~dead] <= 1e-6 * force[~dead]).all())


@given(problems())
def test_preconditioned_is_optimal(problem: tuple[torch.Tensor, torch.Tensor, float]) -> None:
    w, d, strength = problem
    assert_optimal(w, prox_preconditioned(w, d, strength), d, strength)
    assert_optimal(w.float(), prox_preconditioned(w.float(), d.float(), strength), d.float(), strength)


@given(problems())
def test_decoupled_is_optimal(problem: tuple[torch.Tensor, torch.Tensor, float]) -> None:
    w, _, strength = problem
    u = w.clone()
    shrink_rows_(u, strength)
    assert_optimal(w, u, torch.ones_like(w), strength)


@given(problems())
def test_in_a_plain_metric_the_forms_agree(problem: tuple[torch.Tensor, torch.Tensor, float]) -> None:
    w, _, strength = problem
    u = w.clone()
    shrink_rows_(u, strength)
    torch.testing.assert_close(prox_preconditioned(w, torch.ones_like(w), strength), u, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_no_minimiser_finds_less(seed: int) -> None:
    rng = np.random.default_rng(seed)
    w, d = rng.normal(size=4), 10.0 ** rng.uniform(-1, 1, 4)
    strength = float(rng.uniform(0.2, 1.5) * np.linalg.norm(d * w))

    def objective(u: np.ndarray) -> float:
        return float(0.5 * (d * (u - w) ** 2).sum() + strength * np.linalg.norm(u))

    ours = prox_preconditioned(torch.from_numpy(w[None]), torch.from_numpy(d[None]), strength)[0].numpy()
    found = minimize(objective, w, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 4000})
    assert objective(ours) <= found.fun + 1e-9
    np.testing.assert_allclose(ours, found.x, atol=1e-4)


def test_rows_that_are_too_weak_are_exactly_zero() -> None:
    w = torch.tensor([[3.0, -4.0], [0.3, -0.4], [0.0, 0.0]])
    metric = torch.tensor([[1.0, 1.0], [2.0, 1.0], [1.0, 1.0]])
    for strength, alive in ((0.1, 2), (1.0, 1), (6.0, 0)):
        u = w.clone()
        shrink_rows_(u, strength)
        assert int((u != 0).any(dim=1).sum()) == alive
        assert int((prox_preconditioned(w, metric, strength) != 0).any(dim=1).sum()) == alive


@given(problems())
def test_no_strength_no_change(problem: tuple[torch.Tensor, torch.Tensor, float]) -> None:
    w, d, _ = problem
    u = w.clone()
    shrink_rows_(u, 0.0)
    assert torch.equal(u, w)
    assert torch.equal(prox_preconditioned(w, d, 0.0), w)


@given(problems())
def test_the_subgradient_is_autograds(problem: tuple[torch.Tensor, torch.Tensor, float]) -> None:
    w = problem[0].requires_grad_()
    (slope,) = torch.autograd.grad(group_lasso(w), w)
    torch.testing.assert_close(subgradient(w.detach()), slope)
