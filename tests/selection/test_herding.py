"""Herding against its definition, and as a policy over classes."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from smartcl.memory.pool import Pool
from smartcl.selection.herding import Herding, herd


def distances(features: np.ndarray, chosen: list[int]) -> dict[int, float]:
    """How far the mean of the chosen and one more would be from the mean of all, for each that may be next."""
    mean, rest = features.mean(axis=0), set(range(len(features))) - set(chosen)
    return {i: float(np.linalg.norm(mean - features[[*chosen, i]].mean(axis=0))) for i in rest}


@given(rows=st.integers(1, 25), width=st.integers(1, 6), count=st.integers(0, 30), seed=st.integers(0, 10**6))
def test_herding_is_what_the_paper_says(rows, width, count, seed):
    features = np.random.default_rng(seed).normal(size=(rows, width))
    order = herd(torch.from_numpy(features), count).tolist()
    assert len(order) == min(rows, count)
    for place, choice in enumerate(order):
        possible = distances(features, order[:place])
        assert possible[choice] < min(possible.values()) + 1e-9


def test_a_few_herded_samples_have_nearly_the_mean_of_all():
    features = torch.from_numpy(np.random.default_rng(0).normal(size=(300, 8)))
    mean, order = features.mean(dim=0), herd(features, 300)
    assert sorted(order.tolist()) == list(range(300))
    herded, drawn = (features[index].mean(dim=0) - mean for index in (order[:20], np.arange(20)))
    assert herded.norm() < 0.2 * drawn.norm()


class Given:
    """Features that a test names."""

    def __init__(self, features: torch.Tensor) -> None:
        self._features = features

    def trace(self, index):
        raise AssertionError("herding needs no gradients")

    def features(self, index, layer):
        assert layer == "penultimate"
        return self._features[torch.from_numpy(index)]


def pool_of(tasks: list[int], labels: list[int], scores: list[float], n_memory: int, sizes: list[int]) -> Pool:
    features = torch.from_numpy(np.random.default_rng(1).normal(size=(len(tasks), 5)))
    extra = {"task": np.array(tasks, dtype=np.uint16)}
    return Pool(np.array(sizes), np.array(labels), np.array(scores, np.float32), n_memory, Given(features), extra)


def test_old_classes_are_cut_by_their_order_and_new_ones_herded():
    tasks, labels = [0] * 6 + [1] * 6, [0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 1, 1]
    pool = pool_of(tasks, labels, [2, 0, 1, 0, 1, 2] + [0.0] * 6, n_memory=6, sizes=[10] * 12)
    chosen = Herding().select(pool, room=80, rng=np.random.default_rng(0))
    assert chosen.keep[:4].tolist() == [1, 2, 3, 4], "places 0 and 1 of each old class"
    assert chosen.scores[:4].tolist() == [0, 1, 0, 1]
    unit = F.normalize(pool.geometry.features(np.arange(6, 10), "penultimate"))
    best = 6 + int(np.argmin([distances(unit.numpy(), [])[i] for i in range(4)]))
    second = distances(unit.numpy(), [best - 6])
    places = dict(zip(chosen.keep.tolist(), chosen.scores.tolist(), strict=True))
    assert places[best] == 0
    assert places[6 + min(second, key=lambda i: second[i])] == 1
    assert chosen.keep[6:].tolist() == [10, 11]


@given(
    counts=st.lists(st.integers(1, 8), min_size=1, max_size=5),
    room=st.integers(15, 400),
    n_memory=st.integers(0, 8),
    seed=st.integers(0, 99),
)
def test_what_is_kept_fits_and_is_never_nothing(counts, room, n_memory, seed):
    rng = np.random.default_rng(seed)
    tasks = np.repeat(np.arange(len(counts)), counts).tolist()
    sizes = rng.integers(5, 15, len(tasks))
    pool = pool_of(tasks, [0] * len(tasks), list(range(len(tasks))), min(n_memory, len(tasks)), sizes.tolist())
    chosen = Herding().select(pool, room, rng)
    assert 0 < sizes[chosen.keep].sum() <= room
    assert (np.diff(chosen.keep) > 0).all()
    if sizes.sum() <= room:
        assert len(chosen.keep) == len(tasks)
