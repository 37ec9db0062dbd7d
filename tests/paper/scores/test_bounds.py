"""The theorem's bounds: where the printed one fails, and that the valid ones hold."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from smartcl.paper.scores.bounds import hoelder_bound, l2_bound, printed_bound, rise

vectors = st.integers(2, 8).flatmap(
    lambda n: st.tuples(*(arrays(np.float64, n, elements=st.integers(-40, 40).map(lambda i: i / 8)) for _ in range(2)))
)


def test_the_printed_theorem_has_a_counter_example():
    """Eq. 2 holds, and yet the loss on memory may rise by more than the paper's bound: 3 against about √3."""
    tiny = 1e-6
    new = torch.tensor([-1.0, -tiny, -tiny, -tiny], dtype=torch.float64)
    old = torch.tensor([-3 * tiny, 1.0, 1.0, 1.0], dtype=torch.float64)
    assert float(new @ old) >= 0
    assert rise(old) == pytest.approx(3.0, abs=1e-5)
    assert printed_bound(new, old) == pytest.approx(np.sqrt(3), abs=1e-5)
    assert rise(old) > printed_bound(new, old)
    assert rise(old) <= hoelder_bound(new, old)
    assert rise(old) <= l2_bound(new, old)


@given(vectors)
def test_the_valid_bounds_hold_whenever_eq_2_does(pair):
    new, old = (torch.from_numpy(vector) for vector in pair)
    assume(float(new @ old) >= 0 and float(new.norm()) > 1e-3)
    slack = 1e-6 * (1 + float(old.abs().sum()))
    assert rise(old) <= l2_bound(new, old) + slack
    assert rise(old) <= hoelder_bound(new, old) * (1 + 1e-9) + slack


@given(vectors)
def test_hoelders_bound_by_loops(pair):
    new, old = pair
    values = [
        max(abs(1 - new[j] / new[k]) for j in range(len(new)) if j != k) * sum(np.abs(np.delete(old, k)))
        for k in range(len(new))
        if new[k] < 0
    ]
    assert hoelder_bound(*map(torch.from_numpy, pair)) == pytest.approx(min(values, default=np.inf), abs=1e-9)


def test_the_l2_bound_is_reached():
    """The projection of the all-ones vector on the half-space of Eq. 2 attains it."""
    new = torch.tensor([-2.0, 1.0, -1.0], dtype=torch.float64)
    ones = torch.ones(3, dtype=torch.float64)
    best = ones - new * (ones @ new) / new.square().sum()
    assert float(new @ best) == pytest.approx(0.0, abs=1e-12)
    assert rise(best) == pytest.approx(l2_bound(new, best))
