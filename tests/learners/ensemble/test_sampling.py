"""Which rows are held out and how often, which samples are outdated, and the share of room for new ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartcl.learners.ensemble.sampling import held_out, outdated, recent_share
from smartcl.learners.ensemble.settings import HELD_OUT_SHARE, SMALL_SHARE


def test_the_share_that_is_held_out_is_that_wherever_a_row_stands():
    chosen = np.stack([held_out(50, np.random.default_rng(seed)) for seed in range(3000)])
    assert chosen.mean() == pytest.approx(HELD_OUT_SHARE, rel=0.05)
    error = np.sqrt(HELD_OUT_SHARE / 3000)
    assert np.abs(chosen.mean(axis=0) - HELD_OUT_SHARE).max() < 4.5 * error


@given(st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_of_the_fewest_rows_one_is_always_learned(count, seed):
    assert not held_out(count, np.random.default_rng(seed)).all()


def test_room_for_the_newest_grows_with_what_they_cover():
    shares = [recent_share(coverage) for coverage in np.linspace(0, 1, 11)]
    assert shares[0] == pytest.approx(SMALL_SHARE)
    assert shares[-1] == pytest.approx(1 - SMALL_SHARE)
    np.testing.assert_allclose(np.diff(shares), (1 - 2 * SMALL_SHARE) / 10)


def test_outdated_is_what_was_known_and_is_contradicted_now():
    """All four cases by hand: known before or not, known now or not."""
    knew = np.eye(2, dtype=np.float32)[[1, 1, 0, 0]]
    knows = np.eye(2, dtype=np.float32)[[0, 1, 0, 1]]
    assert outdated(knew, knows, np.ones(4, np.int64)).tolist() == [True, False, False, False]
