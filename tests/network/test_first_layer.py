"""The sparse product and its slope, against the dense ones."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import sparse

from smartcl.data.spec import InputSpec
from smartcl.network.first_layer import embedding_sum
from smartcl.network.inputs import prepare


@pytest.mark.parametrize("density", [0.0, 0.2, 1.0])
def test_product_and_gradient_are_the_dense_ones(density):
    rng = np.random.default_rng(0)
    table = sparse.random_array((9, 14), density=density, format="csr", rng=rng, dtype=np.float32)
    rows = prepare(sparse.csr_array(table), InputSpec(14, 2, sparse=True))
    dense = torch.from_numpy(table.toarray())
    mine = torch.from_numpy(rng.normal(size=(14, 5)).astype(np.float32))
    theirs = mine.clone()
    slope = torch.from_numpy(rng.normal(size=(9, 5)).astype(np.float32))
    for weight in (mine, theirs):
        weight.requires_grad_()
    product = embedding_sum(mine, rows.indices, rows)
    torch.testing.assert_close(product, dense @ theirs, rtol=1e-5, atol=1e-6)
    (product * slope).sum().backward()
    ((dense @ theirs) * slope).sum().backward()
    torch.testing.assert_close(mine.grad, theirs.grad, rtol=1e-5, atol=1e-6)


def test_rows_that_share_a_feature_add_up_in_its_gradient():
    rows = prepare(sparse.csr_array(np.array([[0, 2.0], [0, 3.0]], dtype=np.float32)), InputSpec(2, 2, sparse=True))
    weight = torch.ones(2, 1, requires_grad=True)
    embedding_sum(weight, rows.indices, rows).sum().backward()
    assert weight.grad.tolist() == [[0.0], [5.0]]
