"""The default learner: members that read one memory, each counting for as much as it was right.

Every row is answered before it is learned. From those answers, and from answers to held-out rows of the past, come the
members' weights, calibrated probabilities and the notice of drift.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from smartcl.data.batch import Batch, Bools, Doubles, Floats, Ints, Rows
from smartcl.data.spec import InputSpec
from smartcl.learners.ensemble.classifier import Classifier
from smartcl.learners.ensemble.combining import CombinedEnsemble
from smartcl.learners.ensemble.drift import CHANGED, RECURRED, UNKNOWN, Change, Overlap, overlap
from smartcl.learners.ensemble.evidence import Evidence, Roles
from smartcl.learners.ensemble.feature_maps import FeatureMap, HashedColumns, RandomFeatures, first_map
from smartcl.learners.ensemble.frame import Frame
from smartcl.learners.ensemble.member import Joint, Member, Past
from smartcl.learners.ensemble.network import NetworkMember
from smartcl.learners.ensemble.next_row import Known, NextRow
from smartcl.learners.ensemble.recent import Newest, Reader, Summed, begin_of_newest, learnable, roles
from smartcl.learners.ensemble.ridge import Ridge
from smartcl.learners.ensemble.rows import Samples, View
from smartcl.learners.ensemble.sampling import held_out, outdated, recent_share
from smartcl.learners.ensemble.settings import (
    BATCH_ROWS,
    FORGETTING,
    LONG_ROWS,
    LOOK_ROWS,
    MANY_FEATURES,
    NEIGHBOUR_ROWS,
    RARE,
    RECENT_ROWS,
    SAME_INPUTS,
    SETTLED_ROWS,
    TREE_ROWS,
    WIDE,
)
from smartcl.learners.ensemble.standing import Standing, Standings, Stopwatch
from smartcl.learners.ensemble.weighting import Answered, Weights
from smartcl.learners.model import Model
from smartcl.learners.stream_learner import SaidBefore, StreamLearner
from smartcl.learners.weights import class_weights
from smartcl.memory import SampleStore
from smartcl.memory.export import as_held, stored_rows
from smartcl.memory.pool import DORMANT, HELD_OUT, REPLAYED, Offer
from smartcl.memory.schematic_memory import ExtraColumns, Observation, SchematicMemory
from smartcl.network.arithmetic import flushed_denormals
from smartcl.network.inputs import Prepared
from smartcl.saving.saved import Saved
from smartcl.selection.recent_and_past import RecentAndPast

#: From the stream's signature and the map of features to members that have learned nothing.
MakeMembers = Callable[[InputSpec, FeatureMap], tuple[Member, ...]]

#: Among ridge's experts, the one that goes by all features and the whole past.
WHOLE_PAST = f"{FORGETTING[0]:g}, features"
#: The least weight that a sample can have.
LEAST_WEIGHT = float(np.finfo(np.float32).smallest_subnormal)


class Ensemble(StreamLearner):
    """Members learn each batch from the batch itself, from sums, or from the one memory; the pool answers."""

    extra_dtypes: ClassVar[Mapping[str, str] | None] = {"role": "uint8"}

    def __init__(
        self,
        spec: InputSpec,
        memory: str | int,
        members: MakeMembers,
        patience: int = 3,
        precision: str | int = "plain",
        seed: int = 0,
        *,
        whole: bool = False,
        trust: bool = True,
    ) -> None:
        store = SchematicMemory(spec, memory, RecentAndPast(), whole, patience, precision)
        super().__init__(spec, store, np.random.default_rng(seed))
        #: Whether samples whose labels are doubted leave the memory first.
        self.trust = trust
        #: The scale and the map by which rows become features; they are found on the first rows.
        self.frame, self.map = Frame.of(self.scale, 0), first_map(spec, seed)
        #: The members. ``members`` tells how they stand.
        self.parts = members(spec, self.map)
        #: The time that members took here: told, never asked by anything that decides.
        self.clock = Stopwatch()
        for model in self.models:
            model.network.draw_from(self.rng)
        self.evidence = Evidence.none(len(self.experts), spec.n_classes)
        self.newest = Newest.of(self.memory.store, self._reader)
        #: What is known beyond the pool of the very next row: of rows of a table, where labels come one by one.
        self.next_row = None if self._wide else NextRow.none(spec.n_features, spec.n_classes)
        #: The newest rows with their labels, those that wait included; whether the last call brought a single row.
        self.known: Known | None = None
        self.one_by_one = False
        self.summed = Summed()
        #: Whether the frame stays as it is whatever comes: sums of shards add up only in one frame.
        self.holds_frame = False
        #: The mean weight of the first batch's samples: penalties and priors are in rows of this weight.
        self.weight_unit = 1.0

    def follow(self, rows: Batch, batch_size: int, came: int) -> None:
        """Let the rows wait for their batch inside the memory's budget, or learn the batch that they complete."""
        with self._lock:
            rows = self.check(rows)
            together = rows if self.memory.waiting is None else self.memory.waiting.and_then(rows)
            self._keep_room(together, batch_size)
            if len(together) < batch_size and self.memory.can_wait(together):
                self._let_wait(rows, together, came == 1)
                return
            with self.all_or_nothing():
                self.one_by_one = came == 1
                self.observe(rows)

    def _let_wait(self, rows: Batch, together: Batch, one_by_one: bool) -> None:
        """One change of all that changes: it needs no undoing, and others see all of it or nothing."""
        memory, known = copy(self.memory), self.known
        memory.waiting = together
        if self.next_row is not None:
            new = self.samples(rows)
            known = (known or self.next_row.known(self.past().recent)).and_then(new.rows.values, new.y, new.weight)
        vars(self).update(memory=memory, known=known, one_by_one=one_by_one)

    def observe(self, batch: Batch) -> Observation:
        """Learn one batch, after the rows that wait. Completes, or leaves the learner as it was."""
        with self.all_or_nothing():
            batch = self.check(batch)
            self.begin_batch()
            if self.memory.waiting is not None:
                batch, self.memory.waiting = self.memory.waiting.and_then(batch), None
            self.look_at(batch)
            new = self.samples(batch)
            self.judge_answers(new)
            self.react(new)
            aside = held_out(len(batch), self.rng)
            self.teach(new.taken(np.flatnonzero(~aside)))
            self.observed = self.remember(batch, np.where(aside, HELD_OUT, REPLAYED).astype(np.uint8))
            self.known = None
            self.batches += 1
            self.look_back(len(batch))
            self.finish_batch()
        return self.observed

    # --- the phases of a batch ----------------------------------------------------------------------------------------

    def look_at(self, batch: Batch) -> None:
        """Count classes and follow the inputs' scale; while all rows are still there, begin the sums anew in it.

        The first batch tells the unit of the samples' weights.
        """
        if not self.batches and batch.weight is not None:
            self.weight_unit = float(batch.weight.double().mean())
        if self.scale is not None:
            self.scale = self.scale.updated(batch.x)
        self.counts = self.counts.widened(self.spec.n_classes).add(batch.y.numpy())
        if self.holds_frame:
            return
        rows, store = self.counts.total, self.memory.store
        frame = Frame.of(self.scale, rows) if self.frame.due(rows) else self.frame.followed(self.scale)
        if frame is self.frame:
            return
        anew = frame.rows != self.frame.rows and self.memory.offered == len(store)
        self.frame = frame
        if anew:
            self.map = self._drawn_map(stored_rows(store, np.arange(len(store))) if len(store) else batch.x)
        self.newest = Newest.of(store, self._reader)
        if self.next_row is not None:
            self.next_row = self.next_row.restarted(self.past().recent)
        if anew and len(store):
            known, past = self.stored(learnable(store)), self.past()
            self.parts = tuple(member.restarted(known, past) for member in self.parts)
            self.summed = Summed()
        elif len(store):
            self.summed = Summed(len(store), mixed=True)

    def judge_answers(self, new: Samples) -> None:
        """What was answered before it is learned says how much each member counts, and what has changed."""
        said = self._answered(new) if self.batches else None
        self.said_before = SaidBefore(new.y, None if said is None else self.evidence.probabilities(said.logs))
        if self.next_row is not None:
            pooled = self._undecided(len(new)) if said is None else self.evidence.weights.pooled(said.logs)
            before, self.next_row = self.next_row, self.next_row.after(pooled, new, self.past().recent)
            if self.one_by_one:
                self.said_before = SaidBefore(new.y, before.said_in_turn(self.next_row, len(new)), in_turn=True)
        if said is not None:
            self.evidence = self.evidence.after(said, self._roles)

    def react(self, new: Samples) -> None:
        """After a jump of the errors, look at new rows alone; after a change, go on without what is outdated."""
        if self.evidence.drift.alert.jumped:
            self.parts = tuple(member.after_jump() for member in self.parts)
        since = self.evidence.drift.alert.since
        if self._wide and since < RECENT_ROWS:
            return  # too few rows to tell other inputs from other labels
        change = self.evidence.drift.verdict(self.counts.total, self.overlap_since_jump)
        if change is None:
            return
        self.evidence = self.evidence.noted(change)
        before, past = self.parts, self.past()
        self.parts = tuple(member.after_change(change, past) for member in self.parts)
        if change.kind in (CHANGED, RECURRED):
            store = self.memory.store
            begin = begin_of_newest(store, change.rows_after)
            self._put_outdated_aside(before, begin)
            self.summed = Summed(begin) if change.kind == CHANGED else Summed(len(store), mixed=True)
            self.evidence = self.evidence.judged_anew(self._answered(new))

    def teach(self, new: Samples) -> None:
        """Every member learns."""
        past, adds, taught = self.past(), self.evidence.adds, []
        for member, share in zip(self.parts, self.shares, strict=True):
            with self.clock.of(member.name):
                taught.append(member.learn(new, replace(past, share=share, adds=member.name in adds)))
        self.parts = tuple(taught)

    def remember(self, batch: Batch, role: NDArray[np.uint8]) -> Observation:
        """Store the batch; over budget, part of the room is for the newest samples, part for all of the past."""
        beside = {**self.stored_beside(batch), "role": role}
        everything = np.ones(self.spec.n_features, dtype=np.bool_)
        candidates = self.memory.candidates(batch, everything, beside, self.told_apart)
        asks = self.trust and self.evidence.noise > RARE and self._roles is not None
        judge = partial(_WholePast, self, candidates) if asks else None
        effort = min(1.0, MANY_FEATURES / self.map.width)
        offer = Offer(effort=effort, recent=recent_share(self.evidence.coverage))
        before = self.memory.store
        seen = self.memory.select(candidates, judge, self.rng, offer)
        store, self.summed = self.memory.store, self.summed.after(seen.kept)
        same = store.code is before.code and store.schema == before.schema
        self.newest = self.newest.after(seen, store, self._reader) if same else Newest.of(store, self._reader)
        return seen

    def _keep_room(self, rows: Batch, batch_size: int) -> None:
        """Keep room inside the memory's budget in which a batch can wait.

        Of a table it is kept from the first row on, so that what is learned does not depend on how calls cut the rows.
        Room for wider rows, which take more, is made when the first of them waits.
        """
        if not self.memory.reserve and (not self._wide or (len(rows) < batch_size and not self.memory.can_wait(rows))):
            with self.all_or_nothing():
                self._keep_free(batch_size * rows.nbytes // len(rows))

    def _keep_free(self, nbytes: int) -> None:
        """Keep this room for rows that wait, and let go of the samples that take it."""
        self.begin_batch()
        self.memory.keep_free(nbytes)
        if self.memory.store.nbytes > self.memory.limit:
            self.make_room()
        self.finish_batch()

    def make_room(self) -> Observation:
        offer = Offer(recent=recent_share(self.evidence.coverage))
        seen = self.memory.select(self.memory.store, None, self.rng, offer)
        self.summed = self.summed.after(seen.kept)
        self.newest = Newest.of(self.memory.store, self._reader)
        return seen

    @property
    def waiting(self) -> int:
        """The number of rows that wait."""
        return 0 if self.memory.waiting is None else len(self.memory.waiting)

    def flush(self) -> None:
        """Learn the rows that wait, as a batch of their own."""
        waiting = self.memory.waiting
        if waiting is not None:
            with self.all_or_nothing():
                self.memory = copy(self.memory)
                self.memory.waiting = None
                self.observe(waiting)

    def look_back(self, came: int) -> None:
        """Now and then, ask about held-out rows of the past, and whether the networks' steps still add."""
        store = self.memory.store
        if self.counts.total // LOOK_ROWS == (self.counts.total - came) // LOOK_ROWS or not len(store):
            return
        self.evidence = self.evidence.asked_who_adds(self._networks)
        asked = np.flatnonzero(roles(store) == HELD_OUT)
        if len(asked):
            held = self.stored(self.rng.permutation(asked)[:LOOK_ROWS])
            other = self._wide and self._overlap(RECENT_ROWS).share < SAME_INPUTS
            said = self._answered(self._as_later(held))
            self.evidence = self.evidence.looked_back(said, other)
            if self.spec.momentary:
                self.evidence = self.evidence.asked_of_later(said)

    def overlap_since_jump(self) -> Overlap:
        """How much the inputs since the last jump of the errors are those of before.

        Wide rows without a jump count as other inputs: half-wrong labels on images of new classes look like a change.
        """
        since = self.evidence.drift.alert.since
        if self._wide and since > 2 * RECENT_ROWS:
            return Overlap(0.0, 0.0)
        return self._overlap(int(min(RECENT_ROWS, since)))

    def _overlap(self, count: int) -> Overlap:
        """How much the newest ``count`` stored samples look like older ones; wholly if those are too few to compare."""
        if count < BATCH_ROWS:
            return UNKNOWN
        stored = learnable(self.memory.store)
        old = stored[: -int(min(self.evidence.drift.alert.since, SETTLED_ROWS, len(stored) / 2)) or None]
        if len(old) < BATCH_ROWS:
            return Overlap(1.0, 0.0)
        old = self.rng.permutation(old)[:count]
        new = self.newest.values[-count:][-len(old) :]
        before = self.frame.scaled(stored_rows(self.memory.store, old), self.spec)
        return overlap(*(self.map(values)[:, :MANY_FEATURES] for values in (new, before)))

    # --- answers --------------------------------------------------------------------------------------------------

    def answers(self, rows: View, weights: Weights | None = None) -> Floats:
        """What every expert says: log-probabilities ``[row, expert, class]``; or zeros of those that count nothing."""
        past, found = self.past(), []
        for member, part in zip(self.parts, self._slices, strict=True):
            if weights is None or weights.experts[part].any():
                with self.clock.of(member.name):
                    found.append(member.answers(rows, past))
            else:
                found.append(np.zeros((len(rows), part.stop - part.start, self.spec.n_classes), np.float32))
        return np.concatenate(found, axis=1)

    def classify(self) -> Callable[[Rows], torch.Tensor]:
        return lambda x: torch.from_numpy(self.probabilities(self.view(x)).astype(np.float32))

    def probabilities(self, rows: View) -> Doubles:
        """Weighed and calibrated: for the next rows of the stream, or for the very next one.

        The very next one is meant where rows wait that came one by one, and while nothing else is known.
        """
        if self.batches and self.spec.momentary and (later := self._are_later(rows)).any():
            found = np.zeros((len(rows), self.spec.n_classes))
            at = np.flatnonzero(later)
            weights = self.evidence.later_weights
            found[at] = weights.pooled(self.answers(rows.taken(at), weights))
            if len(at) < len(rows):
                at = np.flatnonzero(~later)
                found[at] = self._soon(rows.taken(at))
            return found
        return self._soon(rows)

    def _soon(self, rows: View) -> Doubles:
        """Probabilities for rows that come soon after those that were learned."""
        if self.known is not None and self.next_row is not None and (self.one_by_one or not self.batches):
            pooled = self._pooled(rows) if self.next_row.asks_pool else self._undecided(len(rows))
            return self.next_row.probabilities(pooled, rows.values, self.known)
        return self.evidence.calibration.applied(self._pooled(rows))

    def _pooled(self, rows: View) -> Doubles:
        """What the pool of all members says, before it is calibrated."""
        if not self.batches:
            return self._undecided(len(rows))
        weights = self.evidence.weights
        return weights.pooled(self.answers(rows, weights))

    def _are_later(self, rows: View) -> Bools:
        """Which rows come so late that nothing is known of the labels before them."""
        if not self.spec.momentary or not len(self.evidence.later) or not isinstance(rows.x, torch.Tensor):
            return np.zeros(len(rows), np.bool_)
        found: Bools = (rows.x[:, list(self.spec.momentary)] == 0).all(dim=1).numpy()
        return found

    def _as_later(self, samples: Samples) -> Samples:
        """Samples as if nothing were known of the labels before them."""
        x = samples.rows.x
        if not self.spec.momentary or not isinstance(x, torch.Tensor):
            return samples
        x = x.clone()
        x[:, list(self.spec.momentary)] = 0
        return replace(samples, rows=self.view(x))

    def _undecided(self, count: int) -> Doubles:
        """What is said before the first batch is learned: all classes are as likely."""
        return np.full((count, self.spec.n_classes), 1 / self.spec.n_classes)

    def feature_weights(self) -> NDArray[np.float64]:
        return np.ones(self.spec.n_features)

    @property
    def experts(self) -> list[str]:
        """The names of all answers that are weighed."""
        return [f"{member.name}: {expert}" for member in self.parts for expert in member.experts]

    @property
    def _slices(self) -> list[slice]:
        """Where each member's experts are among all."""
        ends = np.cumsum([len(member.experts) for member in self.parts]).tolist()
        return [slice(start, end) for start, end in pairwise([0, *ends])]

    @property
    def _networks(self) -> dict[str, slice]:
        """The members that take steps now, and where their experts are."""
        pairs = zip(self.parts, self._slices, strict=True)
        return {member.name: part for member, part in pairs if isinstance(member, NetworkMember) and not member.resting}

    @property
    def shares(self) -> list[float]:
        """How much each member counts."""
        parts = [float(self.evidence.weights.experts[part].sum()) for part in self._slices]
        total = sum(parts)
        return [part / total if total else 1 / len(parts) for part in parts]

    @property
    def members(self) -> Standings:
        """How each member stands: its weight, how often it is right, its bytes, its share of the time."""
        present, taken = self.evidence.present, self.clock.shares()
        return Standings(
            Standing(
                member.name,
                share,
                self.evidence.weights.accuracy(present, part) if len(present) else None,
                member.nbytes,
                taken.get(member.name),
            )
            for member, part, share in zip(self.parts, self._slices, self.shares, strict=True)
        )

    @property
    def bytes_by_part(self) -> dict[str, int]:
        own = self.evidence.nbytes + self.frame.nbytes + self.map.nbytes
        own += 0 if self.next_row is None else self.next_row.nbytes
        parts = {member.name: member.nbytes for member in self.parts}
        return {"memory": self.memory.nbytes, **parts, "weighing and scales": own}

    @property
    def changes(self) -> tuple[Change, ...]:
        """What has changed in the stream so far: after which row, of what kind, by what evidence."""
        return self.evidence.drift.changes

    # --- rows and samples as members read them -----------------------------------------------------------------------

    def view(self, x: Rows) -> View:
        return View(x, self._prepared_as_held, partial(self.frame.scaled, spec=self.spec), self.map)

    def _prepared_as_held(self, x: Rows) -> Prepared:
        """Rows as a network takes them, at the memory's precision: a network learns old classes from stored samples
        alone, and rows of another precision are others to it.
        """
        return self.prepared(as_held(self.memory.store, x))

    def samples(self, batch: Batch) -> Samples:
        """A batch as members read it."""
        weight = self.weighed_labels(batch.y, batch.weight)
        return Samples(self.view(batch.x), batch.y.numpy(), weight)

    def stored(self, at: Ints) -> Samples:
        """Stored samples as members read them."""
        store = self.memory.store
        return Samples(self.view(stored_rows(store, at)), store.labels[at].astype(np.int64), self.weigh(store, at))

    def weigh(self, store: SampleStore, at: Ints) -> Floats | None:
        """How much stored samples count; None where all count alike."""
        own = torch.from_numpy(store.extra["weight"][at]) if self.weighted and len(store) else None
        return self.weighed_labels(torch.from_numpy(store.labels[at].astype(np.int64)), own)

    def weighed_labels(self, y: torch.Tensor, own: torch.Tensor | None) -> Floats | None:
        """How much samples with these labels count, by their own weights in units and those of their classes."""
        of_class = class_weights(self.class_weight, self.counts)
        if own is None and of_class is None:
            return None
        weight = torch.ones(len(y)) if own is None else own / self.weight_unit
        found: Floats = (weight if of_class is None else weight * of_class[y]).numpy()
        return found

    def past(self) -> Past:
        """All that members may read beside the samples that come."""
        store = self.memory.store
        return Past(
            spec=self.spec,
            memory=self.memory,
            recent=self.newest.samples(store, self.weigh),
            counts=self.counts,
            scale=self.scale,
            features=self.map,
            class_weight=self.class_weight,
            rng=self.rng,
            read=self.stored,
            weight_unit=self.weight_unit,
        )

    def _answered(self, samples: Samples) -> Answered:
        weight = np.ones(len(samples), np.float32) if samples.weight is None else samples.weight
        return Answered(self.answers(samples.rows), samples.y, weight)

    # --- the memory ---------------------------------------------------------------------------------------------------

    def extra_columns(self, batch: Batch) -> ExtraColumns:
        return {"role": np.full(len(batch), REPLAYED, dtype=np.uint8)}

    def told_apart(self, samples: SampleStore, coarse: SampleStore) -> float:
        """How many times as much coarser values change the answers to these samples as a batch of learning does.

        Of the pool's answers and those of the sums, whichever changes more: sums learn rows as they come.
        """
        if self.memory.offered < RECENT_ROWS:
            return np.inf
        index = np.arange(len(samples))
        exact, rounded = (self.view(stored_rows(store, index)) for store in (samples, coarse))
        answered = [self.answers(rows) for rows in (exact, rounded)]
        pooled = [torch.from_numpy(self.evidence.probabilities(logs)) for logs in answered]
        change = distance(*pooled)
        if self._roles is not None:
            change = max(change, distance(*(torch.from_numpy(np.exp(logs[:, self._roles.whole])) for logs in answered)))
        with self.finished() as before:
            moved = distance(before.classify()(stored_rows(samples, index)).double(), pooled[0])
        return change / max(moved, np.finfo(np.float64).tiny)

    def become(self, whole: CombinedEnsemble) -> None:
        """Go on from what several learners have learned apart, having learned nothing so far."""
        with self.all_or_nothing():
            self.begin_batch()
            self.scale, self.counts, self.batches = whole.scale, whole.counts, whole.batches
            self.weighted, self.weight_unit, self.keeps_ids = whole.weighted, whole.weight_unit, whole.keeps_ids
            self.evidence = whole.evidence
            self.memory.take_in(
                whole.store, whole.offered, self.rng, Offer(recent=recent_share(whole.evidence.coverage))
            )
            store = self.memory.store
            if whole.frame is None:
                self.frame = Frame.of(self.scale, self.counts.total)
                if len(store):
                    self.map = self._drawn_map(stored_rows(store, np.arange(len(store))))
            else:
                self.frame, self.map = whole.frame, whole.map
            self.newest = Newest.of(store, self._reader)
            joint = Joint(
                self.stored(learnable(store)), self.past(), whole.frame is not None, whole.one_base, whole.steps
            )
            with flushed_denormals():
                self.parts = tuple(whole.member(blank, joint) for blank in self.parts)
            self.summed = Summed(len(store), mixed=True) if whole.unsure else Summed()
            held = np.flatnonzero(roles(store) == HELD_OUT)
            if len(held):
                self.evidence = self.evidence.judged_by(self._answered(self.stored(held)))
            if self.next_row is not None and whole.next_row is not None:
                same = whole.frame is not None
                self.next_row = whole.next_row if same else whole.next_row.restarted(self.past().recent)
            self.finish_batch()

    def discard(self, gone: Bools) -> None:
        """Take stored samples out of the memory and of the sums of the whole past, inside ``all_or_nothing``.

        Each sum loses only what it holds, exactly up to the precision in which samples are stored. After a concept has
        recurred or the inputs' scale has moved, it is unknown which older samples the sums hold; and under balanced
        classes, with what weight. Then ridge regression begins anew with the samples that stay and may be learned.
        """
        self.begin_batch()
        store = self.memory.store
        taught = gone & (roles(store) != HELD_OUT)
        held = taught & self.summed.holds(roles(store))
        anew = self.summed.unsure(taught) or (self.class_weight == "balanced" and bool(held.any()))
        if taught.any():
            all_of_them, of_sums = (self.stored(np.flatnonzero(each)) for each in (taught, held))
            self.parts = tuple(
                member.without(of_sums if isinstance(member, Ridge) else all_of_them) for member in self.parts
            )
        self.memory.store = store.take(~gone)
        self.newest = Newest.of(self.memory.store, self._reader)
        self.summed = self.summed.after(np.flatnonzero(~gone))
        if anew:
            known, past = self.stored(learnable(self.memory.store)), self.past()
            self.parts = tuple(
                member.restarted(known, past) if isinstance(member, Ridge) else member for member in self.parts
            )
            self.summed = Summed()
        self.finish_batch()

    def discard_waiting(self, gone: Bools) -> None:
        super().discard_waiting(gone)
        self.known = self._known_again()
        self.finish_batch()

    def _put_outdated_aside(self, before: tuple[Member, ...], begin: int) -> None:
        """Of the stored samples before the position ``begin``, those rest that the sums knew before a change and
        contradict now; those that the sums know now are learned again.
        """
        place, store = self._roles, self.memory.store
        at = np.flatnonzero(roles(store)[:begin] != HELD_OUT)[-LONG_ROWS:]
        if place is None or not len(at):
            return
        rows, y = self.view(stored_rows(store, at)), store.labels[at].astype(np.int64)
        knew, knows = self.whole_past(before, rows), self.whole_past(self.parts, rows)
        changed = roles(store).copy()
        changed[at[outdated(knew, knows, y)]] = DORMANT
        changed[at[knows.argmax(axis=1) == y]] = REPLAYED
        self.memory.store = store.with_extra(role=changed)
        self.newest = Newest.of(self.memory.store, self._reader)

    # --- state --------------------------------------------------------------------------------------------------

    def begin_batch(self) -> None:
        """Members are values and need no copy."""
        for table in self._tables:
            table.start_batch()
        self.memory = copy(self.memory)

    @property
    def models(self) -> tuple[Model, ...]:
        return tuple(member.learner.model for member in self.parts if isinstance(member, NetworkMember))

    def add_classes(self, n_classes: int) -> None:
        """Make room for classes first seen now."""
        with self.all_or_nothing():
            self.begin_batch()
            self.parts = tuple(member.widened(n_classes, self.rng) for member in self.parts)
            self.evidence = self.evidence.widened(n_classes)
            self.next_row = None if self.next_row is None else self.next_row.widened(n_classes)
            self.known = None if self.known is None else self.known.widened(n_classes)
            self.spec = replace(self.spec, n_classes=n_classes)
            self.finish_batch()

    def state_dict(self) -> dict[str, Any]:
        with self._lock:
            return {
                **super().state_dict(),
                "frame": self.frame.state_dict(),
                "map": self.map.state_dict(),
                "members": {member.name: member.state_dict() for member in self.parts},
                "evidence": self.evidence.state_dict(),
                "next_row": None if self.next_row is None else self.next_row.state_dict(),
                "one_by_one": self.one_by_one,
                "summed": self.summed.state_dict(),
                "holds_frame": self.holds_frame,
                "weight_unit": self.weight_unit,
            }

    def load_parts(self, saved: Saved) -> None:
        self.frame = Frame.from_state(saved.part("frame"), self.spec)
        self.map = self.map.loaded(saved.part("map"))
        states = saved.part("members")
        self.parts = tuple(member.loaded(states.part(member.name)) for member in self.parts)
        self.evidence = self.evidence.loaded(saved.part("evidence"))
        self.weight_unit = saved.number("weight_unit", LEAST_WEIGHT)
        if (self.next_row is None) == saved.has("next_row"):
            saved.refuse("next_row", "must be there for rows of a table, and only for them")
        self.next_row = None if self.next_row is None else self.next_row.loaded(saved.part("next_row"))
        self.one_by_one = saved.flag("one_by_one")
        self.holds_frame = saved.flag("holds_frame")

    def load_state_dict(self, state: dict[str, Any]) -> None:
        with self.all_or_nothing():
            super().load_state_dict(state)
            self.begin_batch()
            self.summed = Summed.from_state(Saved(state, "learner").part("summed"), len(self.memory))
            self.newest = Newest.of(self.memory.store, self._reader)
            known, past = self.stored(learnable(self.memory.store)), self.past()
            self.parts = tuple(
                member.restarted(known, past) if isinstance(member, Classifier) else member for member in self.parts
            )
            self.known = self._known_again()
            self.finish_batch()

    def _known_again(self) -> Known | None:
        """What the rows that wait have told, if any do."""
        if self.memory.waiting is None or self.next_row is None:
            return None
        waiting = self.samples(self.memory.waiting)
        return self.next_row.known(self.past().recent).and_then(waiting.rows.values, waiting.y, waiting.weight)

    def _drawn_map(self, rows: Rows) -> RandomFeatures | HashedColumns:
        """The map for rows such as these."""
        if isinstance(self.map, HashedColumns):
            return self.map
        pixels = self.spec.dtype == "uint8"
        return RandomFeatures.drawn(self.map.seed, self.frame.scaled(rows, self.spec), pixels)

    @property
    def _reader(self) -> Reader:
        most = max(NEIGHBOUR_ROWS) if self._wide else max(TREE_ROWS, *NEIGHBOUR_ROWS)
        return Reader(most, partial(self.frame.scaled, spec=self.spec), raw=not self._wide)

    @property
    def _wide(self) -> bool:
        """Whether rows are images, embeddings or texts, and not those of a table."""
        return self.spec.n_features >= WIDE

    def whole_past(self, members: Sequence[Member], rows: View) -> Floats:
        """What the sums of the whole past answer, if there is ridge regression among these members."""
        ridge = next(member for member in members if isinstance(member, Ridge))
        return ridge.answers(rows, self.past())[:, ridge.experts.index(WHOLE_PAST)]

    @property
    def _roles(self) -> Roles | None:
        """Which experts drift is told from, if there is ridge regression among the members."""
        names = self.experts
        whole, short = f"ridge: {WHOLE_PAST}", f"ridge: {FORGETTING[-1]:g}, features"
        if whole not in names:
            return None
        return Roles(names.index(whole), names.index(short), names.index("ridge: snapshot"))


class _WholePast:
    """What the sums of the whole past answer for candidates of the memory; a selector asks it."""

    def __init__(self, learner: Ensemble, candidates: SampleStore, fitting: Ints) -> None:
        self._learner, self._candidates, self._fitting = learner, candidates, fitting

    def features(self, index: Ints, layer: str) -> torch.Tensor:
        rows = self._learner.view(stored_rows(self._candidates, self._fitting[index]))
        return torch.from_numpy(self._learner.whole_past(self._learner.parts, rows))


def distance(answers: torch.Tensor, others: torch.Tensor) -> float:
    """The probability, in the mean, that two sets of answers do not have in common (total variation)."""
    return min(1.0, float((answers - others).abs().sum(dim=1).mean() / 2))
