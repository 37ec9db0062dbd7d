"""The reference lines on a tiny stream, against what they mean written out by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import sparse
from scipy.optimize import minimize

from smartcl.data.batch import Batch
from smartcl.data.spec import InputSpec
from smartcl.events.counts import UNKNOWN, count_table
from smartcl.paper.datasets.corruption import NoiseModel
from smartcl.paper.datasets.panel import Panel, panel_stream
from smartcl.paper.datasets.protocols import PanelProtocol
from smartcl.paper.datasets.task_stream import Task, TaskStream
from smartcl.paper.scores.reference_lines import base_rate, logistic_regression, majority

SCALE, OFFSET = 0.5, 1.0


def tiny_stream(sparse_rows: bool, offset: float = 0.0) -> TaskStream:
    """Two places: the first with few events, the second with more events than not, so that all places have fewer."""
    rng = np.random.default_rng(0)
    tasks = []
    for counts, truth in (((90, 10), [0, 0, 0, 1]), ((20, 40), [1, 1, 0, 1, 1])):
        train, test = (rng.poisson(0.8, (n, 5)).astype(np.float32) for n in (20, len(truth)))
        y = torch.from_numpy((train[:, 0] + rng.normal(size=20) > 1).astype(np.int64))
        rows = sparse.csr_array if sparse_rows else torch.from_numpy
        tasks.append(Task(Batch(rows(train), y), Batch(rows(test), torch.tensor(truth)), y, y, counts))
    return TaskStream("tiny", InputSpec(5, 2, sparse=sparse_rows, offset=offset, scale=SCALE), tuple(tasks), 10, 0)


def test_the_majority_is_that_of_all_places_before_balancing():
    first, second = majority(tiny_stream(sparse_rows=True))  # 110 days without an event, 50 with one
    assert (first.accuracy, second.accuracy) == (75.0, 20.0)
    assert (first.balanced_accuracy, first.auc) == (second.balanced_accuracy, second.auc) == (50.0, 0.5)


def test_the_base_rate_is_each_places_own():
    first, second = base_rate(tiny_stream(sparse_rows=True))  # shares of events: 10 / 100 and 40 / 60
    assert (first.accuracy, second.accuracy) == (75.0, 80.0)
    assert (first.auc, second.auc) == (0.5, 0.5)


def test_without_balancing_the_training_labels_count():
    stream = tiny_stream(sparse_rows=False)
    one = Task(Batch(torch.zeros(3, 5), torch.tensor([1, 1, 0])), stream.tasks[0].test, torch.zeros(3), torch.zeros(3))
    plain = TaskStream("plain", stream.spec, (one,), 10, 0)
    assert majority(plain)[0].accuracy == base_rate(plain)[0].accuracy == 25.0


@pytest.mark.parametrize(("sparse_rows", "offset"), [(True, 0.0), (False, OFFSET)])
def test_logistic_regression_is_the_minimum_of_its_loss(sparse_rows, offset):
    stream = tiny_stream(sparse_rows, offset)

    def seen(batch: Batch) -> np.ndarray:
        values = batch.x.toarray() if sparse_rows else batch.x.numpy()
        return (values.astype(np.float64) - offset) * SCALE

    x = np.concatenate([seen(task.train) for task in stream.tasks])
    sign = 2 * np.concatenate([task.train.y.numpy() for task in stream.tasks]) - 1

    def loss(parameters: np.ndarray) -> float:
        weights, bias = parameters[:-1], parameters[-1]
        return float(np.log1p(np.exp(-sign * (x @ weights + bias))).sum() + weights @ weights / 2)

    best = minimize(loss, np.zeros(6), method="BFGS", options={"gtol": 1e-6}).x
    for scores, task in zip(logistic_regression(stream), stream.tasks, strict=True):
        logits, truth = seen(task.test) @ best[:-1] + best[-1], task.test.y.numpy()
        assert scores.accuracy == pytest.approx(100 * np.mean((logits > 0) == truth))
        pairs = [(p > n) + (p == n) / 2 for p in logits[truth == 1] for n in logits[truth == 0]]
        assert scores.auc == pytest.approx(np.mean(pairs))


def test_logistic_regression_sees_the_corrupted_labels():
    stream = tiny_stream(sparse_rows=True)
    flipped = tuple(
        Task(Batch(task.train.x, 1 - task.train.y), task.test, task.true_y, task.origin) for task in stream.tasks
    )
    other = TaskStream("flipped", stream.spec, flipped, 10, 0)
    for one, contrary in zip(logistic_regression(stream), logistic_regression(other), strict=True):
        assert one.auc == pytest.approx(1 - contrary.auc)


@pytest.mark.parametrize("noise", ["none", "flip:0.5"])
def test_a_panel_remembers_its_days_before_balancing(noise):
    rng = np.random.default_rng(1)
    labels = rng.choice([0, 1, UNKNOWN], size=(3, 80), p=[0.6, 0.2, 0.2])
    panel = Panel(tuple(count_table(rng.poisson(1.0, (80, 4))) for _ in labels), labels, ("a", "b", "c"))
    stream = panel_stream("toy", panel, PanelProtocol(0.5, 1, 1, samples=30), 0, NoiseModel.parse(noise))
    expected = [(row[:40].tolist().count(0), row[:40].tolist().count(1)) for row in labels]
    assert [task.class_counts for task in stream.tasks] == expected
