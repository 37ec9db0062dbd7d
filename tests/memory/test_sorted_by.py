"""Samples in order, against NumPy's own sort by several keys."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from smartcl.memory.pool import sorted_by

LENGTHS = st.integers(0, 40)


@given(st.data(), LENGTHS)
def test_the_order_is_that_of_lexsort(data: st.DataObject, length: int) -> None:
    some = st.sampled_from([-np.inf, -2.5, -1e-30, 0.0, 1e-40, 1e-30, 0.5, 0.50000006, 1.0, 70000.0, np.inf])
    keys = data.draw(arrays(np.float32, length, elements=some))
    doubted = data.draw(arrays(np.bool_, length))
    labels = data.draw(arrays(np.int64, length, elements=st.sampled_from([-1, 0, 1, 2, 255, 300, 65536, 70000])))
    for groups in ((), (doubted,), (labels,), (doubted, labels), (~doubted, doubted)):
        assert sorted_by(keys, *groups).tolist() == np.lexsort((keys, *groups)).tolist()


def test_a_hundred_thousand_keys_with_many_alike() -> None:
    rng = np.random.default_rng(0)
    keys = (rng.standard_exponential(100_000, dtype=np.float32) * 1000).round() / np.float32(1000)
    labels = rng.integers(0, 12, len(keys))
    assert np.array_equal(sorted_by(keys, labels), np.lexsort((keys, labels)))
