from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from copy import deepcopy
from threading import Thread
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from torch.utils.data import DataLoader

from smartcl import ReplayMemory
from smartcl.extend import Selection
from smartcl.saving.saved import StateError
from smartcl.selection.fair_shares import TaskShares
from smartcl.selection.gss_greedy import GSSGreedy
from smartcl.selection.herding import Herding
from smartcl.selection.reservoir import Nothing
from smartcl.selection.trusted import Trusted


def images(n: int, seed: int = 0, dtype: torch.dtype = torch.uint8) -> torch.Tensor:
    """Blobs of few grey levels, each with its number in its first pixels."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 12, (n, 1, 8, 8)) * (rng.random((n, 1, 8, 8)) < 0.3)
    x.reshape(n, -1)[:, 0], x.reshape(n, -1)[:, 1] = np.arange(n) // 100, np.arange(n) % 100
    return torch.from_numpy(x).to(dtype)


def numbers(x: torch.Tensor) -> list[int]:
    flat = x.reshape(len(x), -1).long()
    return (100 * flat[:, 0] + flat[:, 1]).tolist()


def everything(memory: ReplayMemory) -> str:
    """All that a memory is, to compare."""

    def shown(part: Any) -> Any:
        if isinstance(part, dict):
            return {name: shown(entry) for name, entry in part.items()}
        return (str(part.dtype), part.tolist()) if isinstance(part, torch.Tensor) else part

    return str(shown(memory.state_dict()))


def filled(memory: ReplayMemory, n: int = 600, step: int = 50, **more: Any) -> ReplayMemory:
    for first in range(0, n, step):
        index = torch.arange(first, first + step)
        memory.add(images(n)[index], index % 10, **{name: make(index) for name, make in more.items()})
        assert memory.nbytes <= 4000
    return memory


@pytest.mark.parametrize("precision", ["plain", "exact"])
def test_samples_come_back_exactly_with_their_labels_and_columns(precision: str) -> None:
    memory = filled(
        ReplayMemory("4 kB", precision=precision), logits=lambda index: index[:, None] * torch.tensor([0.5, -1.0])
    )
    x, y, logits = memory.sample(10**6, "logits")
    which = torch.tensor(numbers(x))
    assert 50 < len(which) == len(memory) < 600
    assert len(set(which.tolist())) == len(which)
    assert torch.equal(x, images(600)[which])
    assert torch.equal(y, which % 10)
    assert torch.equal(logits, which[:, None] * torch.tensor([0.5, -1.0]))
    assert (y.dtype, logits.dtype) == (torch.int64, torch.float32)


def test_the_default_holds_the_most_of_what_is_exact() -> None:
    held = {precision: len(filled(ReplayMemory("4 kB", precision=precision))) for precision in ("plain", "exact")}
    assert held["exact"] > 1.2 * held["plain"]
    assert len(filled(ReplayMemory("4 kB"))) == held["exact"]


def test_levels_are_coarse_and_hold_more() -> None:
    exact, coarse = filled(ReplayMemory("4 kB")), filled(ReplayMemory("4 kB", precision=3))
    x, _ = coarse.sample(20)
    assert x.dtype == torch.uint8
    assert len(x.unique()) == 3
    assert len(coarse) > 1.2 * len(exact)


def test_auto_asks_the_judge_about_items_as_they_came_and_as_held() -> None:
    seen = []

    def judge(x: torch.Tensor, held: torch.Tensor) -> float:
        seen.append((x, held))
        return 0.0 if len(held.unique()) >= 4 else 99.0

    memory = filled(ReplayMemory("4 kB", precision="auto", judge=judge))
    assert all(x.shape == held.shape and x.shape[1:] == (1, 8, 8) and x.dtype == torch.uint8 for x, held in seen)
    assert len(memory.sample(20)[0].unique()) == 4


@pytest.mark.parametrize(
    "x",
    [
        torch.rand(40, 3, 4),
        np.random.default_rng(0).integers(-9, 9, (40, 7)),
        sparse.random_array((40, 30), rng=0).astype("f4"),
    ],
    ids=["tensor", "numpy", "csr"],
)
def test_other_kinds_of_items(x: Any) -> None:
    rows = sparse.csr_array(x) if sparse.issparse(x) else x
    memory = ReplayMemory("100 kB")
    memory.add(rows, np.arange(40))
    found, y = memory.sample(40)
    dense = found.toarray() if sparse.issparse(found) else found.numpy()
    expected = rows.toarray() if sparse.issparse(rows) else np.asarray(rows)
    assert np.array_equal(dense, expected[y.numpy()])
    assert dense.dtype == expected.dtype
    item, label = memory.dataset()[3]
    assert np.array_equal(item.numpy(), expected[int(label)])


def test_targets_may_be_anything() -> None:
    memory = ReplayMemory("10 kB")
    y = torch.randn(30, 2, dtype=torch.float64)
    memory.add(torch.arange(30)[:, None], y)
    x, found = memory.sample(30)
    assert torch.equal(found, y[x[:, 0]])
    assert torch.equal(memory.targets, memory.take(np.arange(30))[1])
    signs = ReplayMemory("10 kB")
    signs.add(torch.arange(4)[:, None], [-1, 1, 1, -1])
    assert sorted(signs.sample(4)[1].tolist()) == [-1, -1, 1, 1]


def test_a_reservoir_is_uniform_over_the_stream() -> None:
    counts = np.zeros(6)
    for seed in range(30):
        x, _ = filled(ReplayMemory("4 kB", seed=seed, precision="plain"), step=150).sample(10**6)
        counts += np.bincount(np.array(numbers(x)) // 100, minlength=6)
    expected = counts.sum() / 6
    assert ((counts - expected) ** 2 / expected).sum() < 15.1  # chi-square, 5 degrees of freedom, 1%


def test_class_balanced() -> None:
    memory = ReplayMemory("2 kB", class_balanced=True)
    y = (torch.arange(600) % 20 == 0).long()
    for first in range(0, 600, 50):
        memory.add(images(600)[first : first + 50], y[first : first + 50])
    assert (
        np.bincount(memory.targets.numpy()).tolist() == [len(memory) - 30, 30]
        or abs(float(memory.targets.float().mean()) - 0.5) < 0.05
    )


def test_the_same_seed_draws_the_same() -> None:
    one, same, other = (filled(ReplayMemory("4 kB", seed=seed)) for seed in (3, 3, 4))
    assert numbers(one.sample(20)[0]) == numbers(same.sample(20)[0])
    assert numbers(one.sample(20)[0]) != numbers(other.sample(20)[0])


def test_a_loader_reads_the_samples_of_the_moment() -> None:
    memory = filled(ReplayMemory("4 kB"), seen=lambda index: index)
    data = memory.dataset("seen")
    before = numbers(torch.stack([x for x, _, _ in data]))
    memory.add(images(600), torch.zeros(600, dtype=torch.long), seen=torch.arange(600))
    read = [numbers(x) for x, y, seen in DataLoader(data, batch_size=16) if torch.equal(torch.tensor(numbers(x)), seen)]
    assert [number for part in read for number in part] == before
    assert len(pickle.loads(pickle.dumps(data))) == len(before)
    assert numbers(data[-1][0][None]) == before[-1:]


def test_dead_features_make_room_once_it_is_short() -> None:
    alive = filled(ReplayMemory("4 kB", precision="plain"))
    memory = ReplayMemory("4 kB", precision="plain")
    memory.add(images(600)[:50], torch.zeros(50, dtype=torch.long))
    dead = torch.zeros(1, 8, 8, dtype=torch.bool)
    dead[:, 4:] = True
    memory.forget_features(dead)
    filled(memory)
    assert len(memory) > 1.3 * len(alive)
    x, _ = memory.sample(30)
    assert torch.equal(x, images(600)[numbers(x)] * ~dead)
    memory.forget_features(torch.tensor(False))
    memory.add(images(600)[:50], torch.zeros(50, dtype=torch.long))
    assert x.shape[1:] == (1, 8, 8)
    with pytest.raises(ValueError, match=r"mask must be bools of the shape \(1, 8, 8\), got float32 of shape \(8, 8\)"):
        memory.forget_features(torch.zeros(8, 8))
    with pytest.raises(ValueError, match=r"mask must be bools of the shape \(1, 8, 8\), got bool of shape \(7,\)"):
        memory.forget_features(np.zeros(7, dtype=bool))


def test_a_state_saved_by_torch_goes_on_as_if_nothing_had_been() -> None:
    memory = filled(ReplayMemory("4 kB", seed=5), logits=lambda index: index.float())
    memory.forget_features(torch.zeros(1, 8, 8, dtype=torch.bool))
    file = io.BytesIO()
    torch.save(memory.state_dict(), file)
    file.seek(0)
    loaded = ReplayMemory("4 kB")
    loaded.load_state_dict(torch.load(file, weights_only=True))
    copies = [loaded, deepcopy(memory), pickle.loads(pickle.dumps(memory))]
    more = images(300, seed=1), torch.zeros(300, dtype=torch.long)
    memory.add(*more, logits=torch.zeros(300))
    drawn = memory.sample(50, "logits")
    for other in copies:
        other.add(*more, logits=torch.zeros(300))
        assert all(torch.equal(a, b) for a, b in zip(other.sample(50, "logits"), drawn, strict=True))
        assert repr(other) == repr(memory)
    fresh = ReplayMemory("4 kB")
    fresh.load_state_dict(ReplayMemory("4 kB", seed=1).state_dict())
    assert len(fresh) == 0


@pytest.mark.parametrize(
    "damage",
    [
        lambda state: state.pop("rng"),
        lambda state: state["held"]["form"].update(dtype="complex64"),
        lambda state: state["held"]["form"].update(shape=[1, 8]),
        lambda state: state["held"].update(alive=torch.zeros(3, dtype=torch.bool)),
        lambda state: state["held"]["memory"]["store"].update(labels=torch.zeros(3)),
        lambda state: state["held"].pop("memory"),
    ],
)
def test_a_damaged_state_changes_nothing(damage: Callable[[Any], None]) -> None:
    memory = filled(ReplayMemory("4 kB"))
    state = memory.state_dict()
    damage(state)
    before = repr(memory)
    with pytest.raises(StateError):
        memory.load_state_dict(state)
    assert repr(memory) == before
    with pytest.raises(StateError, match="must fit 1000 bytes"):
        ReplayMemory(1000).load_state_dict(filled(ReplayMemory("4 kB")).state_dict())


X, Y = images(4), torch.zeros(4, dtype=torch.long)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda memory: memory.add(X.float(), Y, logits=Y),
            r"x must be uint8 of shape \(1, 8, 8\), as the items before; got float32",
        ),
        (lambda memory: memory.add(X[:, 0], Y, logits=Y), r"got uint8 of shape \(8, 8\)"),
        (lambda memory: memory.add(X, Y[:3], logits=Y), "logits must have one entry for each of 3 items, got 4"),
        (lambda memory: memory.add(X, Y[:3], logits=Y[:3]), "one label per row"),
        (lambda memory: memory.add(X, Y - 1, logits=Y), "y must be class numbers from 0 on, as before"),
        (lambda memory: memory.add(X, Y), r"there must be logits \(int64\), as before; got class numbers only"),
        (lambda memory: memory.add(X, Y, logits=Y.float()), r"logits \(int64\), as before; got logits \(float32\)"),
        (lambda memory: memory.add(X, Y, logits=Y / 0), "logits must be numbers: it contains NaN"),
        (lambda memory: memory.add(X, Y, logits=Y, role=Y), "a column cannot be called role"),
        (lambda memory: memory.add(X, "abcd", logits=Y), "y must be numbers, one entry for each item; got <U4"),
        (lambda memory: memory.sample(4, "score"), "the memory has no column 'score': it has logits"),
        (lambda memory: memory.sample(-1), "count must be at least 0"),
        (lambda memory: memory.take([99]), "positions must be from 0 to 3"),
    ],
)
def test_a_wrong_call_says_so_and_changes_nothing(call: Callable[[ReplayMemory], Any], message: str) -> None:
    memory = ReplayMemory("4 kB")
    memory.add(X, Y, logits=Y)
    before = everything(memory)
    with pytest.raises((ValueError, IndexError), match=message):
        call(memory)
    assert everything(memory) == before


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ReplayMemory("lots"), "memory must be a positive int of bytes"),
        (lambda: ReplayMemory(100, precision="fine"), "precision must be plain, exact, auto or a whole number"),
        (lambda: ReplayMemory(100, precision="auto"), "precision 'auto' and a judge go together"),
        (lambda: ReplayMemory(100, judge=lambda x, held: 0.0), "precision 'auto' and a judge go together"),
        (lambda: ReplayMemory(100, class_balanced=True, selector=Nothing()), "give one of the two"),
        (
            lambda: ReplayMemory(100, selector=GSSGreedy()),
            "GSSGreedy asks a network about samples, a memory alone has none",
        ),
        (lambda: ReplayMemory(100, selector=Herding()), "Herding asks a network"),
        (lambda: ReplayMemory(100, selector=Trusted()), "Trusted asks a network"),
        (lambda: ReplayMemory(100).sample(3), "the memory is empty: nothing has been added yet"),
        (lambda: ReplayMemory(3).add(X, Y), "memory must hold at least one sample"),
        (lambda: ReplayMemory("1 kB", selector=TaskShares()).add(X, Y), "TaskShares needs the column 'task'"),
    ],
)
def test_what_a_memory_cannot_be(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


class FirstCome:
    """A selector of one's own: who is there stays."""

    scored = False

    def select(self, pool: Any, room: int, rng: np.random.Generator) -> Selection:
        keep = np.flatnonzero(np.cumsum(pool.sizes) <= room)
        return Selection(keep, pool.scores[keep])


def test_a_selector_of_ones_own_and_shares_of_tasks() -> None:
    x, _ = filled(ReplayMemory("4 kB", selector=FirstCome(), precision="plain")).sample(10**6)
    assert sorted(numbers(x))[:100] == list(range(100))
    tasks = filled(ReplayMemory("4 kB", selector=TaskShares()), task=lambda index: index // 200).sample(10**6, "task")[
        2
    ]
    assert np.ptp(np.bincount(tasks.numpy())) <= 0.1 * len(tasks)


def test_an_interrupted_add_changes_nothing() -> None:
    class Interrupted(FirstCome):
        def select(self, pool: Any, room: int, rng: np.random.Generator) -> Selection:
            rng.random()
            if len(pool) > 4:
                raise KeyboardInterrupt
            return super().select(pool, room, rng)

    memory = ReplayMemory("4 kB", selector=Interrupted())
    memory.add(X, Y)
    before = everything(memory)
    with pytest.raises(KeyboardInterrupt):
        memory.add(X, Y)
    assert everything(memory) == before


def test_threads_share_a_memory() -> None:
    memory = ReplayMemory("4 kB")
    memory.add(X, Y)
    drawn: list[torch.Tensor] = []

    def offer(seed: int) -> None:
        for part in images(200, seed).split(20):
            memory.add(part, torch.full((20,), seed))
            drawn.append(memory.sample(8)[0])

    threads = [Thread(target=offer, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(drawn) == 30
    assert memory._now.held is not None
    assert memory._now.held.memory.offered == 604


@settings(max_examples=25)
@given(
    budget=st.integers(60, 3000),
    precision=st.sampled_from(["plain", "exact", 2, 5]),
    balanced=st.booleans(),
    steps=st.lists(st.tuples(st.integers(0, 40), st.sampled_from([0.0, 0.2, 1.0]), st.booleans()), max_size=8),
)
def test_never_more_bytes_than_allowed(budget: int, precision: str | int, balanced: bool, steps: list[Any]) -> None:
    memory = ReplayMemory(budget, precision=precision, class_balanced=balanced)
    rng = np.random.default_rng(budget)
    memory.add(np.zeros((1, 4, 5), dtype=np.float32), [0], seen=[0.0])
    for n, density, forget in steps:
        x = (rng.normal(size=(n, 4, 5)) * (rng.random((n, 4, 5)) < density)).astype(np.float32)
        memory.add(x, rng.integers(0, 300, n), seen=rng.random(n))
        assert memory.nbytes <= budget
        if forget:
            memory.forget_features(rng.random((4, 5)) < 0.5)
            assert memory.nbytes <= budget
        found, y = memory.sample(5)
        assert len(found) == len(y) == min(5, len(memory))
