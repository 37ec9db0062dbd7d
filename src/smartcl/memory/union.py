"""Samples of several memories in one store: in one code, under one schema, in the order of their ages."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from smartcl.data.batch import Bools, Ints
from smartcl.memory.grading import choose_order, learn_code
from smartcl.memory.levels import Levels
from smartcl.memory.row_code import RowCode
from smartcl.memory.schema import Schema
from smartcl.memory.store import SampleStore

#: Samples from which a code for all is learned, as that of a single memory is.
LEARN_FROM = 500
#: Two samples drawn apart have the same key and label about once in this many pairs: in single precision two
#: exponential numbers below a threshold are equal once in 4e-8, by the integral of their spacing.
CHANCE = 1e-6


def united(stores: Sequence[SampleStore], ages: Sequence[NDArray[np.float64]], room: int) -> SampleStore:
    """All samples of the stores, the oldest first; equal ages go by key, so the order of the stores does not matter.

    Values are held at the coarsest precision of all. A feature that a store never had is missing in its samples.

    >>> import torch
    >>> empty = SampleStore.empty(n_features=2, sparse=False)
    >>> old, new = (empty.join(empty.pack(torch.tensor([[1.0, y]]), [y], score=np.ones(1, np.float32))) for y in (0, 1))
    >>> united([new, old], [np.zeros(1), np.ones(1)], room=1000).labels
    array([0, 1], dtype=uint8)
    """
    schema = Schema.of(np.logical_or.reduce([store.schema.mask for store in stores]))
    wide = [store if store.schema == schema else store.extend(schema) for store in stores]
    whole = _joined(_in_one_code([store for store in wide if len(store)] or wide[:1], room))
    oldest = -np.concatenate(ages)
    return whole.take(np.lexsort((whole.extra["score"], oldest)) if len(whole) else np.zeros(0, dtype=np.int64))


def sample_keys(store: SampleStore) -> NDArray[np.uint64]:
    """What a sample is known by wherever it is kept: the random key that it drew when it came, and its label."""
    if not len(store):
        return np.zeros(0, dtype=np.uint64)
    return store.extra["score"].view(np.uint32).astype(np.uint64) << np.uint64(32) | store.labels.astype(np.uint64)


def each_once(keys: NDArray[np.uint64], among: NDArray[np.uint64]) -> Bools:
    """Which samples stay if, of those whose key is ``among`` the keys of a common base, each is kept once: its last.

    >>> each_once(np.array([7, 8, 7, 9, 9], dtype=np.uint64), np.array([7], dtype=np.uint64))
    array([False,  True,  True,  True,  True])
    """
    last = np.zeros(len(keys), dtype=np.bool_)
    last[len(keys) - 1 - np.unique(keys[::-1], return_index=True)[1]] = True
    return last | ~np.isin(keys, among)


def drawn_alike(stores: Sequence[SampleStore]) -> bool:
    """Whether samples of different stores have more keys in common than chance gives: one seed, or one beginning."""
    keys = [np.unique(sample_keys(store)) for store in stores]
    together = np.concatenate(keys) if keys else np.zeros(0, dtype=np.uint64)
    twice = len(together) - len(np.unique(together))
    return twice > 3 + CHANCE * len(together) ** 2


def _joined(stores: Sequence[SampleStore]) -> SampleStore:
    """One after the other; in pairs, so that no sample is copied more than log k times."""
    while len(stores) > 1:
        pairs = [stores[at : at + 2] for at in range(0, len(stores), 2)]
        stores = [pair[0].join(pair[1]) if len(pair) == 2 else pair[0] for pair in pairs]
    return stores[0]


def _in_one_code(stores: Sequence[SampleStore], room: int) -> Sequence[SampleStore]:
    codes = [store.code for store in stores if store.code is not None]
    if not codes:
        return stores
    if len(codes) < len(stores) or any(code is not codes[0] for code in codes):
        levels = _coarsest(codes)
        code = codes[0] if levels is None else _code_for_all(stores, levels, room)
        return [store.recode(code) for store in stores]
    return stores


def _coarsest(codes: Sequence[RowCode]) -> Levels | None:
    """The fewest levels of all, whatever the order of the codes; None where all hold values exactly."""
    coarse = [code.levels for code in codes if not code.levels.exact]
    return min(coarse, key=lambda levels: (len(levels), levels.values.tobytes()), default=None)


def _code_for_all(stores: Sequence[SampleStore], levels: Levels, room: int) -> RowCode:
    """A code learned from samples of every store: that of one would be long for rows of another."""
    few = -(-LEARN_FROM // len(stores))
    spaced: list[Ints] = [np.linspace(0, len(store) - 1, min(few, len(store))).astype(np.int64) for store in stores]
    some = _joined([store.take(at).recode(None) for store, at in zip(stores, spaced, strict=True)])
    return learn_code(some, levels, room, choose_order(some, room))
