"""At what precision a memory holds its samples: the one asked for, or as few levels as make no difference."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits

from helpers import assert_same_state
from smartcl import SmartClassifier
from smartcl.data.batch import Batch
from smartcl.data.spec import InputSpec
from smartcl.learners.ensemble.ensemble import Ensemble
from smartcl.memory import SampleStore
from smartcl.memory.grading import LADDER, choose_levels, error
from smartcl.memory.schematic_memory import SchematicMemory
from smartcl.saving.saved import StateError
from smartcl.selection.reservoir import Reservoir

X, Y = load_digits(return_X_y=True)
X = X.astype(np.float32)


def filled(precision: str | int, nbytes: int = 6000, x: np.ndarray = X, judge: object = None) -> SchematicMemory:
    memory = SchematicMemory(
        InputSpec(x.shape[1], 10), nbytes, Reservoir(), whole=False, patience=3, precision=precision
    )
    rng, alive = np.random.default_rng(0), np.ones(x.shape[1], dtype=bool)
    for first in range(0, 1000, 50):
        batch = Batch(torch.from_numpy(x[first : first + 50]), torch.from_numpy(Y[first : first + 50]))
        memory.select(memory.candidates(batch, alive, {}, judge), None, rng)
        assert memory.store.nbytes <= nbytes
    return memory


def test_fewer_levels_hold_more_samples() -> None:
    held = {precision: len(filled(precision)) for precision in ("plain", "exact", 8, 4, 2)}
    assert list(held.values()) == sorted(held.values())
    assert held["exact"] > 1.4 * held["plain"]
    assert held[2] > 3 * held["plain"]


def test_exact_is_exact() -> None:
    stored = filled("exact").store.gather(np.arange(100)).x.numpy()
    assert all((row == X[:1000]).all(axis=1).any() for row in stored)


def test_dense_floats_take_a_fraction_of_their_bytes() -> None:
    x = np.random.default_rng(0).normal(size=(1000, 64)).astype(np.float32)
    coarse, exact = filled(16, 20_000, x), filled("exact", 20_000, x)
    assert len(coarse) > 5 * len(exact)
    assert coarse.store.code is not None
    assert exact.store.code is None  # too many values to be levels: formats of their own


@pytest.mark.parametrize(
    ("precision", "said"), [("exact", "values exact"), (4, "4 levels a value"), (2, "2 levels a value")]
)
def test_a_memory_says_its_precision(precision: str | int, said: str) -> None:
    assert repr(filled(precision)).endswith(said)
    assert "level" not in repr(filled("plain"))


def test_auto_takes_the_first_levels_that_cannot_be_told_apart() -> None:
    x = np.random.default_rng(0).normal(size=(400, 5)).astype(np.float32)
    store = SampleStore.empty(5, sparse=False).pack(torch.from_numpy(x), np.zeros(400, dtype=int))

    def judge(samples: SampleStore, coarse: SampleStore) -> float:
        index = np.arange(len(samples))
        return float((samples.gather(index).x - coarse.gather(index).x).abs().mean()) / 0.1

    found = choose_levels(store, store, "auto", 1000, 400, judge)
    assert found is not None
    assert len(found) + 1 in LADDER
    assert judge(store, store.rounded(found)) <= 2
    coarser = choose_levels(store, store, LADDER[LADDER.index(len(found) + 1) - 1], 1000)
    assert coarser is not None
    assert judge(store, store.rounded(coarser)) > 1
    # Where each sample held speaks for many, more may change.
    pressed = choose_levels(store, store, "auto", 200, 10_000, judge)
    assert pressed is not None
    assert len(pressed) < len(found)
    # Where all samples fit all the same, nothing is let go of that need not be.
    roomy = choose_levels(store, store, "auto", 3000, 400, judge)
    assert roomy is not None
    assert len(roomy) > len(found)
    assert choose_levels(store, store, "auto", 10_000, 400, lambda *_: np.inf) is None
    assert choose_levels(store, store, "auto", 10_000) is None


def test_finer_levels_keep_those_that_values_are_held_at() -> None:
    """Rounded once to three values, half of them would be rounded again to the nearest of five others."""
    x = np.random.default_rng(0).normal(size=(2000, 5)).astype(np.float32)
    store = SampleStore.empty(5, sparse=False).pack(torch.from_numpy(x), np.zeros(2000, dtype=int))
    coarse = choose_levels(store, store, 4, 10_000)
    assert coarse is not None
    held = store.rounded(coarse)
    fine = choose_levels(held, store, 8, 10_000, held=coarse)
    assert fine is not None
    assert len(fine) == 7
    assert error(held, fine) == 0
    assert error(store, fine) < error(store, coarse) / 2


def test_what_is_held_coarsely_is_never_called_exact() -> None:
    x = np.random.default_rng(0).integers(1, 5, (50, 5)).astype(np.float32)
    store = SampleStore.empty(5, sparse=False).pack(torch.from_numpy(x), np.zeros(50, dtype=int))
    coarse = choose_levels(store, store, 3, 10_000)
    assert coarse is not None
    found = choose_levels(store.rounded(coarse), store, "auto", 10_000, 50, lambda *_: np.inf, coarse)
    assert found is not None
    assert not found.exact


def test_without_a_judge_auto_is_exact() -> None:
    assert_same_state(filled("auto").store.state_dict(), filled("exact").store.state_dict())


def test_levels_follow_the_stream() -> None:
    """What comes later is ten times as large: the levels learned first would lose most of it."""
    x = X[:1000] * np.where(np.arange(1000) < 300, 1, 10)[:, None].astype(np.float32)
    store = filled(4, x=x).store
    assert store.code is not None
    assert store.code.levels.values.max() > 100


def test_a_saved_memory_of_another_precision_is_refused() -> None:
    state = filled(4).state_dict()
    for precision in ("exact", "plain", 3):
        other = SchematicMemory(InputSpec(64, 10), 6000, Reservoir(), whole=False, patience=3, precision=precision)
        with pytest.raises(StateError, match=r"rows\.code must be of the precision"):
            other.load_state_dict(state)


@pytest.mark.parametrize("precision", ["exact", 3, "auto"])
def test_learning_on_is_as_if_never_stopped(precision: str | int, tmp_path: Path) -> None:
    model = SmartClassifier("4kB", precision=precision, hidden=(16,), iterations=2, random_state=0)
    model.partial_fit(X[:800], Y[:800])
    assert model.memory_.store.code is not None
    model.save(tmp_path / "model")
    others = [SmartClassifier.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))]
    for each in (model, *others):
        each.partial_fit(X[800:1200], Y[800:1200])
    for other in others:
        assert_same_state(other.learner_.state_dict(), model.learner_.state_dict())
        assert repr(other.memory_) == repr(model.memory_)


def test_coarse_values_are_told_apart_by_how_much_a_batch_moves_the_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Within a batch, others still see the answers of before. The sums' answers count as well as the pool's."""
    asked: list[tuple[list[float], list[float]]] = []
    told_apart = Ensemble.told_apart

    def checked(self: Ensemble, samples: SampleStore, coarse: SampleStore) -> float:
        x, said, wanted = samples.gather(np.arange(len(samples))).x, [], []
        for count in (2, 4, 16):
            levels = choose_levels(samples, samples, count, 10_000)
            assert levels is not None
            rounded = samples.rounded(levels)
            now = self.classify()
            said.append(told_apart(self, samples, rounded))
            coarse_x = rounded.gather(np.arange(len(samples))).x
            changed = float((now(coarse_x) - now(x)).abs().sum())
            sums = [np.exp(self.whole_past(self.parts, self.view(rows))) for rows in (x, coarse_x)]
            moved = float((self.predict_proba(x) - now(x)).abs().sum())
            wanted.append(max(changed, float(np.abs(sums[1] - sums[0]).sum())) / moved)
        assert told_apart(self, samples, samples) == (0 if self.memory.offered >= 500 else np.inf)
        asked.append((said, wanted))
        return told_apart(self, samples, coarse)

    monkeypatch.setattr(Ensemble, "told_apart", checked)
    model = SmartClassifier("4kB", precision="auto", hidden=(16,), iterations=5, random_state=0)
    model.partial_fit(X[:800], Y[:800])
    early, late = asked[0], asked[-1]
    assert early[0] == [np.inf] * 3  # it is too early to say
    assert late[0] == pytest.approx(late[1], rel=1e-3)
    assert late[0][0] > late[0][1] > late[0][2] > 0
