"""What adds up, against all rows at once: sums, filters, counts and scales of learners that learned apart."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from smartcl.learners.class_counts import ClassCounts
from smartcl.learners.class_places import placed
from smartcl.learners.ensemble.logistic import Filter
from smartcl.learners.ensemble.sums import PACKED_FROM, Sums
from smartcl.network.scaling import InputScale
from smartcl.saving.saved import Saved


def rows_of(rng, count, width):
    x = rng.normal(size=(count, width)).astype(np.float32)
    x[:, 0] = 1.0
    return x, rng.integers(0, 3, count)


@pytest.mark.parametrize(("width", "count"), [(9, 400), (PACKED_FROM + 3, 60)])
@given(st.integers(0, 2**32 - 1), st.integers(1, 9))
@settings(max_examples=10, deadline=None)
def test_sums_of_shards_are_those_of_all_rows(width, count, seed, shards):
    """To 1e-6 relative, dense and packed, and so are ridge answers; a shard taken out again was never in."""
    rng = np.random.default_rng(seed)
    x, y = rows_of(rng, count, width)
    empty = Sums.empty(width, 3, 1.0)
    parts = [empty.with_rows(x[k::shards], y[k::shards], batches=len(y[k::shards]) / 50) for k in range(shards)]
    whole, one = Sums.combined([(1.0, part) for part in parts]), empty.with_rows(x, y)
    explicit = x.astype(np.float64).T @ x.astype(np.float64)
    scale = np.abs(explicit).max()
    assert np.abs(np.triu(whole.matrix() - explicit)).max() < 1e-6 * scale
    np.testing.assert_allclose(whole.products, x.astype(np.float64).T @ np.eye(3)[y], rtol=1e-6, atol=1e-9 * count)
    assert whole.rows == count
    answers, wanted = (x @ sums.weights(1.0) for sums in (whole, one))
    np.testing.assert_allclose(answers, wanted, atol=1e-3)
    left = Sums.combined([(1.0, whole), (-1.0, parts[0])])
    others = reduce(lambda sums, k: sums.with_rows(x[k::shards], y[k::shards]), range(1, shards), empty)
    assert np.abs(np.triu(left.matrix() - others.matrix())).max() < 1e-6 * scale
    assert left.rows == others.rows


@given(st.integers(0, 2**32 - 1), st.permutations(range(4)))
def test_sums_add_up_in_any_order_and_by_and_by(seed, order):
    rng = np.random.default_rng(seed)
    parts = [Sums.empty(5, 3, 1.0).with_rows(*rows_of(rng, 30, 5)) for _ in range(4)]
    whole = Sums.combined([(1.0, part) for part in parts])
    by_and_by = reduce(lambda one, k: Sums.combined([(1.0, one), (1.0, parts[k])]), order[1:], parts[order[0]])
    np.testing.assert_allclose(by_and_by.second, whole.second, rtol=1e-12, atol=1e-9)


def test_sums_that_all_went_on_from_one_hold_it_once():
    rng = np.random.default_rng(0)
    x, y = rows_of(rng, 300, 6)
    base = Sums.empty(6, 3, 1.0).with_rows(x[:100], y[:100])
    parts = [base.with_rows(x[100 + k :: 4], y[100 + k :: 4]) for k in range(4)]
    whole = Sums.combined([*((1.0, part) for part in parts), (-3.0, base)])
    np.testing.assert_allclose(whole.second, base.with_rows(x[100:], y[100:]).second, rtol=1e-12, atol=1e-9)


def test_filters_know_together_about_what_one_knows():
    """Of a logistic model without noise from elsewhere: answers of four filters together are near those of one."""
    rng = np.random.default_rng(0)
    x, _ = rows_of(rng, 4000, 4)
    y = (rng.random(4000) < 1 / (1 + np.exp(-x @ np.array([0.3, 1.0, -2.0, 0.5])))).astype(int)

    def taught(filter_, rows):
        for start in range(0, len(rows), 50):
            at = rows[start : start + 50]
            filter_ = filter_.after(x[at], y[at], None, 1.0)
        return filter_

    base = taught(Filter.empty(4, 2), np.arange(400))
    parts = [taught(base, np.arange(400 + k, 4000, 4)) for k in range(4)]
    one, whole = (
        taught(base, np.arange(400, 4000)),
        Filter.combined([*((1.0, 0.25, p) for p in parts), (-3.0, 0.0, base)]),
    )

    def off(filter_):
        return float(np.abs(filter_.weights - one.weights).max())

    assert off(whole) < 0.1 * np.abs(one.weights).max()
    assert off(whole) < min(off(part) for part in (base, *parts)) + 0.02
    turned = Filter.combined([(-3.0, 0.0, base), *((1.0, 0.25, p) for p in parts[::-1])])
    np.testing.assert_allclose(turned.weights, whole.weights, rtol=1e-9)
    np.testing.assert_allclose(Filter.combined([(1.0, 1.0, one)]).weights, one.weights, rtol=1e-6)


streams = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=8), min_size=1, max_size=5)


@given(streams, st.lists(st.integers(0, 2), max_size=6))
def test_counts_of_streams_side_by_side(shards, begun):
    base = ClassCounts.none(3).add(np.array(begun, dtype=np.int64))
    parts = [base.add(np.array(y)) for y in shards]
    whole = ClassCounts.together(parts, base)
    assert whole.seen.tolist() == np.bincount([*begun, *(label for y in shards for label in y)], minlength=3).tolist()
    state = ClassCounts.from_state(Saved(whole.state_dict()), 3)  # refuses what no stream can have been
    assert state.total == len(begun) + sum(map(len, shards))
    turned = ClassCounts.together(parts[::-1], base)
    assert (turned.first == whole.first).all()
    assert (turned.last == whole.last).all()
    left = whole.without(parts[0].without(base))
    assert left.seen.tolist() == (whole.seen - np.bincount(shards[0], minlength=3)).tolist()
    ClassCounts.from_state(Saved(left.state_dict()), 3)


def test_scales_of_streams_side_by_side_are_that_of_all_rows():
    """Also where each stream is somewhere else: the distances between the streams are part of the scale."""
    rng = np.random.default_rng(0)
    shards = [torch.from_numpy((rng.normal(size=(300, 2)) + np.array([5 * k, 0])).astype(np.float32)) for k in range(3)]
    parts = [InputScale.fresh(2, sparse=False).updated(rows) for rows in shards]
    whole = InputScale.together([(300.0, part) for part in parts])
    one = torch.cat(shards).double().numpy()
    np.testing.assert_allclose(whole.centre, one.mean(axis=0), atol=1e-6)
    np.testing.assert_allclose(whole.width, one.std(axis=0), rtol=1e-3)


def test_classes_get_their_places():
    np.testing.assert_array_equal(placed(np.array([[1, 2], [3, 4]]), np.array([3, 1]), 4), [[0, 2, 0, 1], [0, 4, 0, 3]])
