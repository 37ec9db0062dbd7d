"""Rows out of an arena, against one row after the other."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from smartcl.memory.nonzeros import bytes_of, spans


@given(st.lists(st.integers(0, 5), min_size=1, max_size=12), st.data())
def test_rows_are_copied_in_any_order_and_any_number_of_times(sizes: list[int], data: st.DataObject) -> None:
    lengths = np.array(sizes)
    starts = lengths.cumsum() - lengths
    arena = np.arange(lengths.sum(), dtype=np.uint8)
    index = np.array(data.draw(st.lists(st.integers(0, len(sizes) - 1), max_size=20)), dtype=np.int64)
    one_by_one = [byte for i in index for byte in arena[starts[i] : starts[i] + lengths[i]]]
    assert bytes_of(arena, index, starts[index], lengths[index]).tolist() == one_by_one
    assert arena[spans(starts[index], lengths[index])].tolist() == one_by_one
