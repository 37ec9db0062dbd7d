"""More input features, and more samples held: what they cost is linear, not quadratic."""

from __future__ import annotations

import numpy as np
import torch
from scipy import sparse

from benchmarks.timing import best_seconds, report
from smartcl import ReplayMemory
from smartcl.data.spec import InputSpec
from smartcl.memory import SampleStore
from smartcl.network.mlp import MLP
from smartcl.network.optim import Adam
from smartcl.regularizers.group_lasso import GroupLasso
from smartcl.regularizers.ncc import NCC


def work(n_features: int) -> object:
    """One consolidation, one proximal step, and one store-and-read of 50 rows with 5% non-zeros."""
    rng = np.random.default_rng(0)
    network = MLP(InputSpec(n_features, 2), (64,), rng)
    optimizer, lasso, ncc = Adam(network, 1e-4), GroupLasso(0.1), NCC(1.0)
    rows = sparse.csr_array(sparse.random(50, n_features, 0.05, format="csr", rng=rng, dtype=np.float32))
    labels, nothing = torch.zeros(50, dtype=torch.long), torch.zeros(0)
    store = SampleStore.empty(n_features, sparse=True)

    def once() -> None:
        ncc.consolidate(network, nothing, labels)
        lasso.after_step(network, optimizer)
        store.pack(rows, labels).gather(np.arange(50))

    return once


def one_more(megabytes: int) -> object:
    """A hundred rows of twenty numbers offered to a memory that is full, about 11,000 of them in a megabyte."""
    rng = np.random.default_rng(0)
    memory = ReplayMemory(f"{megabytes}MB")

    def add(rows: int) -> None:
        memory.add(torch.from_numpy(rng.standard_normal((rows, 20), dtype=np.float32)), torch.zeros(rows).long())

    for _ in range(2 * megabytes):
        add(10_000)
    return lambda: add(100)


if __name__ == "__main__":
    torch.set_num_threads(1)
    small, large = best_seconds([work(10_000), work(100_000)], calls=1, rounds=15)
    few, many = best_seconds([one_more(3), one_more(30)], calls=3, rounds=15)
    report(
        ("NCC + prox + store: 100,000 features / 10,000", large / small, "<= 13"),
        ("a hundred rows into a full memory: 333,000 samples / 33,000", many / few, "<= 13"),
        ("a hundred rows into a full memory of 33,000 samples: CPU ms", 1e3 * few, "-"),
    )
