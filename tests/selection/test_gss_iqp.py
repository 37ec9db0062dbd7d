"""GSS-IQP against brute force on small instances, and its bound against every choice there is."""

from __future__ import annotations

import sys
from itertools import combinations

import numpy as np
import pytest
from sample_pools import SamplePool

from smartcl.errors import UnavailableError
from smartcl.selection.gss_iqp import GSSIQP, fit, least_alike, relaxation, swap_descent

ALL_SIXES = np.array(list(combinations(range(12), 6)))


def cosines_of(vectors: np.ndarray) -> np.ndarray:
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit @ unit.T


def gradient_like(seed: int) -> np.ndarray:
    """Cosines of vectors that share a few directions, with both signs: the classes pull against one another."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=(12, 3)) @ rng.normal(size=(3, 50))
    return cosines_of(shared + 0.3 * rng.normal(size=(12, 50)))


def brute_force(cosines: np.ndarray) -> np.ndarray:
    """``½ xᵀGx`` of every choice of 6 out of 12."""
    choices = np.zeros((len(ALL_SIXES), len(cosines)))
    choices[np.arange(len(ALL_SIXES))[:, None], ALL_SIXES] = 1
    return ((choices @ cosines) * choices).sum(axis=1) / 2


def test_brute_force_finds_nothing_better() -> None:
    """At least 95 of 100 optima, and no answer off by more than 1% of what choices differ by."""
    found = 0
    for seed in range(100):
        cosines = gradient_like(seed)
        values = brute_force(cosines)
        choice = least_alike(cosines, 6, np.random.default_rng(seed))
        taken = np.zeros(12)
        taken[choice.chosen] = 1
        assert choice.objective == pytest.approx(taken @ cosines @ taken / 2)
        assert len(choice.chosen) == 6
        off = choice.objective - values.min()
        found += off < 1e-9
        assert off <= 0.01 * np.ptp(values)
        assert choice.lower_bound <= values.min() + 1e-9
        assert choice.gap >= -1e-9
    assert found >= 95


@pytest.mark.parametrize("seed", range(10))
def test_the_bound_holds_for_any_symmetric_matrix(seed: int) -> None:
    """Rounding can make a matrix of cosines indefinite; this one is so by far."""
    rng = np.random.default_rng(seed)
    matrix = rng.uniform(-1, 1, (12, 12))
    matrix = (matrix + matrix.T) / 2
    relaxed, bound = relaxation(matrix, 6)
    assert bound <= brute_force(matrix).min() + 1e-9
    assert relaxed.sum() == pytest.approx(6, abs=1e-4)


def test_the_relaxation_is_solved() -> None:
    """No feasible direction lowers the objective: moving from any positive to any free entry gains nothing."""
    cosines = gradient_like(0)
    relaxed, bound = relaxation(cosines, 6)
    convex = cosines - np.linalg.eigvalsh(cosines)[0] * np.eye(12)
    slope = convex @ relaxed
    assert slope[relaxed > 1e-4].max() <= slope[relaxed < 1 - 1e-4].min() + 1e-4
    value = relaxed @ convex @ relaxed / 2 + np.linalg.eigvalsh(cosines)[0] * 6 / 2
    assert bound == pytest.approx(value, abs=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_no_single_exchange_helps_after_the_descent(seed: int) -> None:
    cosines = gradient_like(seed)
    order = swap_descent(cosines, np.random.default_rng(seed).permutation(12), 6)
    assert sorted(order) == list(range(12))
    value = cosines[np.ix_(order[:6], order[:6])].sum()
    for i in range(6):
        for j in range(6, 12):
            other = np.append(np.delete(order[:6], i), order[j])
            assert cosines[np.ix_(other, other)].sum() >= value - 1e-8


def test_it_keeps_everything_that_fits() -> None:
    samples = SamplePool(9, n_memory=4)
    assert GSSIQP().select(samples.pool(), 90, np.random.default_rng(0)).keep.tolist() == list(range(9))


@pytest.mark.parametrize("seed", range(5))
def test_it_chooses_by_the_cosines_of_gradients(seed: int) -> None:
    samples = SamplePool(12, n_memory=8, seed=seed)
    keep = GSSIQP().select(samples.pool(), 69, np.random.default_rng(seed)).keep
    cosines = samples.cosines()
    assert cosines[np.ix_(keep, keep)].sum() / 2 == pytest.approx(brute_force(cosines).min(), abs=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_samples_of_different_sizes_fill_the_room(seed: int) -> None:
    rng = np.random.default_rng(seed)
    samples = SamplePool(14, n_memory=9, seed=seed)
    sizes = rng.integers(5, 60, 14)
    for room in (3, 40, int(sizes.sum()) // 2, int(sizes.sum()) - 1):
        keep = GSSIQP().select(samples.pool(sizes), room, rng).keep
        assert np.all(np.diff(keep) > 0)
        left = room - sizes[keep].sum()
        assert left >= 0
        assert (np.delete(sizes, keep) > left).all()


def test_fitting_drops_the_most_alike_and_fills_with_the_least() -> None:
    cosines = cosines_of(np.array([[1.0, 0.0], [1.0, 0.1], [-1.0, 0.2], [0.0, 1.0]]))
    assert fit(np.array([0, 1, 2]), cosines, np.full(4, 10), room=20).tolist() == [0, 2]
    assert fit(np.array([0, 1]), cosines, np.full(4, 10), room=30).tolist() == [0, 1, 2]


def test_without_its_solver_it_names_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "piqp", None)
    with pytest.raises(UnavailableError, match=r"piqp is not installed: pip install 'smartcl\[paper\]'"):
        relaxation(np.eye(3), count=2)
