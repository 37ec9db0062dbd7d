"""Inputs of the first layer, made from stored rows: the input transform, dense, by columns, or sparse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import torch
import torch.nn.functional as F
from scipy import sparse

from smartcl.data.batch import Ints, Rows, tensor_of
from smartcl.data.spec import InputSpec
from smartcl.network.scaling import InputScale


@dataclass(frozen=True)
class NarrowInput:
    """Dense rows over some features only: column ``j`` of ``values`` is feature ``features[j]``."""

    values: torch.Tensor
    features: torch.Tensor

    def __len__(self) -> int:
        return len(self.values)


class ByFeature(NamedTuple):
    """The same non-zeros feature by feature: the rows that have it, where each feature begins, and the values."""

    rows: torch.Tensor
    starts: torch.Tensor
    values: torch.Tensor


@dataclass(frozen=True)
class SparseInput:
    """CSR rows as the parts ``F.embedding_bag`` takes."""

    indices: torch.Tensor
    offsets: torch.Tensor
    values: torch.Tensor
    n_features: int

    def __len__(self) -> int:
        return len(self.offsets)

    def to_scipy(self) -> sparse.csr_array[Any, tuple[int, int]]:
        indptr = np.append(self.offsets.numpy(), len(self.indices))
        shape = (len(self), self.n_features)
        return sparse.csr_array((self.values.numpy(), self.indices.numpy(), indptr), shape=shape)

    @cached_property
    def by_feature(self) -> ByFeature:
        """The transposed rows, made once: a batch is learned in many steps."""
        indices = self.indices.numpy()
        # sixteen bits are sorted by their digits, several times faster than numbers are compared
        order = np.argsort(indices.astype(np.uint16) if self.n_features <= 2**16 else indices, kind="stable")
        count = np.bincount(indices, minlength=self.n_features)
        rows = np.repeat(np.arange(len(self)), np.diff(self.offsets.numpy(), append=len(indices)))
        parts = rows[order], count.cumsum() - count, self.values.numpy()[order]
        return ByFeature(*map(torch.from_numpy, parts))


#: The share of the features up to which it pays to leave the others out: to gather their weights costs something too.
WORTH_NARROWING = 0.8

#: Rows ready for the first layer.
Prepared: TypeAlias = "torch.Tensor | NarrowInput | SparseInput"


def prepare(
    x: Rows,
    spec: InputSpec,
    features: Ints | None = None,
    missing: torch.Tensor | None = None,
    scale: InputScale | None = None,
) -> Prepared:
    """Apply the stream's input transform, or the scale that was learned in its place.

    A missing value becomes zero after it, whatever zero itself becomes.

    >>> spec = InputSpec(n_features=3, n_classes=2, offset=1.0, scale=0.5)
    >>> prepare(torch.tensor([[1.0, 3.0, 0.0]]), spec, missing=torch.tensor([[False, False, True]]))
    tensor([[0., 1., 0.]])
    """
    if not isinstance(x, torch.Tensor):
        return _prepare_sparse(x, spec, scale)
    values = _affine(x, spec) if scale is None else scale.apply_dense(x, features)
    if missing is not None:
        values = values.masked_fill(missing, 0.0)
    return values if features is None else NarrowInput(values, torch.from_numpy(features))


def _affine(x: torch.Tensor, spec: InputSpec) -> torch.Tensor:
    values = x.to(torch.float32)
    if spec.offset:
        values = values - spec.offset
    return values * spec.scale if spec.scale != 1.0 else values


def _prepare_sparse(
    x: sparse.csr_array[Any, tuple[int, int]], spec: InputSpec, scale: InputScale | None
) -> SparseInput:
    if spec.offset:
        raise ValueError(f"a sparse stream needs a transform that keeps zero: offset is {spec.offset}, must be 0")
    values = tensor_of(np.asarray(x.data, dtype=np.float32) if scale is None else scale.apply_sparse(x))
    return SparseInput(
        tensor_of(np.asarray(x.indices, dtype=np.int64)),
        tensor_of(np.asarray(x.indptr[:-1], dtype=np.int64)),
        values * spec.scale if spec.scale != 1.0 else values,
        int(x.shape[1]),
    )


def concatenate(bags: Sequence[SparseInput]) -> SparseInput:
    """Sparse rows one after the other."""
    if len(bags) == 1:
        return bags[0]
    starts = np.cumsum([0, *(len(bag.indices) for bag in bags)])
    return SparseInput(
        torch.cat([bag.indices for bag in bags]),
        torch.cat([bag.offsets + int(start) for bag, start in zip(bags, starts, strict=False)]),
        torch.cat([bag.values for bag in bags]),
        bags[0].n_features,
    )


def join_rows(parts: Sequence[Prepared]) -> Prepared:
    """Rows of one kind, one part after the other."""
    first = parts[0]
    if isinstance(first, torch.Tensor):
        return torch.cat([part for part in parts if isinstance(part, torch.Tensor)])
    if isinstance(first, NarrowInput):
        return NarrowInput(torch.cat([part.values for part in parts if isinstance(part, NarrowInput)]), first.features)
    return concatenate([part for part in parts if isinstance(part, SparseInput)])


def join_alike(parts: Sequence[Prepared], n_features: int) -> Prepared:
    """Rows one part after the other, also where some hold all features and others only some, and zero elsewhere."""
    if any(isinstance(part, NarrowInput) for part in parts):
        return join_rows([_widened(part, n_features) for part in parts])
    return join_rows(parts)


def _widened(rows: Prepared, n_features: int) -> Prepared:
    if not isinstance(rows, NarrowInput):
        return rows
    return torch.zeros(len(rows), n_features).index_copy_(1, rows.features, rows.values)


def split_rows(rows: Prepared, sizes: Sequence[int]) -> list[Prepared]:
    """Consecutive rows in pieces of these sizes."""
    if isinstance(rows, torch.Tensor):
        return list(torch.split(rows, list(sizes)))
    if isinstance(rows, NarrowInput):
        return [NarrowInput(values, rows.features) for values in torch.split(rows.values, list(sizes))]
    ends = np.cumsum(sizes)
    bounds = np.append(rows.offsets.numpy(), len(rows.indices))
    cuts = [(end - size, end, int(bounds[end - size]), int(bounds[end])) for size, end in zip(sizes, ends, strict=True)]
    return [
        SparseInput(rows.indices[a:b], rows.offsets[first:end] - a, rows.values[a:b], rows.n_features)
        for first, end, a, b in cuts
    ]


def take_inputs(rows: Prepared, index: torch.Tensor) -> Prepared:
    """Some of the rows, in this order.

    >>> part = SparseInput(torch.tensor([0, 1, 1]), torch.tensor([0, 2]), torch.tensor([1.0, 2.0, 3.0]), n_features=2)
    >>> take_inputs(part, torch.tensor([1, 0])).values
    tensor([3., 1., 2.])
    """
    match rows:
        case torch.Tensor():
            return rows.index_select(0, index)
        case NarrowInput(values, features):
            return NarrowInput(values.index_select(0, index), features)
        case SparseInput():
            starts, some = rows.offsets.numpy(), index.numpy()
            lengths = np.diff(starts, append=len(rows.indices))[some]
            offsets = lengths.cumsum() - lengths
            at = torch.from_numpy(np.repeat(starts[some] - offsets, lengths) + np.arange(lengths.sum()))
            indices, values = rows.indices.index_select(0, at), rows.values.index_select(0, at)
            return SparseInput(indices, torch.from_numpy(offsets), values, rows.n_features)


def narrowed(rows: Prepared) -> Prepared:
    """Dense rows without the features that are zero in all of them, where that saves work.

    >>> narrowed(torch.tensor([[0.0, 1.0, 0.0], [0.0, 2.0, 0.0]])).features
    tensor([1])
    """
    if not isinstance(rows, torch.Tensor):
        return rows
    there = torch.from_numpy(np.flatnonzero(rows.numpy().any(axis=0)))
    return NarrowInput(rows.index_select(1, there), there) if len(there) <= WORTH_NARROWING * rows.shape[1] else rows


def inner_products(a: Prepared, b: Prepared) -> torch.Tensor:
    """``a_i · b_j`` for all pairs of rows, over the features both hold."""
    match a, b:
        case torch.Tensor(), torch.Tensor():
            return a @ b.T
        case NarrowInput(), torch.Tensor():
            return a.values @ b.index_select(1, a.features).T
        case torch.Tensor(), NarrowInput():
            return inner_products(b, a).T
        case NarrowInput(), NarrowInput() if torch.equal(a.features, b.features):
            return a.values @ b.values.T
        case SparseInput(), SparseInput():
            return torch.from_numpy((a.to_scipy() @ b.to_scipy().T).toarray())
    raise ValueError(f"no inner product between {type(a).__name__} and {type(b).__name__} of other features")


def input_products(rows: Prepared, values: torch.Tensor, n_features: int) -> torch.Tensor:
    """``xᵀ @ values`` over all features: the first layer's gradient, given the slopes at its output."""
    match rows:
        case torch.Tensor():
            return rows.T @ values
        case NarrowInput():
            product = torch.zeros(n_features, values.shape[1])
            return product.index_copy_(0, rows.features, rows.values.T @ values)
        case SparseInput():
            at, starts, weights = rows.by_feature
            return F.embedding_bag(at, values, starts, mode="sum", per_sample_weights=weights)
