"""What a memory promises whoever chooses for it: the budget, and no sample lost for one that cannot fit."""

from __future__ import annotations

import tracemalloc
from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from helpers import assert_same_state, small_batches, small_spec
from smartcl.data.batch import Batch
from smartcl.data.spec import InputSpec
from smartcl.learners.methods import METHODS
from smartcl.memory import SampleStore
from smartcl.memory.pool import Pool
from smartcl.memory.schematic_memory import SchematicMemory
from smartcl.network.gradients import Trace
from smartcl.selection.reservoir import Everything, Nothing
from test_contracts import BOUNDED, SELECTORS, assert_probabilities, quick

CHOOSERS = [c for c in SELECTORS if c is not Everything]
CLASSES = 3


class Lookalikes:
    """A view of samples by nothing but their values."""

    distrust, spared = 1.0, 0

    def __init__(self, store: SampleStore, fitting: np.ndarray) -> None:
        self.store, self.fitting = store, fitting
        self.look = torch.randn(store.n_features, CLASSES, generator=torch.Generator().manual_seed(0))

    def features(self, index: np.ndarray, layer: str) -> torch.Tensor:
        x = self.store.gather(self.fitting[index]).x
        if isinstance(x, torch.Tensor):
            return x @ self.look[torch.from_numpy(self.store.features)]
        return torch.from_numpy(x.toarray()) @ self.look

    def trace(self, index: np.ndarray) -> Trace:
        return Trace(torch.zeros(len(index), 1), [], [self.features(index, "logits")])


def batch_of(rng: np.random.Generator, n_rows: int, n_features: int, sparse_rows: bool) -> Batch:
    """Rows from empty to full, of values in one byte, two or four."""
    density = rng.choice([0.0, 0.02, 0.3, 1.0], (n_rows, 1))
    values = rng.choice([1.0, 7.0, 0.5, 0.1], (n_rows, 1)) * rng.choice([1.0, 3.0], (n_rows, n_features))
    x = (values * (rng.random((n_rows, n_features)) < density)).astype(np.float32)
    y = torch.from_numpy(rng.integers(0, CLASSES, n_rows))
    return Batch(sparse.csr_array(x) if sparse_rows else torch.from_numpy(x), y, task=int(rng.integers(2)))


def extra_of(batch: Batch) -> dict[str, np.ndarray]:
    return {"task": np.full(len(batch), batch.task, dtype=np.uint16)}


def offer(memory: SchematicMemory, batch: Batch, alive: np.ndarray, rng: np.random.Generator) -> None:
    told_apart = float(rng.random()) * 2
    candidates = memory.candidates(batch, alive, extra_of(batch), lambda *_: told_apart)
    memory.select(candidates, partial(Lookalikes, candidates), rng)


def fits(memory: SchematicMemory, batch: Batch) -> bool:
    """Whether the memory takes the batch as its first."""
    try:
        memory.check_room(batch, extra_of)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("selector", CHOOSERS, ids=lambda c: c.__name__)
@given(
    n_features=st.sampled_from([1, 7, 60, 400, 2500]),
    nbytes=st.integers(1, 1500),
    sparse_rows=st.booleans(),
    whole=st.booleans(),
    precision=st.sampled_from(["plain", "exact", "auto", 2, 4, 30]),
    batches=st.lists(st.tuples(st.integers(1, 20), st.sampled_from([0.0, 0.01, 0.3, 0.9, 1.0])), max_size=8),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=20)
def test_no_state_of_a_memory_outgrows_its_budget(
    selector: type,
    n_features: int,
    nbytes: int,
    sparse_rows: bool,
    whole: bool,
    precision: str | int,
    batches: list[tuple[int, float]],
    seed: int,
) -> None:
    rng = np.random.default_rng(seed)
    spec = InputSpec(n_features, CLASSES, sparse=sparse_rows)
    memory = SchematicMemory(spec, nbytes, selector(), whole, patience=1, precision=precision)
    for n_rows, share in batches:
        batch = batch_of(rng, n_rows, n_features, sparse_rows)
        if fits(memory, batch):
            offer(memory, batch, alive=rng.random(n_features) < share, rng=rng)
        assert memory.store.nbytes <= nbytes
        again = SchematicMemory(spec, nbytes, selector(), whole, patience=1, precision=precision)
        again.load_state_dict(memory.state_dict(), n_classes=CLASSES)
        assert_same_state(again.state_dict(), memory.state_dict())


@pytest.mark.parametrize("selector", CHOOSERS, ids=lambda c: c.__name__)
@given(seed=st.integers(0, 2**32 - 1), sparse_rows=st.booleans())
@settings(max_examples=8)
def test_a_row_too_large_changes_nothing(selector: type, seed: int, sparse_rows: bool) -> None:
    with_it, without = (
        SchematicMemory(InputSpec(300, CLASSES, sparse=sparse_rows), 800, selector(), whole=False, patience=1)
        for _ in range(2)
    )
    rng, alive = np.random.default_rng(seed), np.ones(300, dtype=bool)
    small = rng.random((60, 300)) < 0.02
    large = rng.random((1, 300))
    y = rng.integers(0, CLASSES, 60)
    for first in range(0, 60, 20):
        place = int(rng.integers(0, 21)) if first else 20
        plain = Batch(rows(small[first : first + 20], sparse_rows), torch.from_numpy(y[first : first + 20]), task=0)
        x = np.insert(small[first : first + 20].astype(np.float32), place, large, axis=0)
        more = Batch(rows(x, sparse_rows), torch.from_numpy(np.insert(y[first : first + 20], place, 0)), task=0)
        offer(with_it, more, alive, np.random.default_rng([seed, first]))
        offer(without, plain, alive, np.random.default_rng([seed, first]))
        assert_same_state(with_it.store.state_dict(), without.store.state_dict())
    assert (with_it.skipped, without.skipped) == (3, 0)
    alone = Batch(rows(large, sparse_rows), torch.tensor([1]), task=0)
    before = with_it.store.state_dict()
    offer(with_it, alone, alive, rng)
    assert_same_state(with_it.store.state_dict(), before)
    assert selector is Nothing or len(with_it) > 10


def rows(x: np.ndarray, sparse_rows: bool) -> torch.Tensor | sparse.csr_array:
    values = x.astype(np.float32)
    return sparse.csr_array(values) if sparse_rows else torch.from_numpy(values)


@pytest.mark.parametrize("selector", CHOOSERS, ids=lambda c: c.__name__)
@given(seed=st.integers(0, 2**32 - 1), old=st.integers(2, 20), share=st.floats(0.0, 0.99))
@settings(max_examples=8)
def test_a_selector_sheds_samples_without_newcomers(selector: type, seed: int, old: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    x = torch.from_numpy(rng.normal(size=(old, 5)).astype(np.float32))
    store = SampleStore.empty(5, sparse=False).pack(x, rng.integers(0, CLASSES, old))
    sizes = rng.integers(1, 20, old)
    room = int(share * sizes.sum())
    extra = {"task": np.zeros(old, dtype=np.uint16)}
    pool = Pool(
        sizes,
        store.labels.astype(np.int64),
        np.ones(old, np.float32),
        old,
        Lookalikes(store, np.arange(len(store))),
        extra,
    )
    assert sizes[selector().select(pool, room, rng).keep].sum() <= room


#: These keep no sample, and offer theirs whole.
WITHOUT_SAMPLES = ("finetune", "randumb")


@pytest.mark.parametrize("method", [*WITHOUT_SAMPLES, "l2", "ewc", "ncc"])
def test_what_keeps_no_samples_takes_any_memory(method: str) -> None:
    learner = quick(method, small_spec(), 1)
    for batch in small_batches(2):
        learner.observe(batch)
    assert (len(learner.memory), learner.memory.store.nbytes) == (0, 0)
    assert_probabilities(learner)


@pytest.mark.parametrize("method", [name for name in BOUNDED if name not in WITHOUT_SAMPLES])
def test_no_method_loses_samples_to_a_row_too_large(method: str) -> None:
    rng = np.random.default_rng(0)
    learner = quick(method, InputSpec(2000, 2, sparse=True), 600, whole=False, precision="plain")
    x = sparse.csr_array((rng.random((12, 2000)) < 0.002).astype(np.float32))
    learner.observe(Batch(x, torch.arange(12) % 2, task=0))
    held = len(learner.memory)
    large = sparse.csr_array(rng.random((1, 2000)).astype(np.float32))
    observed = learner.observe(Batch(large, torch.tensor([1]), task=0))
    assert observed.kept.tolist() == list(range(held))
    assert len(observed.stored) == 0
    assert learner.memory.skipped == 1


@pytest.mark.parametrize("method", [name for name in BOUNDED if "whole" in METHODS[name].parameters])
def test_no_method_makes_a_sparse_batch_whole(method: str) -> None:
    """All of it would be 48 MB, in the dtype of the stream alone."""
    rng = np.random.default_rng(0)
    spec = InputSpec(40_000, 2, sparse=True)
    learner = quick(method, spec, 20 * 160_000, hidden=(2,), iterations=1, epochs=1, whole=True)
    places = np.repeat(np.arange(300), 10), rng.integers(0, 40_000, 3000)
    batch = Batch(sparse.csr_array((np.ones(3000, np.float32), places), shape=(300, 40_000)), torch.arange(300) % 2, 0)
    tracemalloc.start()
    learner.observe(batch)
    learner.observe(batch)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(learner.memory) <= 20
    assert peak < 40_000_000, f"{peak:,} bytes"
