"""What is said to move a model's answers does, and nothing else is said to."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import sparse

from smartcl.estimator import SmartClassifier
from smartcl.learners.influence import influences, moved_answers, with_next_value

FEATURES, TELLS, SAME = 12, 3, 7


def labelled(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Rows of which one feature tells the class, one is always the same, and one has a thousand times the size."""
    x = rng.normal(size=(50, FEATURES)) * (rng.random((50, FEATURES)) < 0.7)
    y = x[:, TELLS] > 0.2
    x[:, SAME] = 40.0
    x[:, 0] *= 1000
    return x.astype(np.float32), y


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("method", ["adaptive", "smart"])
def test_the_feature_that_tells_is_found_and_a_constant_moves_nothing(kind: str, method: str) -> None:
    rng = np.random.default_rng(0)
    model = SmartClassifier(memory="20kB", method=method, random_state=0)
    for _ in range(12):
        x, y = labelled(rng)
        model.partial_fit(sparse.csr_array(x) if kind == "sparse" else x, y)
    found = influences(model.learner_, np.random.default_rng(1))
    assert set(found) == set(range(FEATURES))
    assert max(found, key=found.__getitem__) == TELLS
    assert found[TELLS] > 3 * sorted(found.values())[-2]
    assert found[SAME] == 0.0


def test_a_model_that_remembers_nothing_says_nothing() -> None:
    model = SmartClassifier(memory="20kB", random_state=0).partial_fit([[1.0, 2.0]], [1], classes=[0, 1])
    assert influences(model.learner_, np.random.default_rng(0)) == {}


def test_dense_and_sparse_rows_change_alike() -> None:
    rng = np.random.default_rng(2)
    x = (rng.normal(size=(9, 5)) * (rng.random((9, 5)) < 0.5)).astype(np.float32)
    for feature in range(5):
        dense, packed = with_next_value(torch.from_numpy(x), feature), with_next_value(sparse.csr_array(x), feature)
        expected = x.copy()
        expected[:, feature] = np.roll(x[:, feature], -1)
        np.testing.assert_array_equal(dense.numpy(), expected)
        np.testing.assert_array_equal(packed.toarray(), expected)


def test_the_distance_is_that_of_distributions_the_slow_way() -> None:
    rng = np.random.default_rng(3)
    x, weights = torch.from_numpy(rng.normal(size=(6, 3))), torch.from_numpy(rng.normal(size=(3, 4)))

    def answers(rows: torch.Tensor) -> torch.Tensor:
        return (rows @ weights).softmax(dim=1)

    moved = moved_answers(answers, x, np.array([2, 0]))
    for feature, mine in zip([2, 0], moved, strict=True):
        total = 0.0
        for row in range(6):
            other = x[row].clone()
            other[feature] = x[(row + 1) % 6, feature]
            p, q = answers(x[row : row + 1])[0], answers(other[None])[0]
            total += sum(max(0.0, float(a - b)) for a, b in zip(p, q, strict=True))
        assert mine == pytest.approx(total / 6)
