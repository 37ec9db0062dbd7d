"""Calls of many batches: wholly or not at all, and what others see meanwhile."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from collections.abc import Callable
from threading import Event, Thread
from typing import Any

import numpy as np
import pytest
import torch

from helpers import SMALL, assert_same_state, small_batches, small_spec
from smartcl.data.batch import Batch
from smartcl.estimator.encoding import vectors
from smartcl.learners.ensemble.ensemble import Ensemble
from smartcl.learners.learner import Learner
from smartcl.learners.methods import METHODS, build_learner

KINDS = {"dense": (False, False), "sparse": (True, False), "wide": (True, True)}


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether rows are sparse; the widest ones learn in a row table."""
    sparse_rows, wide = KINDS[request.param]
    if wide:
        monkeypatch.setattr("smartcl.network.mlp.ROW_TABLE_WEIGHTS", 0)
    return sparse_rows


def learner_of(method: str, sparse_rows: bool, batches: list[Batch]) -> Learner:
    known = METHODS[method].parameters
    learner = build_learner(
        method, small_spec(sparse_rows), 900, **{name: value for name, value in SMALL.items() if name in known}
    )
    for batch in batches:
        learner.observe(batch)
    return learner


@pytest.mark.parametrize("method", METHODS)
def test_a_call_of_many_batches_is_undone_as_a_whole(method: str, kind: bool) -> None:
    """Interrupted after two of its batches and new classes, it leaves no trace, and learning goes on as without it."""
    batches = small_batches(8, sparse_rows=kind)
    learner, twin = (learner_of(method, kind, batches[:2]) for _ in range(2))
    before = learner.state_dict()
    with pytest.raises(KeyboardInterrupt):
        learn_and_be_interrupted(learner, batches[2:4])
    assert learner.spec.n_classes == 2
    assert_same_state(learner.state_dict(), before)
    for batch in batches[4:]:
        learner.observe(batch)
        twin.observe(batch)
    assert_same_state(learner.state_dict(), twin.state_dict())


def learn_and_be_interrupted(learner: Learner, batches: list[Batch]) -> None:
    with learner.all_or_nothing():
        learner.add_classes(4)
        for label, batch in enumerate(batches):
            learner.observe(Batch(batch.x, batch.y + label, batch.task))
        raise KeyboardInterrupt


@pytest.mark.parametrize("method", ["adaptive", "smart"])
def test_a_long_call_holds_no_more_than_its_beginning_and_its_last_batch(method: str) -> None:
    batches = small_batches(6)
    learner, left = learner_of(method, False, batches[:1]), []
    with learner.all_or_nothing():
        for batch in batches[1:]:
            learner.observe(batch)
            left.append([weakref.ref(part) for part in parts_of(learner)])
        gc.collect()
        assert [all(part() is None for part in parts) for parts in left] == [True, True, True, True, False]
        assert all(part() is not None for part in left[-1])


def parts_of(learner: Learner | Ensemble) -> list[object]:
    """What every batch replaces as a whole; a network of the ensemble may rest."""
    if isinstance(learner, Ensemble):
        ridge = next(member for member in learner.parts if member.name == "ridge")
        return [learner.memory, learner.newest, learner.evidence, ridge]
    return [learner.memory, *learner.models]


@pytest.mark.parametrize("method", METHODS)
def test_many_batches_in_one_call_are_many_calls(method: str, kind: bool) -> None:
    batches = small_batches(sparse_rows=kind)
    one, many = (learner_of(method, kind, batches[:1]) for _ in range(2))
    with one.all_or_nothing():
        for batch in batches[1:]:
            one.observe(batch)
    for batch in batches[1:]:
        many.observe(batch)
    assert_same_state(one.state_dict(), many.state_dict())


@pytest.mark.parametrize("method", METHODS)
def test_copies_go_on_alike_and_apart(method: str, kind: bool) -> None:
    batches = small_batches(sparse_rows=kind)
    learner = learner_of(method, kind, batches[:3])
    before, twin = learner.state_dict(), pickle.loads(pickle.dumps(copy.deepcopy(learner)))
    assert_same_state(twin.state_dict(), before)
    twin.observe(batches[3])
    assert_same_state(learner.state_dict(), before)
    learner.observe(batches[3])
    assert_same_state(twin.state_dict(), learner.state_dict())


@pytest.mark.parametrize("method", ["smart", "er", "icarl", "gdumb"])
def test_another_thread_sees_the_last_finished_batch(method: str, kind: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    batches = small_batches(sparse_rows=kind)
    learner, twin = (learner_of(method, kind, batches[:3]) for _ in range(2))
    x = batches[0].x
    expected = [twin.predict_proba(x)]
    twin.observe(batches[3])
    expected.append(twin.predict_proba(x))
    middle, go_on = Event(), Event()
    settle = type(learner.model).settle

    def pause(model: object, rng: np.random.Generator) -> None:
        settle(model, rng)
        middle.set()
        go_on.wait(10)

    monkeypatch.setattr(type(learner.model), "settle", pause)
    thread = Thread(target=learner.observe, args=(batches[3],))
    thread.start()
    assert middle.wait(10)
    during = learner.predict_proba(x)
    go_on.set()
    thread.join()
    assert torch.equal(during, expected[0])
    assert torch.equal(learner.predict_proba(x), expected[1])
    assert not torch.equal(*expected)


@pytest.mark.parametrize("method", METHODS)
def test_what_would_not_be_finite_does_not_count(method: str, kind: bool) -> None:
    """Either the batch is refused and nothing has changed, or the state is finite: and it predicts numbers."""
    batches = small_batches(sparse_rows=kind)
    learner = learner_of(method, kind, batches[:2])
    before = learner.state_dict()
    batch = batches[2]
    x = batch.x.copy() if kind else batch.x.clone()
    x[0, 0] = 3e38
    try:
        learner.observe(Batch(x, batch.y, batch.task))
    except ValueError:
        assert_same_state(learner.state_dict(), before)
    for model in learner.models:
        assert all(torch.isfinite(value).all() for value in (*model.moved(), *model.noted()))
    if isinstance(learner, Ensemble):
        assert_finite(learner.state_dict())
    learner.observe(batches[3])
    assert torch.isfinite(learner.predict_proba(x)).all()
    assert torch.isfinite(learner.predict_proba(batches[4].x)).all()


def assert_finite(state: Any, where: str = "state") -> None:
    """Fail with the path of the first value that is not finite."""
    if isinstance(state, dict):
        for name, value in state.items():
            assert_finite(value, f"{where}.{name}")
    elif isinstance(state, (list, tuple)):
        for number, value in enumerate(state):
            assert_finite(value, f"{where}[{number}]")
    elif isinstance(state, (float, np.ndarray, torch.Tensor)):
        assert np.isfinite(np.asarray(state)).all(), where


CALLS: dict[str, Callable[[Learner, Batch], object]] = {
    "observe": lambda learner, batch: learner.observe(batch),
    "predict_proba": lambda learner, batch: learner.predict_proba(batch.x),
    "build_learner": lambda learner, batch: learner_of("smart", False, []),
    "encoder": lambda learner, batch: vectors(lambda rows: rows, np.eye(2)),
}


@pytest.mark.parametrize("call", CALLS)
def test_an_interrupt_while_torch_switches_gradients_on_again_leaves_them_on(
    call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = small_batches(1)[0]
    learner = learner_of("smart", False, [batch])

    def struck(self: torch.no_grad, *error: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(torch.no_grad, "__exit__", struck)
        with pytest.raises(KeyboardInterrupt):
            CALLS[call](learner, batch)
    recorded = torch.is_grad_enabled()
    torch.set_grad_enabled(True)
    assert recorded
