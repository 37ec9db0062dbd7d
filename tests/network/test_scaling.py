"""Inputs as they come: units, outliers, constants, zeros, features that appear late or change their unit."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from helpers import assert_same_state
from smartcl.network.scaling import InputScale, compressed
from smartcl.saving.saved import Saved, StateError


def after(batches: list[np.ndarray]) -> InputScale:
    scale = InputScale.fresh(batches[0].shape[1], sparse=False)
    for batch in batches:
        scale = scale.updated(torch.from_numpy(batch))
    return scale


def test_a_plain_table_is_standardised_as_by_its_mean_and_deviation() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal([5.0, -300.0, 1e9], [1e-6, 10.0, 1e6], size=(1000, 3))
    scale = after(list(x.reshape(20, 50, 3)))
    np.testing.assert_allclose(scale.centre, x.mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(scale.width, x.std(axis=0), rtol=0.02)


def test_twelve_orders_of_magnitude_are_read_alike() -> None:
    rng = np.random.default_rng(1)
    units = 10.0 ** np.arange(-6, 7)
    x = rng.normal(size=(500, 1)) * units
    read = after(list(x.reshape(10, 50, -1))).apply_dense(torch.from_numpy(x))
    assert float((read - read[:, :1]).abs().max()) < 1e-5


def test_a_rare_pixel_is_read_at_the_size_of_the_others() -> None:
    rng = np.random.default_rng(2)
    x = rng.integers(100, 256, size=(2000, 2)) * (rng.random((2000, 2)) < [0.9, 0.01])
    scale = after(list(x.reshape(40, 50, 2).astype(np.float64)))
    assert scale.centre[1] == 0
    assert 0.5 < scale.apply_dense(torch.tensor([[0.0, 180.0]]))[0, 1] < 2


def test_constant_and_empty_columns_say_nothing() -> None:
    x = np.tile([7.0, 0.0], (100, 1))
    assert not after([x[:50], x[50:]]).apply_dense(torch.from_numpy(x)).any()


def test_one_absurd_value_moves_hardly_anything() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(10, 2, size=(400, 1))
    spoiled = x.copy()
    spoiled[123] = 3e38
    clean, scale = after(list(x.reshape(8, 50, 1))), after(list(spoiled.reshape(8, 50, 1)))
    np.testing.assert_allclose(scale.width, clean.width, rtol=0.2)
    assert bool(scale.apply_dense(torch.from_numpy(spoiled)).isfinite().all())


def test_a_column_that_changes_its_unit_is_read_as_before_one_batch_later() -> None:
    rng = np.random.default_rng(4)
    metres = rng.normal(3, 1, size=(1000, 1))
    scale = after(list(metres.reshape(20, 50, 1)))
    before = scale.apply_dense(torch.from_numpy(metres))
    changed = scale.updated(torch.from_numpy(metres[:50] * 1000))
    assert float((changed.apply_dense(torch.from_numpy(metres * 1000)) - before).abs().mean()) < 0.3


def test_sparse_rows_keep_their_zeros_and_a_late_feature_its_own_scale() -> None:
    x = sparse.csr_array(np.array([[2.0, 0, 0], [0, 0, 0], [2.0, 0, 0]], dtype=np.float32))
    late = sparse.csr_array(np.array([[0, 0, 5e6], [2.0, 0, 0]], dtype=np.float32))
    scale = InputScale.fresh(3, sparse=True).updated(x).updated(late)
    assert scale.apply_sparse(late).tolist() == [1.0, 1.0]


def test_sparse_and_dense_rows_that_are_mostly_zero_have_one_scale() -> None:
    rng = np.random.default_rng(6)
    x = (rng.normal(size=(300, 20)) * (rng.random((300, 20)) < 0.15)).astype(np.float32)
    x[7, 3] = 1e30
    dense, scarce = InputScale.fresh(20, sparse=False), InputScale.fresh(20, sparse=True)
    for start in range(0, 300, 50):
        rows = x[start : start + 50]
        dense, scarce = dense.updated(torch.from_numpy(rows)), scarce.updated(sparse.csr_array(rows))
        np.testing.assert_allclose(scarce.width, dense.width, rtol=1e-9)
    assert scarce.width.max() < 10


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        arrays(np.float32, (7, 3), elements=st.floats(allow_nan=False, allow_infinity=False, width=32)),
        min_size=1,
        max_size=6,
    )
)
def test_whatever_comes_what_the_network_sees_is_finite(batches: list[np.ndarray]) -> None:
    scale = after(batches)
    for batch in batches:
        seen = scale.apply_dense(torch.from_numpy(batch))
        assert bool(seen.isfinite().all())
        assert float(seen.abs().max()) < 1000


def test_compression_is_monotonic() -> None:
    x = np.concatenate([-np.logspace(40, -3, 500), np.logspace(-3, 40, 500)])
    assert (np.diff(compressed(x)) >= 0).all()


def test_the_state_is_whole_and_damage_is_refused() -> None:
    scale = after([np.random.default_rng(5).normal(size=(50, 4))])
    fresh = InputScale.fresh(4, sparse=False)
    again = fresh.loaded(Saved(scale.state_dict(), "scale"))
    x = torch.randn(3, 4)
    assert torch.equal(again.apply_dense(x), scale.apply_dense(x))
    for damage in (np.zeros(3), np.full(4, np.nan), np.full(4, -1.0)):
        with pytest.raises(StateError):
            fresh.loaded(Saved({**scale.state_dict(), "square": damage}, "scale"))


def test_a_batch_longer_than_the_memory_of_the_scale_does_not_overshoot():
    x = torch.full((5000, 1), 1000.0) + torch.randn(5000, 1, generator=torch.Generator().manual_seed(0))
    assert abs(InputScale.fresh(1, sparse=False).updated(x).centre.item() - 1000) < 1


def test_pixels_of_a_channel_have_one_scale():
    rng = np.random.default_rng(0)
    x = np.stack([rng.normal(5, 1, (50, 6)), rng.normal(-20, 4, (50, 6))], axis=1).astype(np.float32)
    scale = InputScale.fresh(12, sparse=False, spread=6).updated(torch.from_numpy(x.reshape(50, 12)))
    assert len(scale.centre) == len(scale.width) == 12
    np.testing.assert_allclose(scale.centre, np.repeat([5, -20], 6), atol=1)
    np.testing.assert_allclose(scale.width, np.repeat([1, 4], 6), rtol=0.2)
    flat = InputScale.fresh(2, sparse=False)
    again = InputScale.fresh(2, sparse=False, spread=1)
    rows = torch.from_numpy(x[:, :, 0])
    assert_same_state(flat.updated(rows).state_dict(), again.updated(rows).state_dict())
    assert_same_state(scale.loaded(Saved(scale.state_dict())).state_dict(), scale.state_dict())
