from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from smartcl.data.batch import Batch, take_rows

DENSE = np.random.default_rng(0).integers(0, 3, size=(6, 4)).astype(np.float32)
LABELS = [0, 1, 0, 1, 1, 0]


def batches() -> tuple[Batch, Batch]:
    y, ids = torch.tensor(LABELS), np.arange(10, 16)
    return Batch(torch.from_numpy(DENSE), y, 2, ids), Batch(sparse.csr_array(DENSE), y, 2, ids)


@given(st.lists(st.integers(0, 5), max_size=10))
def test_taking_is_indexing_dense_and_sparse(positions: list[int]) -> None:
    index = np.array(positions, dtype=np.int64)
    for batch in batches():
        taken = batch.take(index)
        rows = taken.x.numpy() if isinstance(taken.x, torch.Tensor) else taken.x.toarray()
        np.testing.assert_array_equal(rows, DENSE[index])
        assert taken.y.tolist() == [LABELS[i] for i in positions]
        assert taken.ids is not None
        assert taken.ids.tolist() == [10 + i for i in positions]
        assert (taken.task, len(taken), taken.is_sparse) == (2, len(positions), batch.is_sparse)


def test_rows_keep_their_kind_and_dtype() -> None:
    index = np.array([3, 3, 0])
    tensor = take_rows(torch.arange(6, dtype=torch.uint8).reshape(6, 1), index)
    assert isinstance(tensor, torch.Tensor)
    assert tensor.dtype == torch.uint8
    rows = take_rows(sparse.csr_array(DENSE), index)
    assert isinstance(rows, sparse.csr_array)
    assert rows.dtype == np.float32


@pytest.mark.parametrize("y", [torch.zeros(5), torch.zeros(6, 1), torch.tensor(0)])
def test_labels_must_be_one_per_row(y: torch.Tensor) -> None:
    with pytest.raises(ValueError, match="x has 6 rows"):
        Batch(torch.from_numpy(DENSE), y)


def test_ids_must_be_one_per_row() -> None:
    with pytest.raises(ValueError, match="6 rows, 5 ids"):
        Batch(torch.from_numpy(DENSE), torch.tensor(LABELS), ids=np.arange(5))
