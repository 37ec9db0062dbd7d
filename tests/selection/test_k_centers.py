"""K-centres against the description as a plain loop: every pass made, one sample and one distance at a time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_pools import SamplePool

from smartcl.memory.pool import Pool
from smartcl.selection.k_centers import Distances, FSSClust, GSSClust, KCenters, squared_distances, thin_out


def naive_pass(distances: Distances, order: list[int], spacing: float) -> list[int]:
    kept: list[int] = []
    for i in order:
        if all(distances[i, j] > spacing for j in kept):
            kept.append(i)
    return kept


def naive_select(distances: Distances, pool: Pool, room: int, growth: float, rng: np.random.Generator) -> list[int]:
    """Newcomers are compared with all that is stored; over budget, the spacing grows a pass at a time."""

    def smallest(of: list[int]) -> float:
        return min((distances[i, j] for i in of for j in of if i != j), default=0.0)

    def fits(of: list[int]) -> bool:
        return sum(int(pool.sizes[i]) for i in of) <= room

    kept = list(range(pool.n_memory))
    spacing = smallest(kept)
    for i in range(pool.n_memory, len(pool)):
        if pool.sizes[i] <= room and all(distances[i, j] > spacing for j in kept):
            kept.append(i)
    if fits(kept):
        return kept
    left = naive_pass(distances, list(rng.permutation(kept)), spacing=0.0)
    spacing = smallest(left)
    while not fits(left) and len(left) > 1:
        spacing *= growth
        left = naive_pass(distances, left, spacing)
    return sorted(left) if fits(left) else []


class Given(KCenters):
    """Distances said beforehand."""

    def __init__(self, distances: Distances, growth: float) -> None:
        super().__init__(growth)
        self._distances = distances

    def distances(self, pool: Pool) -> Distances:
        return self._distances


def pool_of(sizes: np.ndarray, n_memory: int) -> Pool:
    n = len(sizes)
    return Pool(sizes, np.zeros(n, int), np.zeros(n, np.float32), n_memory, SamplePool(n, n_memory))


@pytest.mark.parametrize("growth", [1.01, 2.0])
@pytest.mark.parametrize("seed", range(15))
def test_it_is_the_plain_loop(seed: int, growth: float) -> None:
    """With copies, near-copies that take over a thousand passes of one percent, and samples of different sizes."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(24, 2))
    points[5] = points[17]
    points[6] = points[18] + 1e-5
    distances = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    sizes = rng.integers(8, 13, 24)
    n_memory = int(rng.integers(0, 16))
    for share in (0.2, 0.6, 0.9, 1.0):
        room = int(share * sizes.sum())
        pool = pool_of(sizes, n_memory)
        ours = Given(distances, growth).select(pool, room, np.random.default_rng(seed)).keep
        assert ours.tolist() == naive_select(distances, pool, room, growth, np.random.default_rng(seed))


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(0, 6), min_size=1, max_size=12),
    st.integers(0, 130),
    st.sampled_from([1.01, 1.5, 2.0]),
    st.integers(0, 12),
)
def test_it_ends_within_the_room(places: list[int], room: int, growth: float, n_memory: int) -> None:
    """Samples in few places, so that many are equal; nothing is left out that copies or the spacing do not explain."""
    x = np.array(places, dtype=float)
    distances = abs(x[:, None] - x[None, :])
    pool = pool_of(np.full(len(x), 10), min(n_memory, len(x)))
    keep = Given(distances, growth).select(pool, room, np.random.default_rng(0)).keep
    assert 10 * len(keep) <= room
    assert np.all(np.diff(keep) > 0)
    if room >= 10:
        assert len(keep)
    if pool.sizes.sum() > room:
        distinct = len(set(x[keep]))
        assert distinct == len(keep) or 10 * pool.n_memory <= room


def test_all_alike_leave_one() -> None:
    assert thin_out(np.zeros((5, 5)), np.full(5, 10), room=30, growth=1.01).tolist() == [0]


def test_one_that_cannot_fit_is_not_kept() -> None:
    assert thin_out(np.zeros((2, 2)), np.full(2, 10), room=5, growth=1.01).tolist() == []


def test_gradient_distances() -> None:
    samples = SamplePool(12, n_memory=6)
    distances = GSSClust().distances(samples.pool())
    np.testing.assert_allclose(distances, 1 - samples.cosines(), atol=2e-6)
    assert not distances.diagonal().any()


def test_identical_gradients_end() -> None:
    samples = SamplePool(9, n_memory=4)
    samples.x[:], samples.y[:] = samples.x[0].clone(), 1
    assert len(GSSClust().select(samples.pool(), 30, np.random.default_rng(0)).keep) >= 1


@pytest.mark.parametrize("layer", ["penultimate", "logits"])
def test_feature_distances(layer: str) -> None:
    samples = SamplePool(8, n_memory=3)
    distances = FSSClust(layer=layer).distances(samples.pool())
    features = samples.features(np.arange(8), layer).double().numpy()
    assert features.shape == (8, 5 if layer == "penultimate" else 2)
    for i in range(8):
        for j in range(8):
            assert distances[i, j] == pytest.approx(((features[i] - features[j]) ** 2).sum(), abs=1e-12)


def test_equal_features_are_at_distance_zero() -> None:
    samples = SamplePool(4, n_memory=0)
    samples.x[2] = samples.x[0]
    assert squared_distances(samples.features(np.arange(4), "penultimate"))[0, 2] == 0.0


@pytest.mark.parametrize("selector", [GSSClust(), FSSClust(), FSSClust(layer="logits")])
@pytest.mark.parametrize("seed", range(5))
def test_both_follow_the_loop_on_a_network(selector: KCenters, seed: int) -> None:
    samples = SamplePool(30, n_memory=18, seed=seed)
    pool = samples.pool()
    ours = selector.select(pool, 185, np.random.default_rng(seed)).keep
    expected = naive_select(selector.distances(pool), pool, 185, selector.growth, np.random.default_rng(seed))
    assert ours.tolist() == expected


@pytest.mark.parametrize("memory_first", [True, False])
def test_with_the_memory_first_the_older_of_two_alike_stays(memory_first: bool) -> None:
    old = np.array([0.0, 0.1, *(10.0 * k for k in range(1, 21))])
    places = np.concatenate([old, old[2:] + 1])
    selector = Given(abs(places[:, None] - places[None, :]), 2.0)
    selector.memory_first = memory_first
    pool = pool_of(np.full(len(places), 10), len(old))
    left = [selector.select(pool, 210, np.random.default_rng(seed)).keep for seed in range(20)]
    newcomers = np.mean([(keep >= len(old)).sum() for keep in left])
    assert (newcomers < 1.01) == memory_first, newcomers


def test_arguments_are_checked() -> None:
    with pytest.raises(ValueError, match=r"growth must be above 1, got 1\.0"):
        GSSClust(growth=1.0)
    with pytest.raises(ValueError, match="layer must be one of penultimate, logits, got 'first'"):
        FSSClust(layer="first")  # type: ignore[arg-type]
