"""Stored samples as members read them: the newest, read once, and which of all are in the sums of the whole past."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from smartcl.data.batch import Bools, Floats, Ints, Rows
from smartcl.learners.ensemble.member import Recent
from smartcl.learners.ensemble.rows import unscaled
from smartcl.memory import Observation, SampleStore
from smartcl.memory.export import stored_rows
from smartcl.memory.pool import REPLAYED
from smartcl.saving.saved import Saved

#: From stored samples, by position, to how much each counts; None where all count alike.
Weigh = Callable[[SampleStore, Ints], Floats | None]


@dataclass(frozen=True)
class Reader:
    """Reads stored samples; keeps the newest in the form in which members read them."""

    most: int
    scale: Callable[[Rows], Any]
    #: Whether rows are kept as they came too, beside the scaled ones.
    raw: bool

    def read(self, store: SampleStore, at: Ints) -> tuple[Any, Any]:
        """The rows at these positions, as they came and scaled."""
        x = stored_rows(store, at)
        values = self.scale(x)
        return (unscaled(x, values) if self.raw else values), values


@dataclass(frozen=True)
class Newest:
    """The newest samples that may be learned, and where in the memory they are."""

    at: Ints
    x: Any
    values: Any

    @classmethod
    def of(cls, store: SampleStore, reader: Reader) -> Newest:
        """Read from the memory."""
        at = wanted(store, reader.most)
        return cls(at, *reader.read(store, at))

    def after(self, seen: Observation, store: SampleStore, reader: Reader) -> Newest:
        """After the memory kept some samples and stored new ones: only what was not read before is read now."""
        if not len(seen.kept):
            return Newest.of(store, reader)
        places, at = np.searchsorted(seen.kept, self.at), wanted(store, reader.most)
        places[seen.kept[np.minimum(places, len(seen.kept) - 1)] != self.at] = -1
        is_known, is_wanted = np.zeros(len(store), np.bool_), np.zeros(len(store), np.bool_)
        is_known[places[places >= 0]] = is_wanted[at] = True
        old, mine = is_known[at], np.flatnonzero((places >= 0) & is_wanted[places])
        missing = at[~old]
        if not len(missing):
            return Newest(at, self.x[mine], self.values[mine])
        x, values = reader.read(store, missing)
        return Newest(at, merged(self.x[mine], x, old), merged(self.values[mine], values, old))

    def samples(self, store: SampleStore, weigh: Weigh) -> Recent:
        labels: Ints = store.labels[self.at].astype(np.int64)
        return Recent(self.x, self.values, labels, weigh(store, self.at), self._squares)

    @cached_property
    def _squares(self) -> Floats | None:
        dense: Floats | None = np.square(self.values).sum(axis=1) if isinstance(self.values, np.ndarray) else None
        return dense


def wanted(store: SampleStore, most: int) -> Ints:
    """The positions of the newest samples that may be learned."""
    return learnable(store)[-most:]


def learnable(store: SampleStore) -> Ints:
    """The positions of all samples that may be learned: neither held out nor put out of use."""
    return np.flatnonzero(roles(store) == REPLAYED)


def roles(store: SampleStore) -> NDArray[np.uint8]:
    """What each stored sample is there for."""
    return store.extra["role"] if len(store) else np.zeros(0, dtype=np.uint8)


def merged(old: Any, new: Any, is_old: NDArray[np.bool_]) -> Any:
    """Rows of two arrays, dense or CSR, in the order that the mask says."""
    if is_old[: len(is_old) - new.shape[0]].all():  # the usual case: new rows come after the old ones
        return np.concatenate([old, new]) if isinstance(old, np.ndarray) else sparse.vstack([old, new], format="csr")
    order = np.empty(len(is_old), dtype=np.int64)
    order[is_old] = np.arange(old.shape[0])
    order[~is_old] = old.shape[0] + np.arange(new.shape[0])
    both = np.concatenate([old, new]) if isinstance(old, np.ndarray) else sparse.vstack([old, new], format="csr")
    return both[order]


@dataclass(frozen=True)
class Summed:
    """The sums hold the samples that may be learned from the position ``first`` in the memory on.

    Of those before it they hold none; or some, if ``mixed``.

    >>> Summed(first=3).after(np.array([0, 2, 3, 4])).first
    2
    """

    first: int = 0
    mixed: bool = False

    def after(self, kept: Ints) -> Summed:
        """After the memory kept the samples at these positions, in order."""
        return replace(self, first=int(np.searchsorted(kept, self.first)))

    def holds(self, roles: NDArray[np.uint8]) -> Bools:
        """Of samples with these roles, all that are stored, which ones are surely in the sums."""
        found: Bools = roles == REPLAYED
        found[: self.first] = False
        return found

    def unsure(self, some: Bools) -> bool:
        """Whether any of these samples may or may not be in the sums."""
        return self.mixed and bool(some[: self.first].any())

    def state_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_state(cls, saved: Saved, stored: int) -> Summed:
        """What ``state_dict`` described, beside a memory of ``stored`` samples."""
        return cls(saved.whole("first", 0, stored), saved.flag("mixed"))


def begin_of_newest(store: SampleStore, count: int) -> int:
    """The position of the first of the newest ``count`` samples that may be learned; the end of the memory for none."""
    newest = learnable(store)[::-1][:count]
    return int(newest[-1]) if len(newest) else len(store)
