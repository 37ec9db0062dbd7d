"""Samples of a replay memory at one moment, as a dataset of torch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch.utils.data import Dataset

from smartcl.data.batch import Ints
from smartcl.memory.export import stored_rows
from smartcl.memory.store import SampleStore
from smartcl.own_loop.beside import RESERVED, TARGET
from smartcl.own_loop.items import ItemForm


class Remembered(Dataset[tuple[Any, ...]]):
    """The samples of one moment: what the memory learns or lets go of later does not change them.

    An item is read from its bytes when it is asked for, and a loader's whole batch at once.
    """

    def __init__(self, store: SampleStore, form: ItemForm, columns: tuple[str, ...] = ()) -> None:
        known = [name for name in store.extra if name not in (TARGET, *RESERVED)]
        unknown = next((name for name in columns if name not in known), None)
        if unknown is not None:
            raise ValueError(f"the memory has no column {unknown!r}: it has {', '.join(known) or 'none'}")
        self.store, self.form, self.columns = store, form, columns

    def __len__(self) -> int:
        return len(self.store)

    def read(self, index: Ints) -> tuple[Any, ...]:
        """The samples at these positions: items, labels or targets, and the columns asked for."""
        return self.form.items(stored_rows(self.store, index)), *self.beside(index)

    def beside(self, index: Ints | slice) -> list[torch.Tensor]:
        """The same without the items, which need not be decoded for it."""
        extra = self.store.extra
        targets = extra[TARGET][index] if TARGET in extra else self.store.labels[index].astype(np.int64)
        return [
            torch.from_numpy(np.array(values)) for values in (targets, *(extra[name][index] for name in self.columns))
        ]

    def __getitem__(self, index: int) -> tuple[Any, ...]:
        return self.__getitems__([index])[0]

    def __getitems__(self, index: Sequence[int]) -> list[tuple[Any, ...]]:
        positions = np.asarray(index, dtype=np.int64)
        x, *beside = self.read(np.where(positions < 0, positions + len(self), positions))
        dense = x if isinstance(x, torch.Tensor) else torch.from_numpy(x.toarray())
        return list(zip(dense, *beside, strict=True))
