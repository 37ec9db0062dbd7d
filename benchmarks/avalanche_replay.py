"""Avalanche's Replay as it is, and with our storage policy at equal bytes: Split MNIST, ten classes two at a time.

Runs in the environment of ``make compat``: ``make compat-bench``.
"""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from avalanche.benchmarks.classic import SplitMNIST
from avalanche.evaluation.metrics import accuracy_metrics
from avalanche.training.plugins import EvaluationPlugin, ReplayPlugin
from avalanche.training.supervised import Naive, Replay
from torch import nn

from benchmarks.timing import report
from smartcl.compat.avalanche import ByteStorage
from smartcl.paper.datasets.downloads import cache_folder
from smartcl.paper.datasets.mnist import FILES, load_mnist

IMAGES = 200
NBYTES = IMAGES * 784
MINIBATCH = 100
SEEDS = (0,)


def split_mnist(seed: int, folder: Path) -> Any:
    """Avalanche's own benchmark, which finds MNIST's files where torchvision would have put them."""
    load_mnist()
    raw = folder / "MNIST" / "raw"
    raw.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        if not (raw / name).exists():
            (raw / name).symlink_to((cache_folder() / "mnist" / name).resolve())
    return SplitMNIST(5, seed=seed, fixed_class_order=list(range(10)), dataset_root=folder)


def learned(ours: bool, seed: int, folder: Path) -> tuple[float, float, int]:
    """The accuracy on all classes at the end, in percent; CPU milliseconds a step, storing included; samples held."""
    torch.manual_seed(seed)
    net = nn.Sequential(nn.Flatten(), nn.Linear(784, 400), nn.ReLU(), nn.Linear(400, 10))
    common = {
        "model": net,
        "optimizer": torch.optim.Adam(net.parameters(), 1e-3),
        "criterion": nn.CrossEntropyLoss(),
        "train_mb_size": MINIBATCH,
        "eval_mb_size": 1000,
        "evaluator": EvaluationPlugin(accuracy_metrics(stream=True), loggers=[]),
    }
    storage = ByteStorage(IMAGES, NBYTES, seed=seed)
    plugin = ReplayPlugin(IMAGES, storage_policy=storage)
    strategy = Naive(**common, plugins=[plugin]) if ours else Replay(**common, mem_size=IMAGES)
    stream, seconds = split_mnist(seed, folder), 0.0
    steps = sum(-(-len(experience.dataset) // MINIBATCH) for experience in stream.train_stream)
    for experience in stream.train_stream:
        start = time.process_time()
        strategy.train(experience)
        seconds += time.process_time() - start
    accuracy = next(iter(strategy.eval(stream.test_stream).values()))
    if ours:
        assert storage.memory.nbytes <= NBYTES
    return 100 * accuracy, 1000 * seconds / steps, len(storage.memory) if ours else IMAGES


if __name__ == "__main__":
    torch.set_num_threads(1)
    with TemporaryDirectory() as scratch:
        both = [[learned(ours, seed, Path(scratch)) for ours in (False, True)] for seed in SEEDS]
    (theirs, their_time, whole), (ours, our_time, held) = np.mean(both, axis=0)
    report(
        (f"Avalanche's Replay, {IMAGES} images: accuracy, {len(SEEDS)} seed", theirs, "-"),
        (f"the same with our storage policy, {NBYTES:,} bytes: accuracy", ours, "-"),
        ("points more", ours - theirs, "> 0"),
        ("CPU time of a step, ours / Avalanche's, storing included", our_time / their_time, "<= 1"),
        ("samples held / whole images", held / whole, "-"),
    )
