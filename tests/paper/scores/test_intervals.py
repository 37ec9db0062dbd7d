"""The paired interval against SciPy's test of the same thing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from smartcl.paper.scores.intervals import paired_difference


@given(st.integers(2, 10), st.integers(0, 10_000))
def test_the_interval_is_that_of_the_paired_t_test(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    ours, theirs = rng.normal(80, 3, n), rng.normal(79, 3, n)
    paired = paired_difference(ours.tolist(), theirs.tolist())
    expected = stats.ttest_rel(ours, theirs).confidence_interval(0.95)
    assert (paired.low, paired.high) == pytest.approx((expected.low, expected.high))
    assert paired.difference == pytest.approx(np.mean(ours) - np.mean(theirs))
    assert paired.n == n


def test_equal_differences_have_an_interval_of_no_width() -> None:
    assert paired_difference([3.0, 5.0, 7.0], [2.0, 4.0, 6.0]) == (1.0, 1.0, 1.0, 3)


def test_one_pair_has_no_interval() -> None:
    assert paired_difference([2.0], [1.5]) == (0.5, None, None, 1)
