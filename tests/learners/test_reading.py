"""Stored samples read once for many steps are those that reading them step by step gives."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from smartcl.data.batch import Batch
from smartcl.data.spec import InputSpec
from smartcl.learners import reading
from smartcl.learners.methods import build_learner
from smartcl.learners.reading import read_once, row_cells
from smartcl.learners.weights import Labelled
from smartcl.network.inputs import SparseInput

FEATURES = 100
SMALL = {"hidden": (8,), "iterations": 3, "replay": 5}


def learned(sparse: bool):
    """A learner with some samples, a value in ten not zero."""
    rng = np.random.default_rng(0)
    spec = InputSpec(n_features=FEATURES, n_classes=2, sparse=sparse)
    learner = build_learner("er", spec, "2kB", whole=False, **SMALL)
    for _ in range(3):
        x = rng.normal(size=(20, FEATURES)).round(1) * (rng.random((20, FEATURES)) < 0.1)
        x, y = x.astype(np.float32), torch.from_numpy((x[:, 0] > 0).astype(np.int64))
        learner.observe(Batch(csr_array(x) if sparse else torch.from_numpy(x), y))
    return learner


def parts(rows) -> list[torch.Tensor]:
    return [rows.indices, rows.offsets, rows.values] if isinstance(rows, SparseInput) else [rows]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("cells", [1, 300, 2**22])
def test_reading_once_is_reading_step_by_step(sparse, cells, monkeypatch):
    monkeypatch.setattr(reading, "READ_CELLS", cells)
    learner, rng = learned(sparse), np.random.default_rng(1)
    draws = [rng.choice(len(learner.memory), 7) for _ in range(9)]
    for draw, (rows, y, _) in zip(draws, learner.read_steps(draws), strict=True):
        expected, labels, _ = learner.read_weighted(learner.memory.store, draw)
        assert torch.equal(y, labels)
        for mine, theirs in zip(parts(rows), parts(expected), strict=True):
            assert torch.equal(mine, theirs)


def test_no_more_is_read_at_a_time_than_allowed(monkeypatch):
    monkeypatch.setattr(reading, "READ_CELLS", 100)
    asked: list[int] = []

    def read(places):
        asked.append(len(places))
        return Labelled(torch.zeros(len(places), 10), torch.zeros(len(places), dtype=torch.int64))

    draws = [np.arange(first, first + 4) for first in range(0, 40, 4)]
    assert len(list(read_once(draws, read, width=10))) == 10
    assert max(asked) * 10 <= 100
    assert sum(asked) == 40


def test_of_an_empty_memory_every_step_gets_nothing():
    learner = build_learner("er", InputSpec(n_features=4, n_classes=2), "1kB", **SMALL)
    state = learner.rng.bit_generator.state
    assert list(learner.read_steps(learner.draw_steps())) == [None] * 3
    assert learner.rng.bit_generator.state == state


def test_a_sparse_row_counts_by_its_bytes_not_by_its_features():
    assert row_cells(learned(sparse=False).memory.store) == FEATURES
    assert 10 <= row_cells(learned(sparse=True).memory.store) < FEATURES
