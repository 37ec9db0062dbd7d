"""Features in the order of their frequency: nothing is lost on the way there and back, and frequent ones cost less."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from smartcl.memory import SampleStore, Schema
from smartcl.memory.column_order import ColumnOrder, orders
from smartcl.memory.grading import choose_levels, choose_order, learn_code
from smartcl.memory.nonzeros import nonzeros_of_dense
from smartcl.saving.saved import Saved, StateError


@given(seed=st.integers(0, 2**32 - 1), width=st.sampled_from([1, 2, 9, 70]), share=st.sampled_from([0.0, 0.3, 1.0]))
@settings(max_examples=60, deadline=None)
def test_rows_come_back_from_any_order(seed: int, width: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    schema = Schema.of(rng.random(width) < 0.7)
    features = schema.features
    x = rng.integers(1, 9, (10, len(features))) * (rng.random((10, len(features))) < 0.4)
    rows = nonzeros_of_dense(x.astype(np.float32), schema)
    order = ColumnOrder(rng.permutation(width)[: round(share * width)].astype(np.uint8))
    placed = order.place(rows, schema)
    # The slow way: the features that come first and are in the schema, then the others.
    first = [feature for feature in order.first.tolist() if schema.mask[feature]]
    written = [*first, *(feature for feature in features.tolist() if feature not in first)]
    for row in range(10):
        known = dict(zip(features.tolist(), x[row].tolist(), strict=True))
        expected = [(place, known[feature]) for place, feature in enumerate(written) if known[feature]]
        of_row = placed.take(np.array([row]))
        assert list(zip(of_row.ids.tolist(), of_row.values.tolist(), strict=True)) == expected
    for found, was in zip(order.find(placed, schema).arrays, rows.arrays, strict=True):
        np.testing.assert_array_equal(found, was)


def words(n_rows: int = 300, n_features: int = 20_000) -> sparse.csr_array:
    """Few words that many rows have, and many that few have, at random places."""
    rng = np.random.default_rng(0)
    ranks = (n_features ** rng.random((n_rows, 40))).astype(np.int64) % n_features
    places = rng.permutation(n_features)[ranks].ravel()
    indptr = np.arange(0, 40 * n_rows + 1, 40)
    return sparse.csr_array((np.ones(len(places), dtype=np.float32), places, indptr), shape=(n_rows, n_features))


def test_frequent_words_first_hold_more_rows_in_the_same_bytes() -> None:
    store = SampleStore.empty(20_000, sparse=True).pack(words(), np.zeros(300, dtype=int))
    levels = choose_levels(store, store, 2, 100_000)
    assert levels is not None
    order = choose_order(store, 100_000)
    plain, ordered = (store.recode(learn_code(store, levels, 100_000, *given)) for given in ((), (order,)))
    assert ordered.overhead > order.nbytes > 0
    assert (100_000 - ordered.overhead) / ordered.sizes.mean() > 1.15 * (100_000 - plain.overhead) / plain.sizes.mean()
    for store in (plain, ordered):
        again = SampleStore.from_state(store.state_dict())
        assert (again.gather(np.arange(300)).x != plain.gather(np.arange(300)).x).nnz == 0


def test_a_small_memory_and_rows_with_a_shape_keep_their_order() -> None:
    store = SampleStore.empty(20_000, sparse=True).pack(words(), np.zeros(300, dtype=int))
    assert choose_order(store, 500).nbytes == 0
    assert len(orders(nonzeros_of_dense(np.ones((2, 784), dtype=np.float32), Schema.full(784)), 784)) == 1


@pytest.mark.parametrize("first", [[1, 1], [9]])
def test_an_order_that_can_be_none_is_refused(first: list[int]) -> None:
    with pytest.raises(StateError, match="must be different features, of 9"):
        ColumnOrder.from_state(Saved({"first": np.array(first, dtype=np.uint8)}, "order"), 9)
