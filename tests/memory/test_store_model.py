"""A store against the plainest model of it: a list of samples, each a dict of known features."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import torch
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from scipy import sparse

from smartcl.memory import SampleStore, Schema
from smartcl.memory.column_order import ColumnOrder
from smartcl.memory.grading import choose_levels, learn_code


def held(thing: Any) -> int:
    """The bytes of all arrays in ``thing``; fails on anything else that could grow with the samples."""
    if isinstance(thing, np.ndarray):
        assert not thing.dtype.hasobject
        assert not thing.flags.writeable
        assert thing.base is None or thing.base.nbytes == thing.nbytes
        return thing.nbytes
    if is_dataclass(thing):
        assert not hasattr(thing, "__dict__")
        return sum(held(getattr(thing, field.name)) for field in fields(thing))
    if isinstance(thing, tuple):
        assert len(thing) <= 20
        return sum(held(part) for part in thing)
    assert thing is None or isinstance(thing, bool | int | str)
    return 0


def kept(store: SampleStore) -> SampleStore:
    """All its samples as a memory holds them: none just arrived."""
    return store.take(np.arange(len(store)))


class StoreMachine(RuleBasedStateMachine):
    """``values[feature]`` is missing where a sample does not know the feature."""

    @initialize(n_features=st.integers(1, 20), sparse=st.booleans(), whole=st.sampled_from([None, "uint8", "float32"]))
    def start(self, n_features: int, sparse: bool, whole: str | None) -> None:
        self.whole = whole
        self.store = SampleStore.empty(n_features, sparse, whole)
        self.schema = set(range(n_features))
        self.n_features = n_features
        self.model: list[tuple[dict[int, float], int, float]] = []

    @rule(
        seed=st.integers(0, 2**32 - 1),
        n=st.integers(0, 5),
        density=st.sampled_from([0.0, 0.1, 0.5, 1.0]),
        dtype=st.sampled_from(["uint8", "float16", "float32", "float64", "bool"]),
        top=st.sampled_from([2, 200, 70_000]),
    )
    def remember(self, seed: int, n: int, density: float, dtype: str, top: int) -> None:
        rng = np.random.default_rng(seed)
        native = "uint8" if self.whole == "uint8" else dtype
        x = rng.normal(size=(n, self.n_features)) * 40 * (rng.random((n, self.n_features)) < density)
        x = np.abs(x).astype(native) if native == "uint8" else x.astype(native)
        y = rng.integers(0, top, n)
        score = rng.random(n, dtype=np.float32)
        logits = rng.random((n, 3)).astype(np.float16)
        if self.store.sparse and native == "float16":  # which SciPy does not know
            x = x.astype(np.float32)
        rows = sparse.csr_array(x) if self.store.sparse else torch.from_numpy(x)
        new = self.store.pack(rows, torch.from_numpy(y), score=score, logits=logits)
        assert held(kept(new)) == new.nbytes
        self.store = self.store.join(new)
        exact = x.astype(np.float32)
        for row in range(n):
            known = {feature: float(exact[row, feature]) for feature in self.schema}
            self.model.append((known, int(y[row]), float(score[row])))
        if self.store.code is not None and not self.store.code.levels.exact:
            known = exact * self.as_schema().mask
            columns = slice(None) if self.store.sparse else sorted(self.schema)
            self.read_back(sparse.csr_array(known[:, columns]), first=len(self.model) - n)

    @rule(data=st.data())
    def shuffle_and_drop(self, data: st.DataObject) -> None:
        index = data.draw(st.lists(st.integers(0, len(self.model) - 1), max_size=8)) if self.model else []
        self.store = self.store.take(np.array(index, dtype=np.int64))
        self.model = [self.model[i] for i in index]

    @rule(data=st.data())
    def evict(self, data: st.DataObject) -> None:
        keep = np.array(data.draw(st.lists(st.booleans(), min_size=len(self.model), max_size=len(self.model))), bool)
        kept = self.store.take(keep)
        freed = self.store.nbytes - kept.nbytes
        assert freed >= self.store.sizes[~keep].sum()
        if kept.schemas == self.store.schemas and self.store.code is None:
            assert freed == self.store.sizes[~keep].sum()
        self.store = kept
        self.model = [sample for sample, stays in zip(self.model, keep, strict=True) if stays]

    @precondition(lambda self: self.whole is None)
    @rule(data=st.data())
    def restrict(self, data: st.DataObject) -> None:
        self.schema = set(data.draw(st.sets(st.sampled_from(range(self.n_features)))))
        self.store = self.store.restrict(self.as_schema())
        for known, _, _ in self.model:
            for feature in known.keys() - self.schema:
                del known[feature]

    @precondition(lambda self: self.whole is None)
    @rule(data=st.data())
    def extend(self, data: st.DataObject) -> None:
        self.schema |= set(data.draw(st.sets(st.sampled_from(range(self.n_features)))))
        self.store = self.store.extend(self.as_schema())

    @rule(more=st.integers(0, 9))
    def widen(self, more: int) -> None:
        new = range(self.n_features, self.n_features + more)
        self.schema.update(new)
        self.n_features += more
        self.store = self.store.widen(self.n_features)
        if self.whole is not None:
            for known, _, _ in self.model:
                known.update(dict.fromkeys(new, 0.0))

    @precondition(lambda self: self.whole is None and self.model)
    @rule(precision=st.sampled_from([None, "exact", 2, 3, 5]), first=st.permutations(range(5)), count=st.integers(0, 5))
    def recode(self, precision: str | int | None, first: list[int], count: int) -> None:
        known = [feature for feature in first[:count] if feature < self.n_features]
        order = ColumnOrder(np.array(known, dtype=np.uint16))
        levels = None if precision is None else choose_levels(self.store, self.store, precision, room=10_000)
        code = None if levels is None else learn_code(self.store, levels, 10_000, order)
        before = self.store
        self.store = self.store.recode(code)
        if isinstance(precision, int):
            self.read_back(before.gather(np.arange(len(before))).x)

    def read_back(self, before: Any, first: int = 0) -> None:
        """The samples from ``first`` on are now what the store says, and no level is nearer to what they were."""
        x = self.store.gather(np.arange(first, len(self.store))).x
        columns = range(self.n_features) if self.store.sparse else sorted(self.schema)
        now, was = (rows.numpy() if isinstance(rows, torch.Tensor) else rows.toarray() for rows in (x, before))
        assert ((now == 0) == (was == 0)).all()
        levels = self.store.rows.code.levels
        for row, (known, _, _) in enumerate(self.model[first:]):
            for place, feature in enumerate(columns):
                if known.get(feature):
                    old, new = float(was[row, place]), float(now[row, place])
                    shift, scale = (0, 1) if levels.scales is None else levels.scales[:, feature].astype(float)
                    nearest = np.abs(levels.values.astype(float) * scale + shift - old).min()
                    assert abs(new - old) <= nearest + 1e-5 * (abs(old) + abs(shift))
                    known[feature] = new

    @rule()
    def rescore(self) -> None:
        self.model = [(known, y, score / 2) for known, y, score in self.model]
        self.store = self.store.with_extra(score=self.store.extra.get("score", np.zeros(0, np.float32)) / 2)

    @rule()
    def save_and_load(self) -> None:
        again = SampleStore.from_state(self.store.state_dict())
        assert again.nbytes == self.store.nbytes
        self.store = again

    def as_schema(self) -> Schema:
        return Schema.of(np.array([feature in self.schema for feature in range(self.n_features)]))

    @invariant()
    def holds_the_same_samples(self) -> None:
        store, model = self.store, self.model
        features = sorted(self.schema)
        assert len(store) == len(model)
        assert store.features.tolist() == features
        assert store.labels.tolist() == [y for _, y, _ in model]
        if model:
            assert store.extra["score"].tolist() == [score for _, _, score in model]
        index = np.array([*range(len(model)), *range(0, len(model), 2)], dtype=np.int64)
        picked = [model[i][0] for i in index]
        x, y, missing = store.gather(index)
        assert y.tolist() == [model[i][1] for i in index]
        assert y.dtype == torch.int64
        if store.sparse:
            assert not isinstance(x, torch.Tensor)
            assert missing is None
            assert np.count_nonzero(x.data) == x.nnz
            columns, dense = list(range(self.n_features)), x.toarray()
        else:
            assert isinstance(x, torch.Tensor)
            columns, dense = features, x.numpy()
            lacks = [[feature not in known for feature in features] for known in picked]
            assert (missing is None) == (not np.any(lacks))
            assert missing is None or missing.tolist() == lacks
        assert dense.dtype == np.float32
        expected = [[known.get(feature, 0.0) for feature in columns] for known in picked]
        np.testing.assert_array_equal(dense, np.array(expected, np.float32).reshape(len(picked), len(columns)))

    @invariant()
    def counts_every_byte(self) -> None:
        assert self.store.nbytes == held(kept(self.store))
        assert (self.store.sparse and self.whole) or self.store.nbytes == held(self.store)
        assert self.store.nbytes == self.store.sizes.sum() + self.store.overhead
        assert (self.store.versions is None) == (len(self.store.schemas) == 1)


StoreMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=15, deadline=None)
TestStore = StoreMachine.TestCase
