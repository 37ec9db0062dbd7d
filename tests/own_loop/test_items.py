from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from scipy import sparse

from smartcl.own_loop.items import ALWAYS_EXACT, SOMETIMES_EXACT, ItemForm

SHAPES = [(), (3,), (1, 2, 2), (2, 1)]


def back(x: Any) -> Any:
    """Items as a memory gives them back: their rows in single precision."""
    form = ItemForm.of(x)
    rows = form.rows(x)
    return form.items(rows.float() if isinstance(rows, torch.Tensor) else rows.astype(np.float32))


@pytest.mark.parametrize("dtype", [*ALWAYS_EXACT, *SOMETIMES_EXACT])
@pytest.mark.parametrize("shape", SHAPES)
def test_shape_and_dtype_come_back_as_they_went_in(shape: tuple[int, ...], dtype: str) -> None:
    x = torch.arange(5 * int(np.prod(shape))).reshape(5, *shape).to(getattr(torch, dtype))
    found = back(x)
    assert found.dtype == x.dtype
    assert found.shape == x.shape
    assert torch.equal(found.double(), x.double())


@pytest.mark.parametrize("dtype", ["bool", "uint8", ">i2", "int64", "float32", ">f8"])
def test_numpy_in_tensor_out(dtype: str) -> None:
    x = np.arange(12).reshape(3, 2, 2).astype(dtype)[:, ::-1]
    found = back(x)
    assert isinstance(found, torch.Tensor)
    assert np.array_equal(found.numpy(), x)
    assert found.numpy().dtype == x.dtype.newbyteorder("=")


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix, sparse.coo_array, sparse.csc_array])
def test_sparse_rows_come_back_as_csr_of_their_dtype(kind: Any) -> None:
    dense = np.array([[0, 7, 0], [1, 0, 0]], dtype=np.int16)
    found = back(kind(dense))
    assert isinstance(found, sparse.csr_array)
    assert found.dtype == np.int16
    assert np.array_equal(found.toarray(), dense)


def test_duplicate_entries_are_summed_in_a_copy() -> None:
    x = sparse.csr_array((np.ones(2, dtype=np.float32), [1, 1], [0, 2]), shape=(1, 3))
    assert back(x).toarray().tolist() == [[0.0, 2.0, 0.0]]
    assert x.nnz == 2


def test_what_needs_a_gradient_or_is_a_view_is_kept_as_it_is() -> None:
    x = torch.arange(6.0, requires_grad=True).reshape(2, 3).T
    assert torch.equal(back(x), x.detach())


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (torch.zeros(2, 3, dtype=torch.complex64), "x must hold bool, uint8, .*, got complex64"),
        (np.array([["a"]]), "x must hold real numbers, got dtype <U1"),
        (np.zeros((2, 0)), r"one item in each row, got the shape \(2, 0\)"),
        (torch.tensor(1.0), r"one item in each row, got the shape \(\)"),
        (torch.tensor([[float("nan")]]), "x must be finite"),
        (sparse.csr_array(np.array([[np.inf]], dtype=np.float32)), "x must be finite"),
        (np.array([[0.1]]), r"x holds numbers of float64 that single precision cannot hold: add x.float\(\)"),
        (torch.tensor([[2**24 + 1]]), "x holds whole numbers beyond 16,777,216"),
        (torch.tensor([[-(2**63)]]), "x holds whole numbers beyond 16,777,216"),
        (torch.zeros(2, 3).to_sparse(), "x must be a dense tensor or a SciPy sparse array"),
    ],
    ids=str,
)
def test_what_cannot_be_exact_is_refused(x: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        back(x)


def test_whole_numbers_are_whole_at_levels_too() -> None:
    form = ItemForm.of(torch.zeros(1, 4, dtype=torch.uint8))
    assert form.items(torch.tensor([[0.0, 12.6, 300.0, -3.0]])).tolist() == [[0, 13, 255, 0]]
