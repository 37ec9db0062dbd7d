"""Feature maps: random features by their moments, steps by loops, hashed words by their inner products."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from smartcl.data.spec import InputSpec
from smartcl.learners.ensemble.feature_maps import HashedColumns, RandomFeatures, first_map, hashed
from smartcl.learners.ensemble.settings import (
    BIAS,
    DEPTH,
    GAIN,
    HASHED_FEATURES,
    RELU_FEATURES,
    STEP_FEATURES,
    WIDE,
    WIDE_FEATURES,
)
from smartcl.saving.saved import Saved, StateError

ROWS = np.random.default_rng(0).normal(size=(300, 5)).astype(np.float32)


def relu_features(features, rows):
    return features(rows)[:, features.linear : features.linear + RELU_FEATURES]


def test_the_first_features_are_one_and_the_values():
    features = RandomFeatures.drawn(3, ROWS)
    got = features(ROWS)
    assert got.shape == (300, features.width) == (300, 1 + 5 + RELU_FEATURES + STEP_FEATURES)
    np.testing.assert_array_equal(got[:, 0], 1)
    np.testing.assert_array_equal(got[:, 1:6], ROWS)
    pixels = RandomFeatures.drawn(3, ROWS, pixels=True)
    assert pixels.linear == 1
    np.testing.assert_array_equal(pixels(ROWS)[:, 1:], got[:, 6:])


@pytest.mark.parametrize("unit", [0.01, 1.0, 100.0])
def test_moments_of_random_features_do_not_depend_on_the_unit(unit):
    """A half-normal of variance ``(GAIN·|row| / length)² + BIAS²`` over many draws, whatever the rows' length."""
    rows = (unit * ROWS).astype(np.float32)
    drawn = np.concatenate([relu_features(RandomFeatures.drawn(seed, rows), rows) for seed in range(20)], axis=1)
    square = np.square(rows.astype(np.float64)).sum(axis=1)
    variance = GAIN**2 * square / square.mean() + BIAS**2
    np.testing.assert_allclose(drawn.mean(axis=1), np.sqrt(variance / 2 / np.pi), rtol=0.15)
    np.testing.assert_allclose(np.square(drawn).mean(axis=1), variance / 2, rtol=0.2)
    np.testing.assert_allclose(np.square(drawn).mean(), (GAIN**2 + BIAS**2) / 2, rtol=0.03)
    assert drawn.min() == 0


def test_random_features_stay_the_same_distance_in_expectation():
    """Their inner products are the arc-cosine kernel of order one (Cho & Saul 2009), here without its biases' part."""
    two = np.zeros((2, 5), np.float32)
    two[0, 0] = two[1, 1] = 1.0
    products = []
    for seed in range(60):
        features = RandomFeatures.drawn(seed, two)
        weights, bias = features._relu
        products.append(np.maximum(two @ weights, 0) @ np.maximum(two @ weights, 0).T / RELU_FEATURES / GAIN**2)
        assert bias.std() == pytest.approx(BIAS, rel=0.25)
    kernel = np.array([[0.5, 0.5 / np.pi], [0.5 / np.pi, 0.5]])  # angles of 0 and 90 degrees
    np.testing.assert_allclose(np.mean(products, axis=0), kernel, rtol=0.05)


def test_steps_are_conjunctions_at_values_of_the_rows():
    """Each is true on one side of up to three thresholds, found here from the answers alone, column by column."""
    features = RandomFeatures.drawn(4, ROWS)
    steps = features(ROWS)[:, -STEP_FEATURES:]
    assert set(np.unique(steps)) == {0.0, 1.0}
    columns, signs, unused = features._steps
    for number in range(STEP_FEATURES):
        expected = np.ones(300, bool)
        for each in range(DEPTH):
            column, threshold = columns[number, each], features.thresholds[number, each]
            assert threshold in ROWS[:, column]
            if not unused[number, each]:
                side = ROWS[:, column] > threshold if signs[number, each] > 0 else ROWS[:, column] < threshold
                expected &= side
        np.testing.assert_array_equal(steps[:, number], expected)
    depth = (~unused).sum(axis=1)
    assert np.bincount(depth).tolist() == [0] + 3 * [STEP_FEATURES // 3]
    assert steps[:, depth == 1].mean() == pytest.approx(1 / 2, abs=0.1)
    assert steps[:, depth == 3].mean() == pytest.approx(1 / 8, abs=0.06)


def test_steps_do_not_depend_on_the_unit_of_a_column():
    unit = np.array([1, 8, 64, 0.125, 2], np.float32)
    mine, theirs = RandomFeatures.drawn(4, ROWS), RandomFeatures.drawn(4, ROWS * unit)
    np.testing.assert_array_equal(theirs(ROWS * unit)[:, -STEP_FEATURES:], mine(ROWS)[:, -STEP_FEATURES:])


def test_wide_rows_have_random_features_alone():
    rows = np.random.default_rng(1).normal(size=(4, WIDE)).astype(np.float32)
    features = RandomFeatures.drawn(0, rows)
    assert features.wide
    assert not RandomFeatures.blank(0, WIDE - 1).wide
    assert features(rows).shape == (4, features.width) == (4, 1 + WIDE_FEATURES)
    pixels = RandomFeatures.drawn(0, rows, pixels=True)
    assert pixels.width == 1 + WIDE_FEATURES


def test_a_seed_gives_the_same_map_and_another_seed_another():
    mine, again, other = (RandomFeatures.drawn(seed, ROWS)(ROWS) for seed in (7, 7, 8))
    np.testing.assert_array_equal(mine, again)
    assert not np.array_equal(mine, other)
    constant = RandomFeatures.drawn(7, np.zeros((3, 5), np.float32))
    assert np.isfinite(constant(ROWS)).all()


def test_a_saved_map_is_the_same_map_and_damage_is_refused():
    features = RandomFeatures.drawn(9, ROWS)
    again = RandomFeatures.blank(0, 5).loaded(Saved(features.state_dict()))
    np.testing.assert_array_equal(again(ROWS), features(ROWS))
    for name, damage in (("seed", -1), ("length", -1.0), ("thresholds", features.thresholds[:-1])):
        with pytest.raises(StateError, match=name):
            RandomFeatures.blank(0, 5).loaded(Saved({**features.state_dict(), name: damage}))
    words = HashedColumns(9, 10**6)
    assert HashedColumns(0, 10**6).loaded(Saved(words.state_dict())) == words


def test_few_columns_are_kept_as_they_are():
    rows = sparse.csr_array(np.where(ROWS > 1, ROWS, 0))
    got = HashedColumns(0, 5)(rows)
    np.testing.assert_array_equal(got[:, 0], 1)
    np.testing.assert_array_equal(got[:, 1:], rows.toarray())
    assert HashedColumns(0, 5).width == 6


def test_hashing_keeps_inner_products_in_expectation():
    """Over seeds: no bias, and the variance of so many buckets (Weinberger et al. 2009)."""
    rng = np.random.default_rng(2)
    dense = np.where(rng.random((2, 3000)) < 0.02, rng.normal(size=(2, 3000)), 0).astype(np.float32)
    dense[1, :1500] = dense[0, :1500]
    rows, exact = sparse.csr_array(dense), float(dense[0] @ dense[1])
    products = []
    for seed in range(300):
        features = HashedColumns(seed, 3000)(rows)
        assert features.shape == (2, 1 + HASHED_FEATURES)
        products.append(float(features[0, 1:] @ features[1, 1:]))
    squares = np.square(dense.astype(np.float64))
    pairs = squares[0].sum() * squares[1].sum() + exact**2 - 2 * (squares[0] * squares[1]).sum()
    error = np.sqrt(pairs / HASHED_FEATURES)
    assert abs(np.mean(products) - exact) < 4 * error / np.sqrt(300)
    assert np.std(products) == pytest.approx(error, rel=0.2)


def test_buckets_and_signs_are_even():
    """Of neighbouring columns too, for every seed; and a column's sign says nothing of its bucket."""
    for seed in range(3):
        place, sign = hashed(np.arange(64 * 512), seed, 512)
        count = np.bincount(place, minlength=512)
        assert ((count - 64.0) ** 2 / 64).sum() < 512 + 5 * np.sqrt(2 * 512)
        assert abs(sign.mean()) < 4 / np.sqrt(len(sign))
        assert abs(np.bincount(place, sign, 512)).max() < 5 * 8
    assert not np.array_equal(hashed(np.arange(100), 0, 512)[0], hashed(np.arange(100), 1, 512)[0])


def test_the_first_map_suits_the_stream():
    assert isinstance(first_map(InputSpec(10**5, 2, sparse=True), 0), HashedColumns)
    assert first_map(InputSpec(10, 2, dtype="uint8"), 0).linear == 1
    assert first_map(InputSpec(10, 2), 0).linear == 11
