"""The line between class means, against the densities it stands for."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

from smartcl import build_learner
from smartcl.data.batch import Batch
from smartcl.data.spec import InputSpec
from smartcl.learners.adaptive import Adaptive
from smartcl.learners.class_means import DRAWN_BY, LEAST_VARIANCE, between_means
from smartcl.network.inputs import NarrowInput, Prepared, SparseInput


def as_narrow(x: torch.Tensor) -> Prepared:
    return NarrowInput(x[:, [0, 2, 3]], torch.tensor([0, 2, 3]))


def as_sparse(x: torch.Tensor) -> Prepared:
    held = csr_array(x.numpy())
    indices, starts = (torch.from_numpy(part.astype(np.int64)) for part in (held.indices, held.indptr[:-1]))
    return SparseInput(indices, starts, torch.from_numpy(held.data), x.shape[1])


@pytest.mark.parametrize("form", [torch.Tensor.clone, as_narrow, as_sparse])
def test_the_line_between_means_is_bayes_rule_of_gaussian_classes(form: Callable[[torch.Tensor], Prepared]) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=90)
    x = rng.normal(size=(90, 5)) * [1.0, 0.0, 3.0, 0.5, 0.0] + y[:, None] * [1.0, 0.0, 0.0, -0.5, 0.0]
    x, rate = x.astype(np.float32), np.array([0.7, 0.2, 0.1])
    log_rate = torch.from_numpy(np.log(rate)).float()
    weight, bias = between_means(form(torch.from_numpy(x)), torch.from_numpy(y), log_rate, 5)
    found = torch.softmax(torch.from_numpy(x) @ weight + bias, dim=1).numpy()

    overall = x.mean(axis=0)
    means = np.stack([(x[y == c].sum(axis=0) + DRAWN_BY * overall) / ((y == c).sum() + DRAWN_BY) for c in range(3)])
    variance = ((x - means[y]) ** 2).mean(axis=0)
    spread = np.sqrt(np.maximum(variance, LEAST_VARIANCE * variance.max()))
    likely = rate * np.stack([norm.pdf(x, mean, spread).prod(axis=1) for mean in means], axis=1)
    assert np.allclose(found, likely / likely.sum(axis=1, keepdims=True), atol=1e-5)


def test_a_class_without_samples_and_columns_that_never_vary_harm_nobody() -> None:
    x, y = torch.ones(6, 3), torch.tensor([0, 0, 0, 1, 1, 1])
    weight, bias = between_means(x, y, torch.tensor([-0.7, -0.7, -20.0]), 3)
    assert not weight.any()
    assert torch.equal(bias, torch.tensor([-0.7, -0.7, -20.0]))


def test_the_means_rank_rare_events_after_ten_of_them() -> None:
    rng = np.random.default_rng(1)
    made = build_learner("adaptive", InputSpec(8, 2, learned=True), "1MB", seed=0, hidden=(64, 64))
    assert isinstance(made, Adaptive)
    y = (np.arange(5000) % 500 == 250).astype(np.int64)
    x = rng.normal(size=(5000, 8)).astype(np.float32)
    x[:, :3] += 1.5 * y[:, None]
    for start in range(0, 5000, 50):
        made.observe(Batch(torch.from_numpy(x[start : start + 50]), torch.from_numpy(y[start : start + 50])))
    asked = rng.integers(2, size=400)
    rows = torch.from_numpy((rng.normal(size=(400, 8)) + 1.5 * asked[:, None] * (np.arange(8) < 3)).astype(np.float32))
    with torch.no_grad():
        logits = made.means.predictor(made.prepared(rows))
    assert roc_auc_score(asked, (logits[:, 1] - logits[:, 0]).numpy()) > 0.9
    assert made.shares[0] == 0.0  # a sceptic takes an event for a wrong label
    assert made.shares[list(made.names).index("means")] > 0.1


def test_of_very_wide_sparse_rows_there_are_no_means() -> None:
    made = build_learner("adaptive", InputSpec(3_000_000, 2, sparse=True), "10kB", seed=0)
    assert isinstance(made, Adaptive)
    assert made.names == ("guarded", "plain", "line", "scout")
    assert len(made.idle) == len(made.names) == len(made.shares)
