"""Dropout of the three kinds of rows: the share, the mean, and the generator."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import sparse

from smartcl.data.spec import InputSpec
from smartcl.network.dropout import drop_inputs
from smartcl.network.inputs import NarrowInput, SparseInput, prepare


@pytest.mark.parametrize("rate", [0.1, 0.3, 0.5, 0.9])
def test_share_and_mean(rate):
    rows = torch.ones(400, 250)
    dropped = drop_inputs(rows, rate, np.random.default_rng(0))
    n = rows.numel()
    assert abs(float((dropped == 0).double().mean()) - rate) < 1 / 256 + 4 * np.sqrt(rate * (1 - rate) / n)
    assert float(dropped.mean()) == pytest.approx(1.0, abs=0.03)
    assert len(dropped.unique()) == 2
    assert torch.equal(rows, torch.ones(400, 250))


def test_no_dropout_draws_nothing():
    rng = np.random.default_rng(0)
    rows = torch.ones(2, 2)
    assert drop_inputs(rows, 0.0, rng) is rows
    assert rng.bit_generator.state == np.random.default_rng(0).bit_generator.state


def test_narrow_rows_keep_their_features():
    rows = NarrowInput(torch.ones(3, 2), torch.tensor([4, 9]))
    dropped = drop_inputs(rows, 0.5, np.random.default_rng(1))
    assert isinstance(dropped, NarrowInput)
    assert torch.equal(dropped.features, rows.features)
    assert set(dropped.values.unique().tolist()) <= {0.0, 2.0}


def test_a_sparse_row_loses_entries_and_keeps_its_place():
    rng = np.random.default_rng(2)
    table = sparse.random_array((40, 30), density=0.3, format="csr", rng=rng, dtype=np.float32)
    table = sparse.csr_array(sparse.vstack([table, sparse.csr_array((3, 30), dtype=np.float32)]))
    rows = prepare(table, InputSpec(30, 2, sparse=True))
    dropped = drop_inputs(rows, 0.25, np.random.default_rng(3))
    assert isinstance(dropped, SparseInput)
    before, after = table.toarray(), dropped.to_scipy().toarray()
    assert after.shape == before.shape
    stays = after != 0
    np.testing.assert_allclose(after[stays], before[stays] * (256 / 192), rtol=1e-6)
    share = 1 - stays.sum() / (before != 0).sum()
    assert 0.15 < share < 0.35
