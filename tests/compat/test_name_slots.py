from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from smartcl.compat.name_slots import NameSlots


def test_the_first_rows_decide_the_width_and_later_names_take_what_is_spare() -> None:
    slots = NameSlots()
    assert slots.rows([{"a": 1.5, "b": None}], learn=True).shape == (1, 17)
    found = slots.rows([{"new": 2.0, "a": 3.0}], learn=True)
    assert found[0, :2].tolist() == [3.0, 2.0]


def test_a_name_that_is_only_asked_about_takes_nothing() -> None:
    slots = NameSlots(3)
    slots.rows([{"a": 1.0}], learn=True)
    slots.rows([{"x": 1.0}], learn=False)
    assert slots.slots == {"a": 0}


def test_names_share_columns_when_all_are_taken() -> None:
    slots = NameSlots(2)
    rows = [{f"name {number}": 1.0 for number in range(5)}]
    assert slots.rows(rows, learn=True).sum() == 5
    assert np.array_equal(slots.rows(rows, learn=True), slots.rows(rows, learn=False))


def test_many_columns_are_sparse() -> None:
    found = NameSlots(100_000).rows([{"word": "one"}, {}], learn=True)
    assert sparse.issparse(found)
    assert found.shape == (2, 100_000)
    with pytest.raises(ValueError, match="features must be at least 1, got 0"):
        NameSlots(0)
