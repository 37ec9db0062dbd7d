"""Rows at the precision of the memory: what a stored sample reads as, a row that was not stored reads as too."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import sparse

from smartcl.data.batch import Batch
from smartcl.data.spec import InputSpec
from smartcl.memory.export import as_held, stored_rows
from smartcl.memory.schematic_memory import SchematicMemory
from smartcl.selection.reservoir import Reservoir


def filled(x, precision, is_sparse=False, budget="2kB"):
    """A memory with these rows, in the order given; all of them fit in code."""
    spec = InputSpec(n_features=x.shape[1], n_classes=2, sparse=is_sparse, dtype="float32")
    memory = SchematicMemory(spec, budget, Reservoir(), whole=False, patience=3, precision=precision)
    rows = sparse.csr_array(x) if is_sparse else torch.from_numpy(x)
    batch = Batch(rows, torch.zeros(len(x), dtype=torch.long))
    candidates = memory.candidates(batch, np.ones(x.shape[1], dtype=bool), {})
    memory.select(candidates, None, np.random.default_rng(0))
    assert len(memory.store) == len(x)
    return memory.store


def positive(rows=80, columns=20):
    rng = np.random.default_rng(0)
    return (rng.exponential(size=(rows, columns)) * (rng.random((rows, columns)) < 0.5)).astype(np.float32)


@pytest.mark.parametrize("is_sparse", [False, True])
def test_a_row_reads_as_its_stored_sample_does(is_sparse):
    x = positive()
    store = filled(x, 4, is_sparse)
    assert store.code is not None
    rows = sparse.csr_array(x) if is_sparse else torch.from_numpy(x)
    held, stored = as_held(store, rows), stored_rows(store, np.arange(len(store)))
    if is_sparse:
        held, stored = held.toarray(), stored.toarray()
    np.testing.assert_array_equal(np.asarray(held), np.asarray(stored))
    assert len(np.unique(np.asarray(held))) <= 4


def test_what_is_held_stays_what_it_is():
    x = positive()
    store = filled(x, 4)
    once = as_held(store, torch.from_numpy(x))
    torch.testing.assert_close(as_held(store, once), once, rtol=0, atol=0)


@pytest.mark.parametrize("precision", ["plain", "exact"])
def test_exact_memories_change_no_row(precision):
    x = torch.from_numpy(positive())
    store = filled(x.numpy(), precision, budget="20kB")
    assert as_held(store, x) is x
