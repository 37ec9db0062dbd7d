"""Store of samples: rows as bytes, their labels, and the columns that a method keeps beside them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from smartcl.data.batch import Bools, Ints, Rows
from smartcl.memory.budget import Budget, format_bytes
from smartcl.memory.coded_rows import CodedRows, in_code
from smartcl.memory.levels import Levels
from smartcl.memory.packed_rows import PackedRows, packed
from smartcl.memory.row_code import RowCode
from smartcl.memory.sample_columns import Columns, LabelColumn
from smartcl.memory.schema import MAX_VERSIONS, Bytes, Schema, lacking, live, saved_versions
from smartcl.memory.whole_rows import WholeRows, saved_dtype
from smartcl.saving.saved import Saved

#: A row of a wider sparse stream is always written by feature id.
MAX_POSITIONAL = 2**16


class Gathered(NamedTuple):
    """Samples read back: rows over the current schema's features (dense) or all (CSR), labels, and what is missing.

    ``missing[i, j]`` is True if row ``i`` was stored without the schema's ``j``-th feature; None if nothing is.
    """

    x: Rows
    y: torch.Tensor
    missing: torch.Tensor | None


@dataclass(frozen=True, slots=True, eq=False)
class SampleStore:
    """Samples in as few bytes as hold them exactly. A value: every change makes a new store.

    >>> store = SampleStore.empty(n_features=6, sparse=False)
    >>> new = store.pack(torch.tensor([[0, 0, 9, 0, 7, 0], [1, 0, 0, 1, 1, 1]]), [0, 1], score=[0.5, 2.0])
    >>> store = store.join(new)
    >>> store.gather(np.array([1])).x
    tensor([[1., 0., 0., 1., 1., 1.]])
    >>> store.nbytes, store.sizes, store.overhead
    (32, array([17, 15]), 0)

    Forgetting features keeps the others exactly; a feature that returns is missing, not zero, in older rows:

    >>> store = store.restrict(Schema.of(np.array([1, 0, 1, 0, 0, 0], dtype=bool)))
    >>> store = store.extend(Schema.of(np.array([1, 0, 1, 1, 0, 0], dtype=bool)))
    >>> store.gather(np.array([1])).x, store.gather(np.array([1])).missing
    (tensor([[1., 0., 0.]]), tensor([[False, False,  True]]))
    """

    rows: PackedRows | CodedRows | WholeRows
    columns: Columns
    schemas: tuple[Schema, ...]
    sparse: bool
    versions: Bytes | None = None

    def __post_init__(self) -> None:
        if len(self.rows) != len(self.columns):
            raise ValueError(f"y must be one label per row: {len(self.rows)} rows, {len(self.columns)} labels")
        if self.versions is not None:
            self.versions.flags.writeable = False

    @classmethod
    def empty(cls, n_features: int, sparse: bool, whole_dtype: str | None = None) -> SampleStore:
        """A store without samples. With ``whole_dtype`` rows are kept whole in it, and no feature is forgotten."""
        rows = PackedRows.empty() if whole_dtype is None else WholeRows.empty(n_features, whole_dtype)
        return cls(rows, Columns.of([], {}), (Schema.full(n_features),), sparse)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def schema(self) -> Schema:
        """The current schema, under which new samples are stored."""
        return self.schemas[-1]

    @property
    def n_features(self) -> int:
        return self.schema.n_features

    @property
    def features(self) -> Ints:
        """The features of the current schema: the columns of what a dense store gathers."""
        return self.schema.features

    @property
    def kind(self) -> dict[str, Any]:
        """What samples of two stores must have in common to be held together."""
        return {"n_features": self.n_features, "sparse": self.sparse, "whole_dtype": self.rows.whole_dtype}

    @property
    def code(self) -> RowCode | None:
        """The code that rows are written in, if they are."""
        return self.rows.code if isinstance(self.rows, CodedRows) else None

    @property
    def labels(self) -> LabelColumn:
        return self.columns.labels

    @property
    def extra(self) -> dict[str, NDArray[Any]]:
        """The named columns that a method keeps beside each sample."""
        return dict(self.columns.named)

    @property
    def sizes(self) -> Ints:
        """For each sample, the bytes that removing it frees: its row and its share of every column."""
        return self.rows.sizes + self.columns.width + (self.versions is not None)

    @property
    def overhead(self) -> int:
        """The bytes that belong to no sample: the masks of the schemas, and the code that rows are written in."""
        return sum(schema.nbytes for schema in self.schemas) + self.rows.overhead

    @property
    def nbytes(self) -> int:
        """The bytes of everything held; whole rows that have just arrived sparse count as they will be kept."""
        versions = 0 if self.versions is None else self.versions.nbytes
        return self.rows.nbytes + self.columns.nbytes + versions + self.overhead

    def pack(self, x: Rows, y: torch.Tensor | ArrayLike, **extra: ArrayLike) -> SampleStore:
        """New samples in a store of their own, under the current schema; features out of it are dropped."""
        if x.ndim != 2 or x.shape[1] != self.n_features:
            raise ValueError(f"x must have {self.n_features} features, as the store has; got shape {tuple(x.shape)}")
        rows = self.rows.pack(x, self.schema, self._positional)
        return SampleStore(rows, Columns.of(y, extra), (self.schema,), self.sparse)

    def join(self, other: SampleStore) -> SampleStore:
        """These samples, then the other's. The current schema has the features of both current ones."""
        if self.kind != other.kind:
            raise ValueError(f"stores must be of a kind: {self.kind} here, {other.kind} there")
        if self.schema != other.schema:
            both = self.schema.union(other.schema)
            return self.extend(both).join(other.extend(both))
        if self.code is not other.code:
            other = other.recode(self.code)
        versions = np.concatenate([self._versions, other._versions + np.uint8(len(self.schemas))])
        columns = self.columns.join(other.columns)
        joined = replace(self, rows=self.rows.join(other.rows), columns=columns)
        return joined._settle((*self.schemas, *other.schemas), versions)

    def take(self, index: Ints | Bools) -> SampleStore:
        """The samples at these positions, or where a mask is True."""
        index = self._positions(index)
        taken = replace(self, rows=self.rows.take(index), columns=self.columns.take(index))
        return taken._settle(self.schemas, self._versions[index])

    def probe(self, among: Ints, count: int) -> SampleStore:
        """At most ``count`` of these samples, evenly spaced, and one of each version: its masks are the store's."""
        spaced = among[np.linspace(0, len(among) - 1, min(count, len(among))).astype(np.int64)]
        if self.versions is None:
            return self.take(spaced)
        return self.take(np.union1d(spaced, np.unique(self.versions, return_index=True)[1]))

    def restrict(self, schema: Schema) -> SampleStore:
        """The same samples with ``schema`` as the current one; what is out of it is forgotten in every row."""
        return self._move([version.intersect(schema) for version in self.schemas], schema)

    def extend(self, schema: Schema) -> SampleStore:
        """The same samples with a larger current schema; its new features are missing in the rows there are."""
        if self.schema.union(schema) != schema:
            raise ValueError("schema must have all features of the current one: use restrict to forget some")
        return self._move(self.schemas, schema)

    def widen(self, n_features: int) -> SampleStore:
        """The same samples of a stream with more features, all of them in the current schema.

        They are missing in the rows there are; whole rows read zero.
        """
        if isinstance(self.rows, WholeRows):
            return replace(self, schemas=(self.schema.widen(n_features),), rows=self.rows.widen(n_features))
        if isinstance(self.rows, CodedRows):
            self = replace(self, rows=self.rows.widen(n_features))
        padded = tuple(schema.pad(n_features, new=False) for schema in self.schemas)
        return replace(self, schemas=padded)._move(padded, self.schema.widen(n_features))

    def recode(self, code: RowCode | None) -> SampleStore:
        """The same samples written in ``code``, with values at its precision; None: each row in a format of its own."""
        if isinstance(self.rows, WholeRows):
            raise ValueError("a store of whole samples is in no code")
        chunks = (self.rows.nonzeros(chunk, self.schema) for chunk in self.rows.chunks())
        if code is None:
            return replace(self, rows=packed(chunks, self.schema, self._positional))
        return replace(self, rows=in_code(chunks, code, self.schema, self._positional))

    def rounded(self, levels: Levels) -> SampleStore:
        """The same samples with values at these levels, in no code."""
        if isinstance(self.rows, WholeRows):
            raise ValueError("a store of whole samples keeps its values")
        chunks = (self.rows.nonzeros(chunk, self.schema) for chunk in self.rows.chunks())
        return replace(self, rows=packed((levels.round(chunk) for chunk in chunks), self.schema, self._positional))

    def with_extra(self, **columns: ArrayLike) -> SampleStore:
        """The same samples with these columns new or replaced."""
        return replace(self, columns=self.columns.replace(columns))

    def relabelled(self, names: Ints) -> SampleStore:
        """The same samples, with the label ``names[label]`` for each."""
        return replace(self, columns=Columns.of(names[self.labels.astype(np.int64)], dict(self.columns.named)))

    def gather(self, index: Ints, missing: bool = True) -> Gathered:
        """The samples at these positions, which may repeat, ready to train on.

        With ``missing=False`` it is not worked out which values are missing: enough where zero stays zero in the input.
        """
        index = self._positions(index)
        y = torch.from_numpy(self.labels[index].astype(np.int64))
        if self.sparse:
            return Gathered(self.rows.nonzeros(index, self.schema).to_csr(self.n_features), y, None)
        x = torch.from_numpy(self.rows.dense(index, self.schema))
        lacks = None if self.versions is None or not missing else lacking(self.schemas, self.versions[index])
        return Gathered(x, y, None if lacks is None else torch.from_numpy(lacks))

    def state_dict(self) -> dict[str, Any]:
        """Everything held, as arrays and plain values."""
        return {
            **self.kind,
            "rows": self.rows.state_dict(),
            **self.columns.state_dict(),
            "schemas": np.stack([np.packbits(schema.mask) for schema in self.schemas]),
            "versions": self._versions,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any] | Saved, n_classes: int | None = None) -> SampleStore:
        """The store that ``state_dict`` described, or a ``StateError`` where no store can have done so.

        Labels are below ``n_classes``, where their number is known.
        """
        saved = Saved.of(state, "store")
        sparse, dtype, columns = saved.flag("sparse"), saved_dtype(saved), Columns.from_state(saved, n_classes)
        masks, versions = saved_versions(saved, len(columns), one_only=sparse or dtype is not None)
        schemas = tuple(Schema.of(mask) for mask in masks)
        rows: PackedRows | CodedRows | WholeRows
        if dtype is None:
            positional = cls.empty(schemas[-1].n_features, sparse)._positional
            kind = CodedRows if "code" in saved.entries("rows") else PackedRows
            rows = kind.from_state(saved.part("rows"), masks, versions, schemas[-1], positional)
        elif schemas[-1].is_full:
            rows = WholeRows.from_state(saved.part("rows"), len(columns), schemas[-1].n_features, dtype)
        else:
            saved.refuse("schemas", "must have all features where samples are kept whole")
        return cls(rows, columns, schemas, sparse, np.array(versions) if len(schemas) > 1 else None)

    @property
    def _versions(self) -> Bytes:
        return np.zeros(len(self), dtype=np.uint8) if self.versions is None else self.versions

    @property
    def _positional(self) -> bool:
        return not self.sparse or self.n_features <= MAX_POSITIONAL

    def _positions(self, index: Ints | Bools) -> Ints:
        if index.dtype == np.bool_:
            if len(index) != len(self):
                raise IndexError(f"a mask must have one bool for each of {len(self)} samples, got {len(index)}")
            return np.flatnonzero(index)
        if len(index) and not 0 <= index.min() <= index.max() < len(self):
            raise IndexError(f"positions must be from 0 to {len(self) - 1}, got {index.min()} to {index.max()}")
        return index.astype(np.int64, copy=False)

    def _move(self, targets: tuple[Schema, ...] | list[Schema], current: Schema) -> SampleStore:
        """All rows written under a new current schema; those of version ``i`` know the features of ``targets[i]``."""
        if isinstance(self.rows, WholeRows):
            if not current.is_full:
                raise ValueError("a store of whole samples keeps every feature")
            return self
        rows = self.rows
        if current != self.schema or any(old != new for old, new in zip(self.schemas, targets, strict=True)):
            known = np.stack([target.mask for target in targets])
            rows = rows.repack(known, self._versions, self.schema, current, self._positional)
        return replace(self, rows=rows)._settle((*targets, current), self._versions)

    def _settle(self, schemas: tuple[Schema, ...], versions: Bytes) -> SampleStore:
        """The same rows, stored under these versions, with only the live schemas held and not too many of them."""
        if self.sparse:
            # A feature out of a sparse row reads zero in any case: it does not matter what the row knew.
            versions = np.full_like(versions, len(schemas) - 1)
        kept, numbers = live(schemas, versions)
        store = replace(self, schemas=kept, versions=numbers)
        if len(kept) <= MAX_VERSIONS:
            return store
        first, second, *others = kept
        oldest = first.intersect(second)
        return store._move([oldest, oldest, *others], kept[-1])


def describe(store: SampleStore, budget: Budget | None = None) -> str:
    """A store in one line.

    >>> describe(SampleStore.empty(n_features=784, sparse=False), Budget(1_000_000))
    '0 samples in 0 B of 1 MB, 784 of 784 features kept'
    """
    limit = "" if budget is None else f"{', ' if budget.is_unbounded else ' of '}{format_bytes(budget.nbytes)}"
    kept = f"{len(store.schema):,} of {store.n_features:,} features kept"
    precision = "" if store.code is None else f", {store.code.levels}"
    return f"{len(store):,} samples in {format_bytes(store.nbytes)}{limit}, {kept}{precision}"
