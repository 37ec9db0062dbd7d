"""Base of all learners of a stream: a memory, a generator, counts of classes, calls that count wholly or not at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np
import torch
from numpy.typing import NDArray

from smartcl.data.batch import Batch, Bools, Ints, Rows, joined, row_pieces
from smartcl.data.spec import InputSpec
from smartcl.learners.checks import check_batch, check_rows, flat_rows
from smartcl.learners.class_counts import ClassCounts
from smartcl.learners.extra_columns import check_task
from smartcl.learners.ids import id_column
from smartcl.learners.learner_state import load_state, state_of
from smartcl.learners.transaction import Transactional
from smartcl.learners.weights import ClassWeight, Labelled, class_weights, weighted
from smartcl.memory import SampleStore
from smartcl.memory.schematic_memory import ExtraColumns, Observation, SchematicMemory
from smartcl.network.inputs import Prepared, prepare
from smartcl.network.plain import PlainNetwork
from smartcl.network.row_table.table import RowTable
from smartcl.network.scaling import InputScale
from smartcl.saving.persistence import state_nbytes
from smartcl.saving.saved import Saved
from smartcl.selection.reservoir import Nothing

PREDICT_ROWS = 2048
#: Bytes of a total that stay free: numbers in the text of a state have more digits, or fewer, as it goes on.
ROUNDING = 1024


class SaidBefore(NamedTuple):
    """The labels of a batch, and the probabilities given to its rows before it was learned; None: nothing was known.

    ``in_turn``: each row was answered when the labels of all rows before it were known.
    """

    y: Ints
    probabilities: NDArray[np.float64] | None
    in_turn: bool = False


class StreamLearner(Transactional):
    """A classifier that learns from a stream of batches beside a memory of a fixed number of bytes.

    ``observe`` completes or changes nothing; several of them inside ``with learner.all_or_nothing():`` do so together.
    Threads may share a learner: they learn one after the other, and predict from the last finished batch. A subclass
    defines how a batch is learned and how rows are classified.
    """

    #: What ``extra_columns`` gives, by name and dtype; None where it depends on the stream.
    extra_dtypes: ClassVar[Mapping[str, str] | None] = {}

    def __init__(self, spec: InputSpec, memory: SchematicMemory, rng: np.random.Generator) -> None:
        super().__init__()
        self.spec, self.memory, self.rng = spec, memory, rng
        #: The centre and scale of each feature, where they are to be learned.
        self.scale = InputScale.fresh(spec.n_features, spec.sparse, spec.pixels) if spec.learned else None
        #: What the last batch did to the memory.
        self.observed: Observation | None = None
        #: What this learner said of the rows of the last batch before it learned them, if it asks: methods that have no
        #: use of their own for that do not.
        self.said_before: SaidBefore | None = None
        #: Whether the ids that come with batches are stored, so that single samples can be forgotten.
        self.keeps_ids = False
        #: The classes that have come, and how much each is to count.
        self.counts, self.class_weight = ClassCounts.none(spec.n_classes), cast(ClassWeight, None)
        #: Whether samples have weights of their own, stored beside them; the first batch decides.
        self.weighted = False
        #: The most bytes that the whole state may take, and those that samples may take of them; None: no bound.
        self.total: int | None = None
        self.most_samples = self.memory.budget.nbytes
        #: Batches learned, of which those since the last consolidation count where it comes on a schedule.
        self.batches = 0

    @property
    def _tables(self) -> list[RowTable]:
        """Only networks of sparse rows have them; of others, the networks need not be asked in every call."""
        return super()._tables if self.spec.sparse else []

    def observe(self, batch: Batch) -> Observation:
        """Learn one batch. Completes, or leaves the learner as it was."""
        raise NotImplementedError

    def follow(self, rows: Batch, batch_size: int, came: int) -> None:
        """Learn rows, at most ``batch_size`` of the ``came`` rows of a call; a learner may let a smaller batch wait."""
        self.observe(rows)

    @property
    def waiting(self) -> int:
        """The number of rows that have come and wait for their batch to be complete."""
        return 0

    def flush(self) -> None:
        """Learn the rows that wait."""

    def check(self, batch: Batch) -> Batch:
        """The batch as it will be learned, or a ``ValueError`` that says what is wrong with it."""
        batch = check_batch(batch, self.spec)
        if "task" in (self.extra_dtypes or ()):
            check_task(batch)
        if not self.batches and not self.waiting:
            self.weighted = batch.weight is not None
        elif batch.weight is not None and not self.weighted:
            raise ValueError("weight must be given from the first batch on, or never: it is stored beside each sample")
        elif batch.weight is None and self.weighted and self.waiting:
            batch = replace(batch, weight=torch.ones(len(batch)))
        if not isinstance(self.memory.selector, Nothing):
            self.memory.check_room(batch, self.stored_beside)
        return batch

    def with_weights(self, samples: Labelled, own: torch.Tensor | None) -> Labelled:
        """The samples with a weight each, where they do not all count the same."""
        return weighted(samples, own, class_weights(self.class_weight, self.counts))

    def prepared(self, x: Rows, features: Ints | None = None, missing: torch.Tensor | None = None) -> Prepared:
        """Rows as the network takes them now."""
        return prepare(x, self.spec, features, missing, self.scale)

    def read_weighted(self, store: SampleStore, index: Ints) -> Labelled:
        """Stored samples as the network takes them, with their weights."""
        own = torch.from_numpy(store.extra["weight"][index]) if self.weighted else None
        return self.with_weights(self.read(store, index), own)

    def read(self, store: SampleStore, index: Ints) -> Labelled:
        """Stored samples as the network takes them, without weights."""
        got = store.gather(index, missing=bool(self.spec.offset) or self.spec.learned)
        features = None if self.spec.sparse or store.schema.is_full else store.features
        return Labelled(self.prepared(got.x, features, got.missing), got.y)

    def discard(self, gone: Bools) -> None:
        """Take stored samples out of the memory, inside ``all_or_nothing``."""
        self.begin_batch()
        self.memory.store = self.memory.store.take(~gone)
        self.finish_batch()

    def discard_waiting(self, gone: Bools) -> None:
        """Drop rows that wait, inside ``all_or_nothing``."""
        waiting = self.memory.waiting
        assert waiting is not None
        self.memory = copy(self.memory)
        self.memory.waiting = None if gone.all() else waiting.take(np.flatnonzero(~gone))

    def extra_columns(self, batch: Batch) -> ExtraColumns:
        """What this method stores beside each sample; nothing, unless it says so."""
        return {}

    def stored_beside(self, batch: Batch) -> ExtraColumns:
        """The method's extra columns, and the samples' ids and weights where they have any."""
        columns = {**self.extra_columns(batch), **(id_column(self, batch) if self.keeps_ids else {})}
        if not self.weighted:
            return columns
        weight = np.ones(len(batch), np.float32) if batch.weight is None else batch.weight.numpy()
        return {**columns, "weight": weight}

    def predict_proba(self, x: Rows) -> torch.Tensor:
        """Class probabilities of each row, by what the last finished batch left."""
        x = flat_rows(x, self.spec)
        with self.finished() as view, torch.no_grad():
            classify = view.classify()
            if x.shape[0] <= PREDICT_ROWS:
                return classify(check_rows(x, view.spec))
            pieces = (check_rows(piece, view.spec) for piece in row_pieces(x, PREDICT_ROWS))
            return joined((classify(piece) for piece in pieces), x.shape[0])

    def end_task(self, data: Batch) -> Observation | None:
        """The stream says that a task with these samples is over; what became of the memory, if it changed."""
        return None

    def classify(self) -> Callable[[Rows], torch.Tensor]:
        """From checked rows to probabilities, as things are now."""
        raise NotImplementedError

    @property
    def bytes_by_part(self) -> dict[str, int]:
        """The bytes of all that the future depends on: of the memory, and of each part beside it."""
        models = zip(self.model_names, self.models, strict=True)
        return {"memory": self.memory.store.nbytes, **{name: model.nbytes for name, model in models}}

    def bound(self, total: int) -> None:
        """Keep the whole state within this number of bytes from now on."""
        with self.all_or_nothing():
            self.begin_batch()
            self.total = total
            self.finish_batch()

    def finish_batch(self) -> None:
        """From here on, others see what has been done, within the bytes that there are."""
        if self.total is not None:
            self._keep_within(self.total)
        super().finish_batch()

    def _keep_within(self, total: int) -> None:
        """Give the memory what the rest of the state leaves; samples that do not fit any more leave."""
        self.memory = copy(self.memory)
        for last in (False, False, False, True):
            rest = self.total_nbytes - self.memory.nbytes + ROUNDING
            if rest + self.spec.sample_nbytes > total:
                raise ValueError(
                    f"total must be at least {rest + self.spec.sample_nbytes} bytes: that is what "
                    f"{type(self).__name__} takes with one sample, {self.spec.n_features} features and "
                    f"{self.spec.n_classes} classes; it is {total}"
                )
            self.memory.limit_to(min(self.most_samples, total - rest))
            if self.memory.store.nbytes <= self.memory.limit and self.memory.nbytes <= self.memory.budget.nbytes:
                return
            if last or self.memory.limit <= self.memory.store.overhead:
                self.memory.clear()
            self.observed = self.make_room() if self.observed is None else self.observed.and_then(self.make_room())

    def make_room(self) -> Observation:
        """Let go of stored samples that the memory's budget does not hold any more."""
        return self.memory.select(self.memory.store, None, self.rng)

    @property
    def total_nbytes(self) -> int:
        """The bytes of the whole state, as ``state_dict`` has it and a saved folder holds it."""
        return state_nbytes(self.state_dict())

    def as_module(self) -> PlainNetwork:
        """What predicts, as a plain PyTorch module; a method that does not predict by its network has none."""
        raise ValueError(
            f"{type(self).__name__} does not predict by its network alone, and only a network can be exported: "
            "take method='smart'"
        )

    def feature_weights(self) -> NDArray[np.float64]:
        """About how strongly each input feature is read: which of many features to ask about first."""
        raise NotImplementedError

    def add_classes(self, n_classes: int) -> None:
        """Make room for classes first seen now."""
        with self.all_or_nothing():
            self.begin_batch()
            for model in self.models:
                model.add_classes(n_classes, self.rng)
            self.spec = replace(self.spec, n_classes=n_classes)
            self.finish_batch()

    def state_dict(self) -> dict[str, Any]:
        """All that the future depends on."""
        with self._lock:
            return state_of(self)

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on as the learner that gave this state would have, bit for bit; a state that does not fit is refused."""
        with self.all_or_nothing():
            load_state(self, Saved(state, "learner"))

    def load_parts(self, saved: Saved) -> None:
        """Take over what this learner has beside its memory; inside ``load_state_dict``."""
        raise NotImplementedError
