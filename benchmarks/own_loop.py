"""The loop of ``docs/howto/own_loop.md`` on Disjoint MNIST: a list of whole images and a memory of the same bytes."""

from __future__ import annotations

import time
from typing import Protocol

import numpy as np
import torch
from torch.nn import Linear, ReLU, Sequential
from torch.nn.functional import cross_entropy

from benchmarks.timing import report
from smartcl import ReplayMemory
from smartcl.paper.datasets.dataset_registry import load_stream

#: The bytes of 200 images of MNIST.
NBYTES = 200 * 784
SEEDS = (0, 1, 2)


class Memory(Protocol):
    def __len__(self) -> int: ...
    def add(self, x: torch.Tensor, y: torch.Tensor) -> None: ...
    def sample(self, count: int) -> tuple[torch.Tensor, torch.Tensor]: ...


class ListMemory:
    """A reservoir of whole images."""

    def __init__(self, size: int, seed: int) -> None:
        self.size, self.seen, self.rng = size, 0, np.random.default_rng(seed)
        self.samples: list[tuple[torch.Tensor, torch.Tensor]] = []

    def __len__(self) -> int:
        return len(self.samples)

    def add(self, x: torch.Tensor, y: torch.Tensor) -> None:
        for sample in zip(x, y, strict=True):
            self.seen += 1
            place = len(self) if len(self) < self.size else int(self.rng.integers(self.seen))
            if place < self.size:
                self.samples[place : place + 1] = [sample]

    def sample(self, count: int) -> tuple[torch.Tensor, torch.Tensor]:
        chosen = self.rng.choice(len(self), min(count, len(self)), replace=False)
        x, y = zip(*(self.samples[place] for place in chosen), strict=True)
        return torch.stack(x), torch.stack(y)


def learn(memory: Memory, seed: int, name: str = "disjoint-mnist") -> tuple[float, float]:
    """The mean accuracy of the tasks at the end, in percent, and the CPU seconds of learning."""
    stream, start = load_stream(name, seed=seed), time.process_time()
    torch.manual_seed(seed)
    net = Sequential(Linear(784, 400), ReLU(), Linear(400, 2))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    for batch in stream:
        assert isinstance(batch.x, torch.Tensor)
        for _ in range(10):
            x, y = batch.x, batch.y
            if len(memory):
                old_x, old_y = memory.sample(50)
                x, y = torch.cat([x, old_x]), torch.cat([y, old_y])
            loss = cross_entropy(net(x / 255), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        memory.add(batch.x, batch.y)
    seconds = time.process_time() - start
    with torch.no_grad():
        right = [(net(task.test.x / 255).argmax(1) == task.test.y).float().mean().item() for task in stream.tasks]
    return 100 * float(np.mean(right)), seconds


if __name__ == "__main__":
    torch.set_num_threads(1)
    results = []
    for seed in SEEDS:
        whole, exact, coarse = (
            ListMemory(200, seed),
            ReplayMemory(NBYTES, seed=seed),
            ReplayMemory(NBYTES, precision=4, seed=seed),
        )
        results.append([(*learn(memory, seed), len(memory)) for memory in (whole, exact, coarse)])
    (whole_score, whole_time, whole_held), (score, seconds, held), (coarse_score, _, coarse_held) = np.mean(
        results, axis=0
    )
    report(
        ("a list of whole images, 156,800 bytes: accuracy, mean of 3 seeds", whole_score, "-"),
        ("ReplayMemory of the same bytes, values exact: accuracy", score, "-"),
        ("points more", score - whole_score, ">= 6"),
        ("points more with 4 levels a value", coarse_score - whole_score, ">= 6"),
        ("samples held / whole images, values exact", held / whole_held, "-"),
        ("samples held / whole images, 4 levels a value", coarse_held / whole_held, "-"),
        ("CPU time of the loop / with the list, values exact", seconds / whole_time, "-"),
    )
