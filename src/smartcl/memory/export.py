"""Stored samples as a table for people: their values as they are read back, and their labels."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from smartcl.data.batch import Ints, Rows
from smartcl.errors import extra
from smartcl.memory.nonzeros import Nonzeros, nonzeros_of
from smartcl.memory.store import SampleStore


@dataclass(frozen=True)
class Names:
    """Names of classes and features; a feature without a name is called by its number."""

    classes: NDArray[Any] | None = None
    features: Sequence[str] | None = None

    def feature(self, number: int) -> str:
        """
        >>> Names(features=["age"]).feature(0), Names().feature(3)
        ('age', 'feature 3')
        """
        known = self.features is not None and number < len(self.features)
        return str(self.features[number]) if self.features is not None and known else f"feature {number}"


def stored_rows(store: SampleStore, index: Ints) -> Rows:
    """Stored samples over all features of their stream; what is forgotten or missing reads zero.

    >>> store = SampleStore.empty(n_features=3, sparse=False)
    >>> store = store.join(store.pack(torch.tensor([[1.0, 0.0, 5.0]]), [1]))
    >>> stored_rows(store, np.array([0]))
    tensor([[1., 0., 5.]])
    """
    found = store.gather(index, missing=False).x
    if not isinstance(found, torch.Tensor) or store.schema.is_full:
        return found
    rows = torch.zeros(len(index), store.n_features)
    rows[:, torch.from_numpy(store.features)] = found.float()
    return rows


def as_held(store: SampleStore, x: Rows) -> Rows:
    """Rows with values at the precision of the stored samples.

    >>> store = SampleStore.empty(n_features=2, sparse=False)
    >>> as_held(store, torch.tensor([[0.3, 0.0]]))
    tensor([[0.3000, 0.0000]])
    """
    code = store.code
    if code is None or code.levels.exact:
        return x
    if isinstance(x, torch.Tensor) and store.schema.is_full:
        values, held = x.numpy(), np.zeros(tuple(x.shape), np.float32)
        at = np.nonzero(values)
        counts = np.bincount(at[0], minlength=len(values))
        held[at] = code.levels.round(Nonzeros(counts, at[1], values[at].astype(np.float32))).values
        return torch.from_numpy(held)
    rounded = code.levels.round(nonzeros_of(x, store.schema)).to_csr(store.n_features)
    return torch.from_numpy(rounded.toarray()) if isinstance(x, torch.Tensor) else rounded


def exported(store: SampleStore, names: Names) -> dict[str, Any]:
    """Columns by name: of a dense stream one for each feature in use, of a sparse one lists of features and values."""
    rows = store.gather(np.arange(len(store)), missing=False).x
    columns: dict[str, Any]
    if isinstance(rows, torch.Tensor):
        values = rows.numpy()
        columns = {names.feature(int(number)): values[:, place] for place, number in enumerate(store.features)}
    else:
        parts = [slice(a, b) for a, b in zip(rows.indptr[:-1], rows.indptr[1:], strict=True)]
        columns = {
            "features": [[names.feature(int(number)) for number in rows.indices[part]] for part in parts],
            "values": [rows.data[part].tolist() for part in parts],
        }
    labels = store.labels.astype(np.int64)
    beside = {"id": store.extra["id"]} if "id" in store.extra else {}
    return {**beside, "label": labels if names.classes is None else names.classes[labels], **columns}


def export(store: SampleStore, names: Names, path: str | os.PathLike[str] | None) -> Any:
    """A pandas frame, or a Parquet file under ``path``."""
    columns = exported(store, names)
    if path is None:
        return extra("pandas", "pandas").DataFrame(columns)
    from smartcl.saving.persistence import path_of  # a memory alone does not load what saves models

    table = extra("pyarrow", "parquet").table({name: list(values) for name, values in columns.items()})
    extra("pyarrow.parquet", "parquet").write_table(table, str(path_of(path, "path")))
    return None
