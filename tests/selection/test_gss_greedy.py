"""GSS-Greedy against a naive rewrite: one backward pass per sample, plain loops, the same random draws."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from smartcl.data.spec import InputSpec
from smartcl.memory.pool import Pool, Selection
from smartcl.network.gradients import Trace, trace
from smartcl.network.mlp import MLP
from smartcl.selection.gss_greedy import GSSGreedy


class Samples:
    """Random samples, a network, and the geometry a selector asks for."""

    def __init__(self, n_memory: int, n_new: int, seed: int, opposed: bool) -> None:
        rng = np.random.default_rng(seed)
        self.network = MLP(InputSpec(n_features=6, n_classes=2), (5,), rng)
        self.x = torch.from_numpy(rng.normal(size=(n_memory + n_new, 6)).astype(np.float32) + 1.0)
        self.y = torch.from_numpy(rng.integers(0, 2, n_memory + n_new))
        if opposed:
            self.y[:n_memory], self.y[n_memory:] = 0, 1
        self.n_memory, self.n_new = n_memory, n_new
        self.scores = rng.uniform(-1, 1, n_memory + n_new).astype(np.float32)
        self._trace = cache(lambda index: trace(self.network, self.x[list(index)], self.y[list(index)]))

    def trace(self, index: np.ndarray) -> Trace:
        return self._trace(tuple(index))

    def features(self, index: np.ndarray, layer: str) -> torch.Tensor:
        raise NotImplementedError

    def pool(self, sizes: np.ndarray | None = None) -> Pool:
        sizes = np.full(len(self.x), 10) if sizes is None else sizes
        return Pool(sizes, self.y.numpy(), self.scores, self.n_memory, self)

    def gradient(self, index: np.ndarray) -> np.ndarray:
        """Of the mean loss of these samples."""
        loss = F.cross_entropy(self.network(self.x[list(index)]), self.y[list(index)])
        slopes = torch.autograd.grad(loss, list(self.network.parameters()))
        return torch.cat([slope.flatten() for slope in slopes]).double().numpy()


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))


def naive(
    samples: Samples, capacity: int, rng: np.random.Generator, batch_size: int, batches: int | None = None
) -> tuple[list[int], dict[int, float]]:
    """The description, step by step, for samples of one size: who stays, and everybody's score."""
    old, new = list(range(samples.n_memory)), list(range(samples.n_memory, samples.n_memory + samples.n_new))
    scores = {i: float(samples.scores[i]) for i in old}
    if not old:
        return new[:capacity], dict.fromkeys(new, 0.1)
    order = rng.permutation(len(old))
    drawn = [samples.gradient(order[start : start + batch_size]) for start in range(0, len(old), batch_size)][:batches]
    for i in new:
        scores[i] = max(cosine(samples.gradient(np.array([i])), g) for g in drawn)
    if len(old) < capacity:
        return old + new[: capacity - len(old)], scores
    if max(cosine(samples.gradient(np.array(new)), g) for g in drawn) >= 0:
        return old, scores
    held = np.array([scores[j] for j in old])
    chances = (held - held.min()) / (held.max() - held.min() + 0.01)
    count = min(len(new), sum(chance > 0 for chance in chances))
    if count == 0:
        return old, scores
    victims = rng.choice(len(old), count, replace=False, p=chances / chances.sum())
    kept = set(old)
    for j, i, u in zip(victims, new, rng.random(count), strict=False):
        if u < (scores[j] + 1) / ((scores[i] + 1) + (scores[j] + 1)):
            kept = kept - {int(j)} | {i}
    return sorted(kept), scores


def assert_same(chosen: Selection, expected: tuple[list[int], dict[int, float]]) -> None:
    kept, scores = expected
    assert chosen.keep.tolist() == kept
    np.testing.assert_allclose(chosen.scores, [scores[i] for i in kept], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    ("n_memory", "n_new", "capacity"),
    [(0, 5, 8), (0, 9, 8), (3, 4, 8), (6, 5, 8), (8, 5, 8), (13, 4, 13), (3, 9, 3)],
    ids=["first", "first too many", "room", "room for two", "full", "several batches", "more than memory"],
)
def test_it_follows_the_description(n_memory: int, n_new: int, capacity: int, seed: int) -> None:
    samples = Samples(n_memory, n_new, seed, opposed=seed % 5 > 0)
    selector = GSSGreedy(batch_size=5)
    chosen = selector.select(samples.pool(), 10 * capacity + 9, np.random.default_rng(seed))
    assert_same(chosen, naive(samples, capacity, np.random.default_rng(seed), batch_size=5))


def test_both_outcomes_of_a_full_memory_were_tried() -> None:
    """An opposed batch is exchanged, an agreeing one is not, in the comparison above."""
    for opposed in (False, True):
        samples = Samples(8, 5, seed=1, opposed=opposed)
        chosen = GSSGreedy().select(samples.pool(), 80, np.random.default_rng(1))
        assert (chosen.keep.tolist() != list(range(8))) == opposed


def test_only_so_many_batches_are_drawn() -> None:
    samples = Samples(12, 3, seed=3, opposed=True)
    chosen = GSSGreedy(batch_size=4, batches=2).select(samples.pool(), 200, np.random.default_rng(3))
    assert_same(chosen, naive(samples, 20, np.random.default_rng(3), batch_size=4, batches=2))


def test_exchange_probabilities() -> None:
    """One newcomer, many draws: victim j leaves with chance ``w_j/Σw · (s_j+1)/((s_i+1)+(s_j+1))``."""
    samples = Samples(4, 1, seed=2, opposed=True)
    pool, rng, draws = samples.pool(), np.random.default_rng(0), 2000
    leaves, scores = np.zeros(5), samples.scores.astype(np.float64)
    for _ in range(draws):
        chosen = GSSGreedy().select(pool, 40, rng)
        leaves[np.setdiff1d(np.arange(5), chosen.keep)] += 1
    newcomer = cosine(samples.gradient(np.array([4])), samples.gradient(np.arange(4)))
    held = scores[:4]
    weights = (held - held.min()) / (held.max() - held.min() + 0.01)
    expected = weights / weights.sum() * (held + 1) / (held + 1 + newcomer + 1)
    error = np.sqrt(expected * (1 - expected) / draws)
    assert np.all(np.abs(leaves[:4] / draws - expected) <= 4 * error)
    assert leaves[4] / draws == pytest.approx(1 - expected.sum(), abs=0.04)


def test_fewer_positive_weights_than_newcomers() -> None:
    samples = Samples(6, 4, seed=2, opposed=True)
    samples.scores[:6] = [0.5, -0.2, -0.2, -0.2, 0.4, -0.2]
    gone = set()
    for seed in range(30):
        keep = GSSGreedy().select(samples.pool(), 60, np.random.default_rng(seed)).keep
        assert len(keep) == 6
        gone |= set(range(6)) - set(keep.tolist())
    assert gone == {0, 4}


@pytest.mark.parametrize("n_memory", [1, 6])
def test_equal_scores_exchange_nobody(n_memory: int) -> None:
    samples = Samples(n_memory, 4, seed=2, opposed=True)
    samples.scores[:] = 0.1
    chosen = GSSGreedy().select(samples.pool(), 10 * n_memory, np.random.default_rng(0))
    assert chosen.keep.tolist() == list(range(n_memory))
    np.testing.assert_array_equal(chosen.scores, np.full(n_memory, np.float32(0.1)))


def test_a_memory_that_outgrew_its_room_loses_the_most_redundant() -> None:
    samples = Samples(5, 2, seed=0, opposed=False)
    samples.scores[:5] = [0.3, 0.9, -0.5, 0.8, 0.1]
    chosen = GSSGreedy().select(samples.pool(), 38, np.random.default_rng(0))
    assert chosen.keep.tolist() == [0, 2, 4]


def test_the_pool_is_left_alone() -> None:
    samples = Samples(6, 4, seed=2, opposed=True)
    before = samples.scores.copy()
    GSSGreedy().select(samples.pool(), 60, np.random.default_rng(0))
    np.testing.assert_array_equal(samples.scores, before)
