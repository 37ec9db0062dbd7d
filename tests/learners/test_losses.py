"""The losses' slopes against autograd through their formulas, sample by sample, and PyTorch's at the limit."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from smartcl.learners.losses import by_logit, exponents, lesson_slope, lessons, robust_slope, targets

logits = arrays(np.float64, (5, 3), elements=st.floats(-4, 4))
labels = arrays(np.int64, 5, elements=st.integers(0, 2))
weights = arrays(np.float64, 5, elements=st.floats(0.1, 10))


def close(got: torch.Tensor, expected: torch.Tensor | None) -> None:
    torch.testing.assert_close(got.double(), expected, atol=1e-6, rtol=1e-5)


def slope(values: torch.Tensor, y: torch.Tensor, q: float, smoothing: float = 0.0, **how: torch.Tensor) -> torch.Tensor:
    """Of the robust loss, by logit."""
    log_p = values.detach().log_softmax(dim=1)
    target = targets(y, 3, smoothing, how.get("among"))
    return by_logit(robust_slope(log_p, target, q, how.get("weight")), log_p)


@given(logits, labels, st.floats(0.01, 1.0), st.floats(0.0, 0.9), logits, weights)
def test_the_robust_loss_by_its_formula(logits, y, q, smoothing, among, weight):
    """Smoothed evenly and all alike; smoothed by how much each class counts, each sample with its weight."""
    for spread, counts in (
        (np.full((5, 3), 1 / 3), np.ones(5)),
        (F.softmax(torch.from_numpy(among), 1).numpy(), weight),
    ):
        values = torch.from_numpy(logits).requires_grad_()
        total = torch.zeros((), dtype=torch.float64)
        for row, label, shares, count in zip(values.softmax(dim=1), y, spread, counts, strict=True):
            each = [(1 - value**q) / q for value in row]
            total = total + count * (1 - smoothing) * each[label]
            total = total + count * smoothing * sum(share * loss for share, loss in zip(shares, each, strict=True))
        (total / counts.sum()).backward()
        how = {} if counts is not weight else {"among": torch.from_numpy(among), "weight": torch.from_numpy(weight)}
        close(slope(values, torch.from_numpy(y), q, smoothing, **how), values.grad)


@given(logits, labels, st.floats(0.0, 0.9))
def test_its_limit_is_the_smoothed_cross_entropy(logits, y, smoothing):
    values, y = torch.from_numpy(logits).requires_grad_(), torch.from_numpy(y)
    F.cross_entropy(values, y, label_smoothing=smoothing).backward()
    close(slope(values, y, 0.0, smoothing), values.grad)
    torch.testing.assert_close(slope(values, y, 1.001e-3, smoothing), values.grad, atol=1e-2, rtol=0, check_dtype=False)


def test_a_contradicted_sample_pulls_less_the_larger_the_exponent():
    values, wrong = torch.tensor([[4.0, 0.0, 0.0]]), torch.tensor([1])
    pulls = [float(slope(values, wrong, q).norm()) for q in (0.0, 0.5, 1.0)]
    assert pulls[0] > 5 * pulls[1] > 5 * pulls[2]


@given(logits, labels)
def test_one_exponent_for_all_or_the_same_for_each(logits, y):
    values, y = torch.from_numpy(logits), torch.from_numpy(y)
    close(slope(values, y, torch.full((5, 1), 0.5)), slope(values, y, 0.5).double())


@given(logits, labels, st.floats(0.01, 1.0), st.floats(1.0, 30.0))
def test_of_every_class_a_tenth_of_the_pull_is_left(logits, y, q, scale):
    """Class by class: the exponent given where its samples are believed, else one that lets a tenth through."""
    log_p = torch.from_numpy(scale * logits).log_softmax(dim=1)
    chosen = torch.as_tensor(exponents(log_p, torch.from_numpy(y), q), dtype=torch.float64).expand(5, 1)[:, 0].numpy()
    own = log_p.numpy()[np.arange(5), y]
    for label in np.unique(y):
        mine, (exponent,) = own[y == label], set(chosen[y == label].tolist())
        if np.exp(q * mine).mean() >= 0.1 + 1e-9:
            assert exponent == q
        assert exponent <= q
        assert np.exp(exponent * mine).mean() >= 0.1 - 1e-9


@given(logits, logits, labels, weights)
def test_distillation_by_loops(student, teacher, y, weight):
    values = torch.from_numpy(student).requires_grad_()
    taught = torch.from_numpy(teacher).softmax(dim=1)
    total = torch.zeros((), dtype=torch.float64)
    for answers, probabilities, label, count in zip(values.log_softmax(dim=1), taught, y, weight, strict=True):
        sure = max(0.0, 2 * float(probabilities[label]) - 1)
        total = total - count * sure * sum(t * a for t, a in zip(probabilities, answers, strict=True))
    (total / weight.sum()).backward()
    lesson = lessons(taught, torch.from_numpy(y))
    log_p = values.detach().log_softmax(dim=1)
    close(by_logit(lesson_slope(lesson, torch.from_numpy(weight)), log_p), values.grad)
    alike = by_logit(lesson_slope(lesson), log_p)
    close(alike, by_logit(lesson_slope(lesson, torch.ones(5)), log_p).double())


def test_a_label_s_shares_make_one():
    rows = targets(torch.tensor([0, 2]), 3, 0.3, torch.tensor([[0.0, 0.0, 0.0], [0.0, -50.0, 0.0]]))
    torch.testing.assert_close(rows, torch.tensor([[0.8, 0.1, 0.1], [0.15, 0.0, 0.85]]))
    assert float(rows.sum()) == pytest.approx(2.0)
