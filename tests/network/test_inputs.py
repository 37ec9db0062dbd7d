"""Every kind of prepared rows, against the dense matrix it stands for."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import sparse

from smartcl.data.spec import InputSpec
from smartcl.network.inputs import (
    NarrowInput,
    Prepared,
    SparseInput,
    concatenate,
    inner_products,
    input_products,
    narrowed,
    prepare,
    take_inputs,
)

FEATURES = np.array([0, 3, 4])


def random_rows(n: int, seed: int) -> torch.Tensor:
    """Rows that are zero outside ``FEATURES``, with an empty row and an empty last row."""
    rng = np.random.default_rng(seed)
    x = np.zeros((n, 6), dtype=np.float32)
    x[:, FEATURES] = rng.normal(size=(n, 3)) * (rng.random((n, 3)) < 0.7)
    x[1] = x[-1] = 0.0
    return torch.from_numpy(x)


def kinds(x: torch.Tensor) -> dict[str, Prepared]:
    spec = InputSpec(n_features=6, n_classes=2)
    return {
        "dense": prepare(x, spec),
        "narrow": prepare(x[:, FEATURES], spec, FEATURES),
        "sparse": prepare(sparse.csr_array(x.numpy()), spec),
    }


def test_the_transform_and_missing_values() -> None:
    spec = InputSpec(n_features=3, n_classes=2, dtype="uint8", offset=10.0, scale=0.5)
    x = torch.tensor([[0, 10, 30], [255, 0, 11]], dtype=torch.uint8)
    missing = torch.tensor([[True, False, False], [False, False, True]])
    expected = torch.tensor([[0.0, 0.0, 10.0], [122.5, -5.0, 0.0]])
    assert torch.equal(prepare(x, spec, missing=missing), expected)  # type: ignore[arg-type]


def test_preparing_leaves_the_rows_alone() -> None:
    spec = InputSpec(n_features=6, n_classes=2, offset=1.0, scale=0.5)
    x = random_rows(4, seed=0)
    before = x.clone()
    prepare(x, spec, missing=torch.ones(4, 6, dtype=torch.bool))
    assert torch.equal(x, before)


def test_sparse_rows_scale_and_return() -> None:
    x = sparse.csr_array(random_rows(5, seed=1).numpy())
    part = prepare(x, InputSpec(n_features=6, n_classes=2, scale=4.0))
    assert isinstance(part, SparseInput)
    assert len(part) == 5
    np.testing.assert_array_equal(part.to_scipy().toarray(), 4 * x.toarray())


def test_a_sparse_stream_has_no_offset() -> None:
    with pytest.raises(ValueError, match="offset is 1"):
        prepare(sparse.csr_array(np.eye(6, dtype=np.float32)), InputSpec(n_features=6, n_classes=2, offset=1.0))


def test_concatenating_sparse_parts_stacks_their_rows() -> None:
    a, b, c = (random_rows(n, seed=n) for n in (3, 4, 2))
    part = concatenate([kinds(x)["sparse"] for x in (a, b, c)])
    np.testing.assert_array_equal(part.to_scipy().toarray(), torch.cat([a, b, c]).numpy())


@pytest.mark.parametrize(
    ("left", "right"),
    [("dense", "dense"), ("narrow", "dense"), ("dense", "narrow"), ("narrow", "narrow"), ("sparse", "sparse")],
)
def test_inner_products(left: str, right: str) -> None:
    a, b = random_rows(5, seed=2), random_rows(4, seed=3)
    torch.testing.assert_close(inner_products(kinds(a)[left], kinds(b)[right]), a @ b.T, rtol=1e-6, atol=1e-6)


def test_no_inner_product_between_other_features() -> None:
    values = torch.ones(2, 2)
    with pytest.raises(ValueError, match="other features"):
        inner_products(NarrowInput(values, torch.tensor([0, 1])), NarrowInput(values, torch.tensor([0, 2])))


@pytest.mark.parametrize("kind", ["dense", "narrow", "sparse"])
def test_taking_some_rows_in_another_order(kind: str) -> None:
    x, index = random_rows(7, seed=0), torch.tensor([6, 2, 2, 1, 0])
    taken = take_inputs(kinds(x)[kind], index)
    assert len(taken) == 5
    everything = kinds(torch.eye(6))["dense" if kind == "dense" else kind]
    torch.testing.assert_close(inner_products(taken, everything), inner_products(kinds(x[index])[kind], everything))


@pytest.mark.parametrize("kind", ["dense", "narrow", "sparse"])
def test_input_products_cover_all_features(kind: str) -> None:
    x, values = (
        random_rows(7, seed=1),
        torch.from_numpy(np.random.default_rng(2).normal(size=(7, 4)).astype(np.float32)),
    )
    torch.testing.assert_close(input_products(kinds(x)[kind], values, 6), x.T @ values)


@pytest.mark.parametrize("n_features", [6, 2**16, 2**16 + 1, 10**6])
def test_rows_by_feature_are_scipys_transpose(n_features: int) -> None:
    rng = np.random.default_rng(3)
    indices, lengths = rng.integers(0, n_features, 40), np.array([0, 17, 1, 0, 22, 0])
    indices[:2] = n_features - 1
    part = SparseInput(
        torch.from_numpy(indices),
        torch.from_numpy(lengths.cumsum() - lengths),
        torch.from_numpy(rng.normal(size=40).astype(np.float32)),
        n_features,
    )
    expected, made = part.to_scipy().T.tocsr(), part.by_feature
    for ours, theirs in zip(made, (expected.indices, expected.indptr[:-1], expected.data), strict=True):
        np.testing.assert_array_equal(ours.numpy(), theirs)
    assert part.by_feature is made


@pytest.mark.parametrize("rows", [random_rows(7, seed=1), torch.zeros(2, 6)])
def test_narrowed_rows_are_the_same_rows(rows):
    less = narrowed(rows)
    assert isinstance(less, NarrowInput)
    assert torch.equal(less.features, torch.from_numpy(np.flatnonzero(rows.numpy().any(axis=0))))
    assert torch.equal(torch.zeros(len(rows), 6).index_copy_(1, less.features, less.values), rows)


@pytest.mark.parametrize("kind", ["dense", "narrow", "sparse"])
def test_rows_with_nothing_to_leave_out_stay_as_they_are(kind):
    rows = torch.ones(2, 6) if kind == "dense" else kinds(random_rows(7, seed=1))[kind]
    assert narrowed(rows) is rows
