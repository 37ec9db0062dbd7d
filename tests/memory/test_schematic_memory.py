"""The memory inside a learner: masks are priced, rows too large passed over, and little is needed beside the budget."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from typing import Any

import numpy as np
import pytest
import torch
from scipy import sparse

from helpers import assert_same_state
from smartcl.data.batch import Batch
from smartcl.data.spec import InputSpec
from smartcl.learners.methods import build_learner
from smartcl.memory.pool import Selector
from smartcl.memory.schematic_memory import Observation, SchematicMemory
from smartcl.saving.saved import StateError
from smartcl.selection.fair_shares import Balanced
from smartcl.selection.reservoir import Everything, Nothing, Reservoir


def memory_of(
    n_features: int,
    nbytes: int,
    sparse_rows: bool = False,
    whole: bool = False,
    patience: int = 1,
    selector: Selector | None = None,
) -> SchematicMemory:
    spec = InputSpec(n_features, 2, sparse=sparse_rows)
    return SchematicMemory(spec, nbytes, selector or Reservoir(), whole, patience)


def rows_with(counts: Sequence[int], n_features: int, sparse_rows: bool = False, seed: int = 0) -> Batch:
    """Rows of so many ones each, anywhere."""
    rng = np.random.default_rng(seed)
    columns = np.concatenate([rng.choice(n_features, count, replace=False) for count in counts])
    places = np.repeat(np.arange(len(counts)), counts), columns
    x = sparse.csr_array((np.ones(len(columns), np.float32), places), shape=(len(counts), n_features))
    y = torch.from_numpy(rng.integers(0, 2, len(counts)))
    return Batch(x if sparse_rows else torch.from_numpy(x.toarray()), y)


def offer(memory: SchematicMemory, batch: Batch, alive: np.ndarray | None = None, seed: int = 0) -> Observation:
    everything = np.ones(batch.n_features, dtype=np.bool_)
    candidates = memory.candidates(batch, everything if alive is None else alive, extra={})
    return memory.select(candidates, geometry=None, rng=np.random.default_rng(seed))


def no_extra(batch: Batch) -> dict[str, np.ndarray]:
    """Nothing is stored beside the samples."""
    return {}


def some_alive(n_features: int, share: float, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random(n_features) < share


# --- what a mask costs -------------------------------------------------------


@pytest.mark.parametrize(("n_features", "nbytes", "sparse_rows"), [(8000, 900, False), (50_000, 4000, True)])
def test_a_mask_larger_than_the_memory_is_never_made(n_features: int, nbytes: int, sparse_rows: bool) -> None:
    memory = memory_of(n_features, nbytes, sparse_rows)
    for seed in range(6):
        offer(memory, rows_with([5] * 100, n_features, sparse_rows, seed), some_alive(n_features, 0.02, seed))
        assert memory.store.nbytes <= nbytes
    assert memory.store.schema.is_full
    assert len(memory) > 30


def test_a_learner_whose_features_all_but_die_keeps_its_budget() -> None:
    learner = build_learner("smart", InputSpec(8000, 2), 900, hidden=(8,), iterations=3, alpha=0.1)
    for seed in range(6):
        batch = rows_with([3] * 20, 400, seed=seed)
        assert isinstance(batch.x, torch.Tensor)
        learner.observe(Batch(torch.nn.functional.pad(batch.x, (0, 7600)), batch.y))
        assert learner.memory.store.nbytes <= 900
    assert int(learner.model.network.alive().sum()) < 4000, "the penalty must have killed features"
    assert len(learner.memory) > 50


@pytest.mark.parametrize("sparse_rows", [False, True])
@pytest.mark.parametrize("n_features", [60, 500, 2000, 30_000])
@pytest.mark.parametrize("share", [0.02, 0.5, 0.97])
@pytest.mark.parametrize("values", [3, 50])
def test_forgetting_never_costs_samples(sparse_rows: bool, n_features: int, share: float, values: int) -> None:
    strict, none = (memory_of(n_features, 2000, sparse_rows) for _ in range(2))
    alive = some_alive(n_features, share)
    for seed in range(5):
        batch = rows_with([values] * 200, n_features, sparse_rows, seed)
        offer(strict, batch, alive)
        offer(none, batch)
    assert none.store.schema.is_full
    assert len(strict) >= len(none)


def test_forgetting_goes_on_where_it_pays() -> None:
    memory = memory_of(784, 20_000)
    for seed in range(3):
        offer(memory, rows_with([150] * 200, 784, seed=seed), some_alive(784, 0.4))
    assert memory.store.features.tolist() == np.flatnonzero(some_alive(784, 0.4)).tolist()


def test_one_row_too_large_does_not_decide_what_is_forgotten() -> None:
    alive = np.arange(4000) < 2000
    small = [rows_with([4] * 200, 2000, sparse_rows=True, seed=seed) for seed in range(3)]
    memory = memory_of(4000, 400, sparse_rows=True)
    for batch in small:
        x = sparse.csr_array(sparse.block_array([[batch.x, None], [None, sparse.csr_array(np.ones((1, 2000)))]]))
        y = torch.cat([batch.y, torch.zeros(1, dtype=torch.int64)])
        offer(memory, Batch(x, y), alive)
    assert memory.store.schema.is_full, "the small rows gain nothing by a mask"


def test_features_that_return_leave_the_samples_most_of_the_room() -> None:
    """Each return of features to a dense store is a version with a mask of its own."""
    memory = memory_of(800, 3000)
    for step in range(40):
        offer(memory, rows_with([80] * 30, 800, seed=step), np.arange(800) % 8 <= (step * 3) % 8)
        assert memory.store.nbytes <= 3000
        assert memory.store.overhead <= 3000 / 4 + 100
    assert len(memory) > 15


def test_where_masks_are_too_dear_all_features_return() -> None:
    memory = memory_of(800, 390)
    few = np.arange(800) < 8
    for seed in range(3):
        offer(memory, rows_with([100] * 10, 800, seed=seed), few)
    assert memory.store.features.tolist() == list(range(8)), "forgetting paid"
    offer(memory, rows_with([5], 800), np.arange(800) < 400)
    assert memory.store.schema.is_full


def test_a_probe_decides_without_drawing_at_random() -> None:
    generators = [np.random.default_rng(3) for _ in range(2)]
    for alive, rng in zip((some_alive(784, 0.4), np.ones(784, dtype=bool)), generators, strict=True):
        memory = memory_of(784, 20_000)
        for seed in range(3):
            batch = rows_with([150] * 100, 784, seed=seed)
            memory.select(memory.candidates(batch, alive, {}), None, rng)
    assert generators[0].random() == generators[1].random()


# --- rows too large ----------------------------------------------------------


def test_a_row_larger_than_the_memory_is_skipped_and_counted() -> None:
    memory = memory_of(5000, 500, sparse_rows=True)
    offer(memory, rows_with([4] * 25, 5000, True))
    before = memory.store
    for seed in range(20):
        observed = offer(memory, rows_with([3000], 5000, True, seed), seed=seed)
        assert len(observed.kept) == len(before)
        assert len(observed.stored) == 0
    assert_same_state(memory.store.state_dict(), before.state_dict())
    assert memory.skipped == 20
    assert repr(memory).endswith("5,000 of 5,000 features kept, 20 rows too large")


def test_the_others_of_its_batch_are_stored() -> None:
    memory = memory_of(5000, 500, sparse_rows=True)
    assert offer(memory, rows_with([4, 3000, 4, 2000, 4], 5000, True)).stored.tolist() == [0, 2, 4]
    assert memory.skipped == 2


def test_a_first_batch_that_cannot_fit_at_all_is_refused_with_the_smallest_size() -> None:
    memory = memory_of(5000, 100, sparse_rows=True)
    with pytest.raises(ValueError, match="it is 100 bytes, and the smallest sample of this batch takes 210"):
        memory.check_room(rows_with([300] * 200 + [200] + [300] * 5, 5000, True), no_extra)
    memory.check_room(rows_with([300] * 200 + [5], 5000, True), no_extra)


@pytest.mark.parametrize("selector", [Reservoir(), Balanced(), Nothing()], ids=lambda selector: type(selector).__name__)
def test_later_batches_need_not_fit(selector: Selector) -> None:
    memory = memory_of(5000, 200, sparse_rows=True, selector=selector)
    first, large = rows_with([4] * 3, 5000, True), rows_with([3000] * 3, 5000, True)
    for batch in (first, large, large):
        memory.check_room(batch, no_extra)
        offer(memory, batch)
    assert memory.skipped == 6


def test_what_is_counted_survives_saving_and_copies_count_apart() -> None:
    memory = memory_of(5000, 500, sparse_rows=True)
    offer(memory, rows_with([4, 3000], 5000, True))
    before = copy(memory)
    offer(memory, rows_with([4, 3000], 5000, True))
    again = memory_of(5000, 500, sparse_rows=True)
    again.load_state_dict(memory.state_dict())
    assert (again.skipped, again.offered) == (memory.skipped, memory.offered) == (2, 4)
    assert (before.skipped, before.offered) == (1, 2)


def test_a_selection_that_does_not_fit_changes_nothing() -> None:
    memory = memory_of(20, 200, selector=Everything())
    offer(memory, rows_with([4] * 5, 20))
    before = memory.state_dict()
    with pytest.raises(RuntimeError, match=r"Everything kept \d+ of 200 bytes"):
        memory.select(memory.candidates(rows_with([4] * 90, 20), np.ones(20, bool), {}), None, np.random.default_rng(0))
    assert_same_state(memory.store.state_dict(), before["store"])


# --- memory beside the budget ------------------------------------------------


@contextmanager
def peak_below(nbytes: int) -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < nbytes, f"{peak:,} bytes"


def test_whole_rows_of_a_sparse_batch_are_never_whole_at_once() -> None:
    """All of a batch would be 160 MB; the memory is one."""
    memory = memory_of(20_000, 1_000_000, sparse_rows=True, whole=True)
    batches = [rows_with([20] * 2000, 20_000, True, seed) for seed in range(3)]
    with peak_below(30_000_000):
        for batch in batches:
            memory.check_room(batch, no_extra)
            offer(memory, batch)
    assert len(memory) == 1_000_000 // (20_000 * 4 + 1 + 4)
    with peak_below(70_000_000):
        got = memory.store.gather(np.tile(np.arange(12), 40)).x
    assert not isinstance(got, torch.Tensor)
    assert got.nnz == 12 * 40 * 20


def test_what_arrived_sparse_reads_the_same_before_and_after_it_is_kept() -> None:
    memory = memory_of(50, 40 * 206, sparse_rows=True, whole=True)
    offer(memory, rows_with([7] * 20, 50, True))
    batch = rows_with([3, 0, 9, 50], 50, True, seed=1)
    candidates = memory.candidates(batch, np.ones(50, dtype=bool), {})
    index = np.array([23, 0, 20, 5, 22, 22, 21])
    before, after = candidates.gather(index).x, candidates.take(index).gather(np.arange(7)).x
    assert (before != after).nnz == 0
    np.testing.assert_array_equal(before.toarray()[[2, 6, 4, 0]], batch.x.toarray())


@pytest.mark.parametrize("sparse_rows", [False, True])
def test_positional_rows_are_read_in_pieces(sparse_rows: bool) -> None:
    memory = memory_of(40_000, 20_000_000, sparse_rows)
    offer(memory, rows_with([8000] * 200, 40_000, sparse_rows))
    rows = memory.store.rows
    with peak_below(200 * 8000 * (8 + 4) * 3 + 60_000_000):
        rows.nonzeros(np.arange(200), memory.store.schema)


# --- a saved memory ----------------------------------------------------------


def damaged(state: dict[str, Any], path: str, value: object) -> dict[str, Any]:
    """A copy of the state with another value at the path."""
    first, _, rest = path.partition(".")
    return {**state, first: damaged(state[first], rest, value) if rest else value}


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("skipped", -1, "memory.skipped must be from 0 to 0, is -1"),
        ("skipped", 41, "memory.skipped must be from 0 to 0"),
        ("offered", 3, "memory.offered must be at least 40"),
        ("offered", True, "memory.offered must be a whole number"),
        ("watch", None, "memory.watch must be there for schematic rows"),
        ("watch.dead_for", np.zeros(4, dtype=np.uint8), r"memory.watch.dead_for has the shape \(4,\), must be \(30,\)"),
        ("watch.dead_for", np.zeros(30), "memory.watch.dead_for holds float64"),
        ("store.sparse", True, "memory.store.sparse must be False, as this memory's, is True"),
        ("store.labels", np.full(40, 2, dtype=np.uint8), "memory.store.labels must be below the number of classes, 2"),
        ("store.extra", {}, "memory.store.extra.score is missing"),
        ("store.extra.score", np.full(40, np.nan, np.float32), "memory.store.extra.score must be numbers"),
        ("store.extra.score", np.full(40, -np.inf, np.float32), "memory.store.extra.score must be finite"),
        ("store.extra.score", np.zeros(40), "memory.store.extra.score holds float64"),
        ("store.extra.score", np.zeros((40, 1), np.float32), r"memory.store.extra.score has the shape \(40, 1\)"),
        ("store.extra.task", np.zeros(40, np.uint16), r"memory.store.extra must hold \{\}.*'task': 'uint16'"),
        ("store", None, "memory.store must be a dict"),
    ],
)
def test_a_damaged_memory_is_refused_and_changes_nothing(path: str, value: object, message: str) -> None:
    memory = memory_of(30, 2000)
    offer(memory, rows_with([5] * 40, 30))
    before = memory.state_dict()
    with pytest.raises(StateError, match=message):
        memory.load_state_dict(damaged(before, path, value), n_classes=2, extra_dtypes={})
    assert_same_state(memory.state_dict(), before)
    memory.load_state_dict(before, n_classes=2, extra_dtypes={})


def test_a_memory_of_another_kind_is_refused() -> None:
    memory = memory_of(30, 2000)
    offer(memory, rows_with([5] * 40, 30))
    state = memory.state_dict()
    others = {
        "n_features must be 31": memory_of(31, 2000),
        "whole_dtype must be 'float32'": memory_of(30, 9000, whole=True),
        "must fit 100 bytes": memory_of(30, 100),
        "keeps no score": memory_of(30, 2000, selector=Nothing()),
    }
    for message, other in others.items():
        with pytest.raises(StateError, match=message):
            other.load_state_dict(state)
