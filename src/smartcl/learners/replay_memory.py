"""The part of a learner that remembers: a store inside a byte budget, its schema, and who decides what stays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from smartcl.memory import Budget, FeatureWatch, SampleStore, Schema, describe
from smartcl.selection.selector import Geometry, Pool, Selector
from smartcl.settings import setting
from smartcl.streams.batch import Batch, Bools, Ints
from smartcl.streams.stream import InputSpec

#: What a method stores beside each sample, by name: one entry per sample.
Notes: TypeAlias = Mapping[str, NDArray[Any]]

#: The share of its features by which the schema must change before all rows are written anew.
WORTHWHILE = 0.02


@dataclass(frozen=True)
class Observation:
    """What became of the memory: positions of the old samples that stayed, and of the batch's that were stored."""

    kept: Ints
    stored: Ints


class ReplayMemory:
    """Samples in at most ``budget.nbytes`` bytes, after every call.

    With ``whole``, samples are stored whole, in the stream's dtype. Otherwise schematically: under pressure, features
    whose weights have been zero for ``patience`` batches in a row are forgotten before any sample is.
    """

    def __init__(self, spec: InputSpec, memory: str | int, selector: Selector, whole: bool, patience: int) -> None:
        self.budget = Budget.parse(memory, spec.sample_nbytes)
        self.store = SampleStore.empty(spec.n_features, spec.sparse, spec.dtype if whole else None)
        self.selector = selector
        self.patience: int = setting("patience", patience)
        self.watch = None if whole else FeatureWatch.fresh(spec.n_features)

    def __len__(self) -> int:
        return len(self.store)

    def __repr__(self) -> str:
        return describe(self.store, self.budget)

    def check_room(self, batch: Batch, notes: Notes) -> None:
        """Refuse a budget that not even the smallest of the first samples fits."""
        if len(self) == 0:
            smallest = int(self._pack(batch, notes).sizes.min())
            if smallest > self.budget.nbytes:
                raise ValueError(
                    f"memory must hold at least one sample: it is {self.budget.nbytes} bytes, "
                    f"and the smallest sample of this batch takes {smallest}"
                )

    def candidates(self, batch: Batch, alive: Bools, notes: Notes) -> SampleStore:
        """The memory and the batch's schematic form ``R_t(X)``, less the features forgotten to make room.

        ``notes`` are stored beside the samples and charged like all else.
        """
        if self.watch is not None:
            self.watch = self.watch.update(alive)
            self.store = self._regain_features(alive)
        joined = self.store.join(self._pack(batch, notes))
        return self._forget_features(joined) if joined.nbytes > self.budget.nbytes else joined

    def select(self, candidates: SampleStore, geometry: Geometry, rng: np.random.Generator) -> Observation:
        """Keep of the candidates what the selector chooses."""
        before = len(self)
        scores = candidates.extra.get("score", np.zeros(len(candidates), dtype=np.float32))
        labels = candidates.labels.astype(np.int64)
        pool = Pool(candidates.sizes, labels, scores, before, geometry, candidates.extra)
        chosen = self.selector.select(pool, self.budget.nbytes - candidates.overhead, rng)
        store = candidates.take(chosen.keep)
        if store.nbytes > self.budget.nbytes:
            raise RuntimeError(f"{type(self.selector).__name__} kept {store.nbytes} of {self.budget.nbytes} bytes")
        self.store = store.with_extra(score=chosen.scores) if self.selector.scored else store
        return Observation(chosen.keep[chosen.keep < before], chosen.keep[chosen.keep >= before] - before)

    def state_dict(self) -> dict[str, Any]:
        watch = None if self.watch is None else self.watch.state_dict()
        return {"store": self.store.state_dict(), "watch": watch}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.store = SampleStore.from_state(state["store"])
        self.watch = None if state["watch"] is None else FeatureWatch.from_state(state["watch"])

    def snapshot(self) -> tuple[SampleStore, FeatureWatch | None]:
        """How things are; neither part is ever changed in place, so they are held, not copied."""
        return self.store, self.watch

    def restore(self, snapshot: tuple[SampleStore, FeatureWatch | None]) -> None:
        """Back to a snapshot."""
        self.store, self.watch = snapshot

    def _pack(self, batch: Batch, notes: Notes) -> SampleStore:
        score = {"score": np.zeros(len(batch), dtype=np.float32)} if self.selector.scored else {}
        return self.store.pack(batch.x, batch.y, **score, **notes)

    def _regain_features(self, alive: Bools) -> SampleStore:
        """The store with features that live again in its schema, once they are worth a new version of it."""
        schema = self.store.schema
        back = alive & ~schema.mask
        worth_a_version = int(back.sum()) > WORTHWHILE * len(schema)
        return self.store.extend(Schema.of(back | schema.mask)) if worth_a_version else self.store

    def _forget_features(self, candidates: SampleStore) -> SampleStore:
        if self.watch is None:
            return candidates
        schema = candidates.schema
        keep = schema.mask & ~self.watch.forgettable(self.patience)
        worth_repacking = len(schema) - int(keep.sum()) > WORTHWHILE * len(schema)
        return candidates.restrict(Schema.of(keep)) if worth_repacking and keep.any() else candidates
