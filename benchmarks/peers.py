"""Rows per second and accuracy of replay and stream learners on one stream, Disjoint MNIST, in the bytes of 300 images.

``make bench-peers`` runs it in the environment that has Avalanche and River; whoever is not there is left out with one
line. Everyone learns in a process of its own, in turns; time is CPU time of learning alone. Avalanche is told where the
tasks end and goes through each several times, as is usual there; all others see every batch of 50 once.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torch import nn

from benchmarks.timing import report
from smartcl.extend import build_learner
from smartcl.paper.datasets.dataset_registry import load_stream
from smartcl.paper.datasets.task_stream import TaskStream
from smartcl.paper.peers.models import river_arf, sklearn_mlp

SEED, IMAGES, WIDTH, BATCH = 40, 300, 400, 50
#: Adam's usual one: no other was tried for Avalanche.
AVALANCHE_LR = 1e-3

#: What learns the stream in stages that are timed together, and the probabilities it gives rows afterwards.
Contender = tuple[Callable[[], None], Callable[[torch.Tensor], np.ndarray[Any, Any]]]


def smartcl_method(stream: TaskStream, method: str) -> Contender:
    learner = build_learner(method, stream.spec, f"{IMAGES} samples", SEED)

    def learn() -> None:
        for batch in stream:
            learner.observe(batch)

    return learn, lambda x: learner.predict_proba(x).numpy()


def avalanche(stream: TaskStream, strategy: str, passes: int) -> Contender:
    """A strategy of Avalanche's on the same network, with fused Adam, the tasks as its experiences."""
    from avalanche.benchmarks import tensors_benchmark
    from avalanche.training import supervised
    from avalanche.training.plugins import EvaluationPlugin

    torch.manual_seed(SEED)
    layers = [nn.Linear(784, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 2)]
    network = nn.Sequential(*layers)
    adam = torch.optim.Adam(network.parameters(), lr=AVALANCHE_LR, fused=True)
    tasks = [stream.task_batch(number) for number in range(len(stream.tasks))]
    data = [(batch.x.float() / 255, batch.y) for batch in tasks if isinstance(batch.x, torch.Tensor)]
    experiences = tensors_benchmark(data, data[:1], task_labels=[0] * len(data), complete_test_set_only=True)
    more = {"input_size": [784]} if strategy == "GSS_greedy" else {}
    learner = getattr(supervised, strategy)(
        model=network,
        optimizer=adam,
        criterion=nn.CrossEntropyLoss(),
        mem_size=IMAGES,
        train_mb_size=BATCH,
        train_epochs=passes,
        evaluator=EvaluationPlugin(),
        **more,
    )

    def learn() -> None:
        for experience in experiences.train_stream:
            learner.train(experience, num_workers=0)

    @torch.no_grad()
    def predict(x: torch.Tensor) -> np.ndarray[Any, Any]:
        return network.eval()(x.float() / 255).softmax(dim=1).numpy()

    return learn, predict


def row_learner(stream: TaskStream, build: Callable[[int, int, int], Any]) -> Contender:
    """A learner without a memory, which sees raw values."""
    learner = build(784, 2, SEED)

    def learn() -> None:
        for batch in stream:
            learner.learn(np.asarray(batch.x, dtype=np.float32), batch.y.numpy())

    return learn, lambda x: learner.scores(np.asarray(x, dtype=np.float32))


CONTENDERS: dict[str, Callable[[TaskStream], Contender]] = {
    "smart-quick": lambda stream: smartcl_method(stream, "smart-quick"),
    "Avalanche Replay, 10 passes": lambda stream: avalanche(stream, "Replay", 10),
    "Avalanche Replay, 2 passes": lambda stream: avalanche(stream, "Replay", 2),
    "scikit-learn MLP": lambda stream: row_learner(stream, sklearn_mlp),
    "smart": lambda stream: smartcl_method(stream, "smart"),
    "adaptive": lambda stream: smartcl_method(stream, "adaptive"),
    "Avalanche GSS, 10 passes": lambda stream: avalanche(stream, "GSS_greedy", 10),
    "River ARF": lambda stream: row_learner(stream, river_arf),
}
#: Those who are fast enough to be heard more than once; the best turn counts.
TURNS = {"smart-quick": 3, "Avalanche Replay, 10 passes": 3, "Avalanche Replay, 2 passes": 3}


def take_part(name: str) -> tuple[float, float]:
    """Rows per CPU second, and accuracy after the last task, the mean over tasks."""
    torch.set_num_threads(1)
    stream = load_stream("disjoint-mnist", SEED)
    learn, predict = CONTENDERS[name](stream)
    start = time.process_time()
    learn()
    seconds = time.process_time() - start
    right = [float((predict(task.test.x).argmax(axis=1) == task.test.y.numpy()).mean()) for task in stream.tasks]
    return sum(len(task.train) for task in stream.tasks) / seconds, 100 * float(np.mean(right))


def turns() -> Iterator[str]:
    """Names in the order in which they are heard."""
    for turn in range(max(TURNS.values())):
        yield from (name for name in CONTENDERS if turn < TURNS.get(name, 1))


def all_contenders() -> dict[str, tuple[float, float]]:
    """The best turn of each that is here."""
    found: dict[str, tuple[float, float]] = {}
    for name in turns():
        command = [sys.executable, "-W", "ignore", "-m", "benchmarks.peers", name]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"{name}: left out, {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
            continue
        speed, accuracy = json.loads(done.stdout.splitlines()[-1])
        print(f"{name}: {speed:.0f} rows/s, {accuracy:.1f}%", file=sys.stderr, flush=True)
        found[name] = (max(speed, found.get(name, (0.0, 0.0))[0]), accuracy)
    return found


if __name__ == "__main__":
    if sys.argv[1:]:
        print(json.dumps(take_part(sys.argv[1])))
        sys.exit()
    print("Mammoth: left out, its buffers are in no package of the registry", file=sys.stderr)
    found = all_contenders()
    lines = []
    for name, (speed, accuracy) in found.items():
        lines += [(f"{name}: rows a second", speed, "-"), (f"{name}: accuracy", accuracy, "-")]
    usual, quick = found.get("Avalanche Replay, 10 passes"), found["smart-quick"]
    if usual is not None:
        lines.append(("smart-quick / Avalanche Replay, 10 passes, in rows a second", quick[0] / usual[0], ">= 5"))
        lines.append(("smart-quick less Avalanche Replay, 10 passes, in accuracy", quick[1] - usual[1], ">= 0"))
    report(*lines)
