"""Which rows are held out and how often, which samples are outdated, and the share of room for new ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartcl.learners.ensemble.sampling import held_out, outdated, recent_share
from smartcl.learners.ensemble.settings import (
    ENOUGH_HELD_OUT,
    HELD_OUT_ONE_IN,
    LATER_ONE_IN,
    LEAST_RECENT,
    MOST_RECENT,
)


@pytest.mark.parametrize(("already", "one_in"), [(0, HELD_OUT_ONE_IN), (ENOUGH_HELD_OUT, LATER_ONE_IN)])
def test_one_row_in_so_many_is_held_out_wherever_it_stands(already, one_in):
    chosen = np.stack([held_out(50, already, np.random.default_rng(seed)) for seed in range(2000)])
    assert chosen.mean() == pytest.approx(1 / one_in, rel=0.05)
    each, error = chosen.mean(axis=0), np.sqrt(1 / one_in / 2000)
    assert np.abs(each - 1 / one_in).max() < 4.5 * error


@given(st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_of_the_fewest_rows_one_is_always_learned(count, seed):
    assert not held_out(count, 0, np.random.default_rng(seed)).all()


def test_room_for_the_newest_grows_with_what_they_cover():
    shares = [recent_share(coverage) for coverage in np.linspace(0, 1, 11)]
    assert shares[0] == pytest.approx(LEAST_RECENT)
    assert shares[-1] == pytest.approx(MOST_RECENT)
    np.testing.assert_allclose(np.diff(shares), (MOST_RECENT - LEAST_RECENT) / 10)


def test_outdated_is_what_was_known_and_is_contradicted_now():
    """All four cases by hand: known before or not, known now or not."""
    knew = np.eye(2, dtype=np.float32)[[1, 1, 0, 0]]
    knows = np.eye(2, dtype=np.float32)[[0, 1, 0, 1]]
    assert outdated(knew, knows, np.ones(4, np.int64)).tolist() == [True, False, False, False]
