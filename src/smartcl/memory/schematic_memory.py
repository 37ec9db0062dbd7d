"""Schematic memory: a store inside a byte budget, its schema, and the policy that decides which samples stay."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from smartcl.data.batch import Batch, Bools, Ints
from smartcl.data.spec import InputSpec
from smartcl.memory.budget import UNBOUNDED, Budget
from smartcl.memory.export import Names, export
from smartcl.memory.grading import LEARN_AGAIN, Judge, agrees, choose_levels, choose_order, error, learn_code
from smartcl.memory.pool import USUAL_OFFER, Offer, Pool, Selection, Selector
from smartcl.memory.schema import FeatureWatch, Schema
from smartcl.memory.store import SampleStore, describe
from smartcl.memory.waiting import waiting_rows, waiting_state
from smartcl.saving.saved import Saved
from smartcl.settings import setting

#: What a method stores beside each sample, by name: one entry per sample.
ExtraColumns: TypeAlias = Mapping[str, NDArray[Any]]

#: From the candidates that fit to what a policy may ask about them.
GeometryOf: TypeAlias = Callable[[Ints], Any]

#: The share of its features by which the schema must change before all rows are written anew: as they are, ...
WORTHWHILE = 0.02
#: ... and in code, which takes longer.
WORTHWHILE_IN_CODE = 0.1

#: The share of the budget up to which masks of schemas may grow when features return.
MASKS_SHARE = 0.25

#: A code is learned from at most this number of samples, ...
LEARN_FROM = 500
#: ... and taken if this many times as many samples fit, ...
WORTH_RECODING = 1.02
#: ... or if what arrives loses this many times less.
SHARPER = 2.0
#: Where stored values are coarse, levels are learned from arriving samples, if there are at least this number.
ENOUGH_ARRIVED = 20

#: The share of the budget that may be kept free for rows that wait: 50 rows of 47 columns in 100 kB.
WAITING_SHARE = 0.1

#: The number of samples on which a memory estimates what forgetting features would bring, and whether a batch fits.
PROBE = 64


@dataclass(frozen=True)
class Observation:
    """Result of a batch: positions of the old samples that stayed, and of the new ones that were stored."""

    kept: Ints
    stored: Ints

    def and_then(self, later: Observation) -> Observation:
        """What became of both, where some of what was kept and stored left later.

        >>> seen = Observation(np.array([0, 2]), np.array([1])).and_then(Observation(np.array([1, 2]), np.array([])))
        >>> seen.kept, seen.stored
        (array([2]), array([1]))
        """
        before = len(self.kept)
        return Observation(
            self.kept[later.kept[later.kept < before]], self.stored[later.kept[later.kept >= before] - before]
        )


class SchematicMemory:
    """Samples in at most ``budget.nbytes`` bytes, after every call.

    With ``whole``, samples are stored whole, in the stream's dtype. Otherwise schematically: under pressure, features
    whose weights have been zero for ``patience`` batches in a row are forgotten before any sample is, if the memory
    holds more samples for it. A sample that would not even fit alone is passed over, and counted in ``skipped``.

    >>> import torch
    >>> from smartcl.selection.reservoir import Reservoir
    >>> memory = SchematicMemory(InputSpec(n_features=40, n_classes=2), "60 B", Reservoir(), whole=False, patience=3)
    >>> batch = Batch(torch.stack([torch.eye(40)[0], torch.linspace(1, 2, 40)]), torch.tensor([0, 1]))
    >>> candidates = memory.candidates(batch, alive=np.ones(40, dtype=bool), extra={})
    >>> memory.select(candidates, geometry=None, rng=np.random.default_rng(0)).stored
    array([0])
    >>> memory
    1 samples in 11 B of 60 B, 40 of 40 features kept, 1 row too large
    """

    def __init__(
        self,
        spec: InputSpec,
        memory: str | int,
        selector: Selector,
        whole: bool,
        patience: int,
        precision: str | int = "plain",
    ) -> None:
        self.budget = Budget.parse(memory, spec.sample_nbytes)
        self.store = SampleStore.empty(spec.n_features, spec.sparse, spec.dtype if whole else None)
        self.selector = selector
        self.patience: int = setting("patience", patience)
        self.watch = None if whole else FeatureWatch.fresh(spec.n_features)
        self.precision: str | int = setting("precision", precision)
        #: The samples offered when a code was last looked for.
        self.code_tried = 0
        self.names = Names()
        #: The samples offered in the memory's life, and those of them that were larger than all its room.
        self.offered, self.skipped = 0, 0
        #: Rows that have come and are not learned yet, charged like all else; bytes that are kept free for them.
        self.waiting: Batch | None = None
        self.reserve = 0

    def __len__(self) -> int:
        return len(self.store)

    def __repr__(self) -> str:
        too_large = f", {self.skipped:,} row{'s' * (self.skipped > 1)} too large" if self.skipped else ""
        count = 0 if self.waiting is None else len(self.waiting)
        wait = f", {count:,} row{'s wait' if count > 1 else ' waits'} to be learned" if count else ""
        return describe(self.store, self.budget) + too_large + wait

    @property
    def nbytes(self) -> int:
        """The bytes taken by samples, and by rows that wait to be learned."""
        return self.store.nbytes + (0 if self.waiting is None else self.waiting.nbytes)

    @property
    def limit(self) -> int:
        """The bytes that samples may take."""
        return self.budget.nbytes - self.reserve

    def keep_free(self, nbytes: int) -> None:
        """Keep bytes free for rows that wait, and no more than ``WAITING_SHARE`` of the budget."""
        self.reserve = int(min(nbytes, WAITING_SHARE * self.budget.nbytes))

    def can_wait(self, rows: Batch) -> bool:
        """Whether these rows, and no others, can wait beside the samples."""
        needed = rows.nbytes
        return needed <= self.reserve or self.store.nbytes + needed <= self.budget.nbytes

    def check_room(self, batch: Batch, extra_of: Callable[[Batch], ExtraColumns]) -> None:
        """Refuse a first batch of which not even the smallest sample fits, with what is stored beside it.

        Later batches are not checked: finding out may take a pass through a network.
        """
        if self.offered:
            return
        smallest, extra = UNBOUNDED, extra_of(batch)
        for first in range(0, len(batch), PROBE):
            index = np.arange(first, min(first + PROBE, len(batch)))
            some = self._pack(batch.take(index), {name: column[index] for name, column in extra.items()})
            smallest = min(smallest, int(some.sizes.min()))
            if smallest <= self.limit:
                return
        raise ValueError(
            f"memory must hold at least one sample: it is {self.budget.nbytes} bytes, "
            f"and the smallest sample of this batch takes {smallest}"
        )

    def candidates(self, batch: Batch, alive: Bools, extra: ExtraColumns, judge: Judge | None = None) -> SampleStore:
        """The memory and the batch's schematic form ``R_t(X)``, less the features and levels let go of to make room.

        ``extra`` is stored beside the samples and charged like all else. ``judge`` says what coarser values would
        change; without one, a memory that is to find its precision by itself keeps them exact.
        """
        if self.watch is not None:
            self.watch = self.watch.update(alive)
            self.store = self._regain_features(alive)
        joined = self.store.join(self._pack(batch, extra))
        if joined.nbytes <= self.limit:
            return joined
        if not self._capacity(joined) and joined.code is not None:  # a code that grew with features that returned
            joined = joined.recode(None)
        joined, offered = self._forget_features(joined), self.offered + len(batch)
        if self.precision == "plain" or self.watch is None or offered < LEARN_AGAIN * self.code_tried:
            return joined
        self.code_tried = offered
        arrived = SampleStore.empty(joined.n_features, joined.sparse).restrict(joined.schema)
        return self._improve_code(joined, self._pack(batch, extra, arrived), judge)

    def select(
        self,
        candidates: SampleStore,
        geometry: GeometryOf | None,
        rng: np.random.Generator,
        offer: Offer = USUAL_OFFER,
    ) -> Observation:
        """Keep of the candidates what the selector chooses of those that fit."""
        before, room = len(self), self._room(candidates)
        fitting = np.flatnonzero(candidates.sizes <= room)
        known = None if geometry is None else geometry(fitting)
        chosen = self._choose(Pool.of(candidates, fitting, before, known, offer), room, rng)
        keep = fitting[chosen.keep]
        store = candidates.take(keep)
        if self.selector.scored:
            store = store.with_extra(score=chosen.scores)
        if store.nbytes > self.limit:
            raise RuntimeError(f"{type(self.selector).__name__} kept {store.nbytes} of {self.limit} bytes")
        new = len(candidates) - before
        self.store = store
        self.offered += new
        self.skipped += new - int((fitting >= before).sum())
        return Observation(keep[keep < before], keep[keep >= before] - before)

    def clear(self) -> None:
        """Let go of all samples, and of the masks and the code that they are read by."""
        self.store = SampleStore.empty(**self.store.kind)

    def limit_to(self, nbytes: int) -> None:
        """Another budget from now on; samples that it does not hold are let go of by ``select``."""
        self.budget = Budget(nbytes)
        self.keep_free(self.reserve)

    def take_in(self, store: SampleStore, offered: int, rng: np.random.Generator, offer: Offer = USUAL_OFFER) -> None:
        """Hold the samples of another store, kept of ``offered``, in the place of what is held; those that fit stay.

        They keep the keys that they have drawn. A code is looked for with the next batch, if there is none.
        """
        if store.kind != self.store.kind:
            raise ValueError(f"stores must be of a kind: {self.store.kind} here, {store.kind} there")
        before, self.store = self.store, store
        try:
            if store.nbytes > self.limit:
                self.select(store, None, rng, offer)
        except BaseException:
            self.store = before
            raise
        self.offered = max(offered, len(store))
        self.code_tried = int(self.offered / (LEARN_AGAIN if self.store.code is None else 1))

    def named(self, classes: NDArray[Any], features: Sequence[str] | None) -> SchematicMemory:
        """The same memory, to look at, with names for its classes and features."""
        twin = copy(self)
        twin.names = Names(classes, features)
        return twin

    def export(self, path: str | os.PathLike[str] | None = None) -> Any:
        """What is remembered, with values and labels as they are read back: a pandas frame, or a Parquet file."""
        return export(self.store, self.names, path)

    def state_dict(self) -> dict[str, Any]:
        watch = None if self.watch is None else self.watch.state_dict()
        counts = {"offered": self.offered, "skipped": self.skipped, "code_tried": self.code_tried}
        waiting = None if self.waiting is None else waiting_state(self.waiting)
        return {"store": self.store.state_dict(), "watch": watch, "waiting": waiting, "reserve": self.reserve, **counts}

    def load_state_dict(
        self, state: dict[str, Any] | Saved, n_classes: int | None = None, extra_dtypes: Mapping[str, str] | None = None
    ) -> None:
        """Take over a state that a memory like this one gave, or raise a ``StateError`` and stay as it is.

        Labels are below ``n_classes`` and the method's extra columns are those of ``extra_dtypes``, where given.
        """
        saved = Saved.of(state, "memory")
        store = SampleStore.from_state(saved.part("store"), n_classes)
        self._check_kind(saved.part("store"), store, extra_dtypes)
        offered = saved.whole("offered", low=len(store))
        skipped = saved.whole("skipped", low=0, high=offered - len(store))
        code_tried = saved.whole("code_tried", low=0, high=offered)
        watch = saved.optional("watch")
        waiting = None
        if saved.has("waiting"):
            waiting = waiting_rows(saved.part("waiting"), store.n_features, n_classes)
            if store.nbytes + waiting.nbytes > self.budget.nbytes:
                saved.refuse("waiting", f"and the samples must fit {self.budget.nbytes} bytes together")
        reserve = saved.whole("reserve", 0, int(WAITING_SHARE * self.budget.nbytes))
        if (watch is None) != (self.watch is None):
            saved.refuse("watch", "must be there for schematic rows, and only for them")
        self.watch = None if watch is None else FeatureWatch.from_state(watch, store.n_features)
        self.store, self.offered, self.skipped, self.code_tried = store, offered, skipped, code_tried
        self.waiting, self.reserve = waiting, reserve

    def _pack(self, batch: Batch, extra: ExtraColumns, like: SampleStore | None = None) -> SampleStore:
        """The batch in a store of its own, under the schema and in the code of another: the memory's, unless said."""
        score = {"score": np.zeros(len(batch), dtype=np.float32)} if self.selector.scored else {}
        return (self.store if like is None else like).pack(batch.x, batch.y, **score, **extra)

    def _check_kind(self, saved: Saved, store: SampleStore, extra_dtypes: Mapping[str, str] | None) -> None:
        """Refuse a saved store that is not of this memory's kind, or larger than its budget."""
        for name, value in self.store.kind.items():
            if store.kind[name] != value:
                saved.refuse(name, f"must be {value!r}, as this memory's, is {store.kind[name]!r}")
        if store.code is not None and not agrees(self.precision, store.code.levels):
            saved.refuse("rows.code", f"must be of the precision {self.precision}, has {store.code.levels}")
        if store.nbytes > self.budget.nbytes:
            saved.refuse("rows", f"and all beside them must fit {self.budget.nbytes} bytes, they take {store.nbytes}")
        if not len(store):
            return
        found = {name: str(column.dtype) for name, column in store.extra.items() if name != "score"}
        if extra_dtypes is not None and found != extra_dtypes:
            saved.refuse("extra", f"must hold {dict(extra_dtypes)} beside a score, holds {found}")
        if self.selector.scored:
            saved.part("extra").array("score", (len(store),), "float32")
        elif "score" in store.extra:
            saved.refuse("extra.score", "must not be there: this memory's selector keeps no score")

    def _room(self, store: SampleStore) -> int:
        """The bytes left for samples beside the masks."""
        return self.limit - store.overhead

    def _choose(self, pool: Pool, room: int, rng: np.random.Generator) -> Selection:
        """The selector's choice, if there is one: where no new sample fits, no old one has to leave."""
        if not len(pool.new) and int(pool.sizes.sum()) <= room:
            return Selection(pool.old, pool.scores)
        return self.selector.select(pool, room, rng)

    def _regain_features(self, alive: Bools) -> SampleStore:
        """The store with features that live again in its schema, once they are worth a new version of it.

        Each version costs a mask. Where those would leave too little room, all features return: that costs none.
        """
        schema = self.store.schema
        back = alive & ~schema.mask
        if int(back.sum()) <= _worthwhile(self.store) * len(schema):
            return self.store
        extended = self.store.extend(Schema.of(back | schema.mask))
        affordable = extended.overhead <= max(self.store.overhead, MASKS_SHARE * self.limit)
        return extended if affordable else self.store.extend(Schema.full(schema.n_features))

    def _forget_features(self, candidates: SampleStore) -> SampleStore:
        """The candidates without features long dead, if that makes room for more samples than the mask costs."""
        if self.watch is None:
            return candidates
        schema = candidates.schema
        keep = schema.mask & ~self.watch.forgettable(self.patience)
        worth_repacking = len(schema) - int(keep.sum()) > _worthwhile(candidates) * len(schema)
        if not (worth_repacking and keep.any()):
            return candidates
        narrow, probe = Schema.of(keep), self._probe(candidates, PROBE)
        pays = self._capacity(probe.restrict(narrow)) > self._capacity(probe)
        return candidates.restrict(narrow) if pays else candidates

    def _improve_code(self, candidates: SampleStore, arrived: SampleStore, judge: Judge | None) -> SampleStore:
        """The candidates in a better code, if there is one; ``arrived`` are those of the batch as they are.

        It is better if more of them fit, or if what arrives loses much less: of two of the same precision in bytes, and
        where levels turn out too few, at the price of samples.
        """
        old, now = candidates.take(np.arange(len(candidates) - len(arrived))), candidates.code
        sample = self._probe(old, LEARN_FROM).recode(None).join(arrived) if len(old) else arrived
        room, held = self.limit, None if now is None else now.levels
        order = choose_order(sample, room)
        levels, coarse = held, held is not None and not held.exact
        if not coarse or len(arrived) >= ENOUGH_ARRIVED:
            judged = arrived if coarse else sample
            levels = choose_levels(sample, judged, self.precision, room, self.code_tried, judge, held, order)
        if levels is None:
            return candidates
        code = learn_code(sample, levels, room, order)
        capacity = self._capacity(sample.recode(code))
        roomier = capacity > WORTH_RECODING * self._capacity(sample.recode(now))
        sharper = now is not None and capacity > 0 and SHARPER * error(arrived, levels) < error(arrived, now.levels)
        if not (roomier or sharper):
            return candidates
        return old.recode(code).join(arrived.recode(code))

    def _probe(self, candidates: SampleStore, count: int) -> SampleStore:
        """A sample of ``count`` candidates, of those that fit if any do."""
        fitting = np.flatnonzero(candidates.sizes <= self._room(candidates))
        return candidates.probe(fitting if len(fitting) else np.arange(len(candidates)), count)

    def _capacity(self, store: SampleStore) -> float:
        """How many samples like these the budget holds beside their masks."""
        return max(0, self._room(store)) / float(store.sizes.mean())


def _worthwhile(store: SampleStore) -> float:
    return WORTHWHILE if store.code is None else WORTHWHILE_IN_CODE
