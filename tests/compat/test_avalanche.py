"""Avalanche's own strategies with our storage policy and our plugin, on digits a pair at a time."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

pytest.importorskip("avalanche")

from avalanche.benchmarks import nc_benchmark
from avalanche.benchmarks.utils import _make_taskaware_tensor_classification_dataset as tensor_dataset
from avalanche.evaluation.metrics import accuracy_metrics
from avalanche.training.plugins import EvaluationPlugin, ReplayPlugin
from avalanche.training.supervised import Naive
from sklearn.datasets import load_digits

from smartcl.compat.avalanche import ByteReplay, ByteStorage
from smartcl.selection.reservoir import Reservoir


def benchmark(task_labels: bool = False) -> object:
    x, y = load_digits(return_X_y=True)
    x, y = torch.from_numpy(x / 16).float().reshape(-1, 1, 8, 8), torch.from_numpy(y)
    halves = [tensor_dataset(x[half], y[half]) for half in (slice(0, 1200), slice(1200, None))]
    return nc_benchmark(*halves, n_experiences=5, task_labels=task_labels, seed=0, fixed_class_order=list(range(10)))


def learned(*plugins: object, epochs: int = 2, task_labels: bool = False) -> float:
    """The accuracy on all classes after the five experiences."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Flatten(), nn.Linear(64, 100), nn.ReLU(), nn.Linear(100, 10))
    strategy = Naive(
        model=net,
        optimizer=torch.optim.Adam(net.parameters(), 3e-3),
        criterion=nn.CrossEntropyLoss(),
        train_mb_size=16,
        train_epochs=epochs,
        plugins=list(plugins),
        evaluator=EvaluationPlugin(accuracy_metrics(stream=True), loggers=[]),
    )
    stream = benchmark(task_labels)
    for experience in stream.train_stream:
        strategy.train(experience)
    return next(iter(strategy.eval(stream.test_stream).values()))


def test_a_storage_policy_for_the_replay_plugin() -> None:
    storage = ByteStorage(100, "6400 B")
    accuracy = learned(ReplayPlugin(100, storage_policy=storage))
    assert accuracy > learned() + 0.3
    assert storage.memory.nbytes <= 6400
    assert len(storage.buffer) > 120
    counts = np.bincount(storage.memory.column("task").numpy())
    assert len(counts) == 5
    assert np.ptp(counts) <= 4
    x, y, task = storage.buffer[0]
    assert (x.shape, type(y), task) == ((1, 8, 8), int, 0)


def test_task_labels_are_kept_and_other_policies_are_offered_everything() -> None:
    storage = ByteStorage(30, selector=Reservoir())
    learned(ReplayPlugin(30, storage_policy=storage, task_balanced_dataloader=True), task_labels=True, epochs=1)
    assert storage.buffer.targets_task_labels.uniques == set(range(5))
    held = storage.memory._now.held
    assert held is not None
    assert held.memory.offered == 1200
    assert storage.memory.nbytes <= 30 * 64 * 4


def test_a_transform_for_what_is_replayed() -> None:
    storage = ByteStorage(30, transform=lambda x: x + 100)
    storage.post_adapt(None, benchmark().train_stream[0])
    assert float(storage.buffer[0][0].min()) >= 100
    with pytest.raises(NotImplementedError, match="keeps its size"):
        storage.resize(None, 10)


def test_a_plugin_that_replays_without_experiences() -> None:
    plugin = ByteReplay("1920 B", batch_size_mem=32)
    accuracy = learned(plugin)
    assert accuracy > learned() + 0.3
    assert plugin.memory.nbytes <= 1920
    held = plugin.memory._now.held
    assert held is not None
    assert held.memory.offered == 1200
