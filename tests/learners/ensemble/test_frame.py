"""The scale of rows: those of the learned scale early on, fixed later, another only where a unit is surely another."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch
from scipy import sparse

from smartcl.data.spec import InputSpec
from smartcl.learners.ensemble.frame import Frame
from smartcl.learners.ensemble.settings import SETTLED_ROWS, WIDE
from smartcl.network.inputs import prepare
from smartcl.network.scaling import InputScale
from smartcl.saving.saved import Saved, StateError

SPEC = InputSpec(n_features=4, n_classes=2, learned=True)


def rows(seed=0, count=200, units=(1.0, 0.01, 1000.0, 5.0), centres=(0.0, 3.0, -1e4, 0.0)):
    values = np.random.default_rng(seed).normal(size=(count, 4)) * np.array(units) + np.array(centres)
    return torch.from_numpy(values.astype(np.float32))


def scale_of(*parts, sparse_rows=False):
    scale = InputScale.fresh(4, sparse_rows)
    for part in parts:
        scale = scale.updated(part)
    return scale


def test_rows_are_scaled_as_for_a_network():
    """Dense and sparse, learned or by a transform that is given; the network's own preparation is the reference."""
    x, scale = rows(), scale_of(rows())
    np.testing.assert_array_equal(Frame.of(scale, 200).scaled(x, SPEC), prepare(x, SPEC, None, None, scale).numpy())
    few = sparse.csr_array(np.where(np.abs(x.numpy()) > 2, x.numpy(), 0))
    for n_features in (4, WIDE):  # few features are a table, many stay sparse
        wide = InputSpec(n_features=n_features, n_classes=2, learned=True, sparse=True)
        few.resize((200, n_features))
        of_sparse = InputScale.fresh(n_features, sparse=True).updated(few)
        mine = Frame.of(of_sparse, 200).scaled(few, wide)
        assert sparse.issparse(mine) == (n_features == WIDE)
        theirs = prepare(few, wide, None, None, of_sparse).to_scipy().toarray()
        np.testing.assert_array_equal(mine.toarray() if sparse.issparse(mine) else mine, theirs)
    given = InputSpec(n_features=4, n_classes=2, dtype="uint8", offset=10.0, scale=1 / 255)
    pixels = torch.randint(0, 256, (20, 4), dtype=torch.uint8)
    expected = (pixels.numpy().astype(np.float64) - 10) / 255
    np.testing.assert_allclose(Frame.of(None, 0).scaled(pixels, given), expected, rtol=1e-6)


def test_centre_and_width_are_those_of_the_rows():
    scaled = Frame.of(scale_of(rows(count=2000)), 2000).scaled(rows(seed=1, count=2000), SPEC)
    np.testing.assert_allclose(scaled.mean(axis=0), 0, atol=0.1)
    np.testing.assert_allclose(scaled.std(axis=0), 1, rtol=0.1)


def test_it_is_due_each_time_twice_as_many_rows_have_come_until_it_is_settled():
    frame, at = Frame.of(scale_of(rows()), 0), []
    for count in range(50, 6 * SETTLED_ROWS, 50):
        if frame.due(count):
            frame = Frame.of(scale_of(rows()), count)
            at.append(count)
    assert all(later >= 2 * sooner for sooner, later in pairwise(at))
    assert at[0] == 50
    assert SETTLED_ROWS / 2 < at[-1] <= SETTLED_ROWS


def test_later_only_features_of_another_unit_follow():
    """One becomes five times as large, one moves five scales away; what grows by half stays as it is."""
    frame = Frame.of(scale_of(rows()), SETTLED_ROWS)
    assert frame.followed(scale_of(rows(seed=1))) is frame
    other = scale_of(rows(2, units=(1.5, 0.01, 1000.0, 30.0), centres=(0.0, 3.1, -1e4, 0.0)))
    moved = frame.followed(other)
    np.testing.assert_array_equal(moved.width != frame.width, [False, True, False, True])
    np.testing.assert_allclose(moved.width[[1, 3]], other.width[[1, 3]])
    np.testing.assert_allclose(moved.centre[1], 3.1, rtol=1e-2)
    assert moved.rows == frame.rows
    assert frame.followed(None) is frame


@pytest.mark.parametrize("sparse_rows", [False, True])
def test_a_feature_that_had_no_scale_gets_one_when_it_comes(sparse_rows):
    x = rows(units=(1.0, 1.0, 1.0, 0.0), centres=(0.0,) * 4)
    late = rows(seed=1, units=(1.0, 1.0, 1.0, 1000.0), centres=(0.0,) * 4)
    if sparse_rows:
        x, late = sparse.csr_array(x.numpy()), sparse.csr_array(late.numpy())
    scale = scale_of(x, sparse_rows=sparse_rows)
    frame = Frame.of(scale, SETTLED_ROWS)
    followed = frame.followed(scale.updated(late))
    assert followed.width[3] == pytest.approx(1000, rel=0.2)
    np.testing.assert_array_equal(followed.width[:3], frame.width[:3])


def test_values_far_out_stay_small_and_ordered():
    frame = Frame.of(scale_of(rows()), 200)
    far = torch.zeros(5, 4)
    far[:, 0] = torch.tensor([-1e38, -10.0, 0.0, 10.0, 1e38])
    got = frame.scaled(far, SPEC)[:, 0]
    assert np.isfinite(got).all()
    assert (np.diff(got) > 0).all()
    assert np.abs(got).max() < 200


def test_a_saved_state_reads_back_and_damage_is_refused():
    frame = Frame.of(scale_of(rows()), 200)
    again = Frame.from_state(Saved(frame.state_dict()), SPEC)
    np.testing.assert_array_equal(again.scaled(rows(1), SPEC), frame.scaled(rows(1), SPEC))
    assert again.rows == 200
    with pytest.raises(StateError, match="width must be above 0"):
        Frame.from_state(Saved({**frame.state_dict(), "width": np.zeros(4)}), SPEC)
    fixed = InputSpec(n_features=4, n_classes=2)
    assert len(Frame.from_state(Saved(Frame.of(None, 5).state_dict()), fixed).centre) == 0
