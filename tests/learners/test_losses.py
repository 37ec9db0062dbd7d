"""The losses against their formulas, one sample at a time, and against PyTorch's cross-entropy at the limit."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from smartcl.learners.losses import confident_distillation, exponents, robust_cross_entropy

logits = arrays(np.float64, (5, 3), elements=st.floats(-4, 4))
labels = arrays(np.int64, 5, elements=st.integers(0, 2))


@given(logits, labels, st.floats(0.01, 1.0), st.floats(0.0, 0.9))
def test_the_robust_loss_by_its_formula(logits, y, q, smoothing):
    log_p = torch.from_numpy(logits).log_softmax(dim=1)
    p = log_p.exp().numpy()
    total = 0.0
    for row, label in zip(p, y, strict=True):
        each = [(1 - value**q) / q for value in row]
        total += (1 - smoothing) * each[label] + smoothing * sum(each) / 3
    assert float(robust_cross_entropy(log_p, torch.from_numpy(y), q, smoothing)) == pytest.approx(total / 5)


@given(logits, labels, st.floats(0.0, 0.9))
def test_its_limit_is_the_smoothed_cross_entropy(logits, y, smoothing):
    values, y = torch.from_numpy(logits), torch.from_numpy(y)
    expected = float(F.cross_entropy(values, y, label_smoothing=smoothing))
    assert float(robust_cross_entropy(values.log_softmax(1), y, 0.0, smoothing)) == pytest.approx(expected)
    assert float(robust_cross_entropy(values.log_softmax(1), y, 1.001e-3, smoothing)) == pytest.approx(
        expected, rel=2e-2
    )


@given(logits)
def test_at_one_it_is_bounded_where_the_cross_entropy_is_not(logits):
    wrong = torch.from_numpy(logits).argmin(dim=1)
    assert float(robust_cross_entropy(torch.from_numpy(50 * logits).log_softmax(1), wrong, 1.0)) <= 1.0


def test_a_contradicted_sample_pulls_less_the_larger_the_exponent():
    pulls = []
    for q in (0.0, 0.5, 1.0):
        values = torch.tensor([[4.0, 0.0]], dtype=torch.float64, requires_grad=True)
        robust_cross_entropy(values.log_softmax(1), torch.tensor([1]), q).backward()
        pulls.append(float(values.grad.norm()))
    assert pulls[0] > 5 * pulls[1] > 5 * pulls[2]


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


@given(logits, logits, labels)
def test_distillation_by_loops(student, teacher, y):
    log_p = torch.from_numpy(student).log_softmax(dim=1)
    taught = torch.from_numpy(teacher).softmax(dim=1)
    total = 0.0
    for answers, probabilities, label in zip(log_p.numpy(), taught.numpy(), y, strict=True):
        weight = max(0.0, 2 * probabilities[label] - 1)
        total -= weight * sum(t * a for t, a in zip(probabilities, answers, strict=True))
    got = float(confident_distillation(log_p, taught, torch.from_numpy(y)))
    assert got == pytest.approx(total / 5, abs=1e-12)
